"""Whether the rows of a trace can be true: one thing at a time on every CPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.trace.events import Integers, Numbers
from dfopt.trace.trace import Gaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Disorder:
    """A row that cannot be true beside the others.

    Parameters
    ----------
    row
        The number of the dispatch, or of the gap.
    is_gap
        Which of the two it is.
    problem
        What is wrong, and what to do about it.
    """

    row: int
    is_gap: bool = False
    problem: str


def first_disorder(cpu: Numbers, start: Integers, end: Integers, gaps: Gaps) -> Disorder | None:
    """Return the first dispatch or gap that overlaps others of its CPU.

    Parameters
    ----------
    cpu, start, end
        The dispatches, ordered by start.
    gaps
        Stretches in which there must be none.
    """
    by_cpu = np.argsort(cpu, kind="stable")
    same_cpu = cpu[by_cpu[1:]] == cpu[by_cpu[:-1]]
    early = start[by_cpu[1:]] < end[by_cpu[:-1]]
    overlaps = np.flatnonzero(same_cpu & early)
    if len(overlaps):
        first = overlaps[np.argmin(by_cpu[1:][overlaps])]
        before, row = int(by_cpu[first]), int(by_cpu[first + 1])
        return Disorder(
            row=row,
            problem=f"starts at {start[row]} on CPU {cpu[row]}, where another dispatch runs until "
            f"{end[before]}; a CPU runs one at a time",
        )
    for number in np.unique(gaps.cpu):
        mine = by_cpu[slice(*np.searchsorted(cpu[by_cpu], [number, number + 1]))]
        of_cpu = np.flatnonzero(gaps.cpu == number)
        begun = np.searchsorted(start[mine], gaps.end[of_cpu], side="left")
        over = np.searchsorted(end[mine], gaps.start[of_cpu], side="right")
        overlaps = np.flatnonzero(begun > over)
        if len(overlaps):
            row = int(of_cpu[overlaps[0]])
            return Disorder(
                row=row,
                is_gap=True,
                problem=f"a dispatch runs on CPU {number} between {gaps.start[row]} and "
                f"{gaps.end[row]}, about which nothing is known; cut the gap shorter",
            )
    return None
