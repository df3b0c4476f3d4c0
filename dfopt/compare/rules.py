"""What holds for all windows of a comparison, besides their dispatches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dfopt.compare.demand import WindowedRuns
from dfopt.compare.problem import EMPTY, FREE


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


def first_states(windows: WindowedRuns, rules: WindowRules) -> list[int]:
    """Return what the caches hold when the first window begins."""
    unknown = windows.freed.get(0, ())
    return [
        EMPTY if rules.begins_empty and cpu not in unknown else FREE for cpu in range(windows.cpus)
    ]


def bounding_states(windows: WindowedRuns, rules: WindowRules, number: int) -> list[int]:
    """Return what the caches hold where a window is bounded, apart from the one before."""
    return [FREE] * windows.cpus if number else first_states(windows, rules)
