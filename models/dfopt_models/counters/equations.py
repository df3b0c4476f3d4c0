"""The equations of the model of counters, as plain arithmetic for numbers and for symbols."""

from __future__ import annotations

from typing import Any


def penalty_after(*, best_dispatch: Any, best_ipc: Any, ipc: Any) -> Any:
    """Return the time that a dispatch loses because it runs at ``ipc`` and not at ``best_ipc``."""
    return best_dispatch * (best_ipc / ipc - 1)


def idle_share(*, cpus: Any, time_share: Any, saving: Any) -> Any:
    """Return the share of time for which a CPU is idle that has a thread type of its own."""
    return 1 - cpus * time_share * (1 - saving)


def wasted_share(*, harmed_share: Any, ipc: Any) -> Any:
    """Return the time that a type loses after a harmful one, as a share of its time.

    ``ipc`` is relative to the mean of the type.
    """
    return harmed_share * (1 / ipc - 1)
