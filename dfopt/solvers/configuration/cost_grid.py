"""The cost grid: all that the content of one CPU can cost, as the rows of pricing's tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

SUMS_AT_ONCE = 2**18
"""At most about 2**18 sums are sorted in one call, within some hundredths of a second."""


@dataclass(frozen=True, slots=True)
class CostGrid:
    """The unit of costs, and the costs that contents can have.

    Parameters
    ----------
    unit
        The unit of the rows; all costs are rounded down to it.
    costs
        All that a content can cost, apart from what starting costs, sorted.
    rows
        For each fragment all that its tasks but the opener can cost, sorted.
    is_exact
        Whether nothing is rounded.
    """

    unit: int
    costs: Integers
    rows: tuple[Integers, ...]
    is_exact: bool


def sums_of_both(
    sums: Integers, steps: Integers, limit: int, most: int, check: Callable[[], None]
) -> Integers | None:
    """Return all sums of one of each, at most ``limit``; None if there are more than ``most``.

    A part of the steps at a time, so that no array is large, and ``check`` is called often.
    """
    found = np.zeros(0, np.int64)
    part = max(1, SUMS_AT_ONCE // len(sums))
    for begin in range(0, len(steps), part):
        check()
        both = sums[:, None] + steps[begin : begin + part]
        found = np.unique(np.concatenate([found, both[both <= limit]]))
        if len(found) > most:
            return None
    return found
