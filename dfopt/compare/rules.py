"""What holds for all windows of a comparison, besides their dispatches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRules:
    """How windows are scheduled.

    Parameters
    ----------
    capacity
        Most dispatches that a CPU may run in a window, as in
        :class:`~dfopt.compare.model.CostModel`.
    by_worst
        Whether the CPU that pays most in a window counts, instead of all together.
    begins_empty
        Whether the first window begins with empty caches.
    ends_written
        Whether after the last window everything is written back.
    """

    capacity: int | Literal["observed", "balanced", "unlimited"]
    by_worst: bool
    begins_empty: bool
    ends_written: bool
