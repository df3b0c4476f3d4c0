"""Stretches of a trace whose bounds add up.

A dispatch counts in a stretch only if it certainly starts within it, so the fewer start windows
cross the ends of the stretches, the better is the bound.
"""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.bound.start_windows import StartWindows
from dfopt.trace.events import Integers


def stretch_ends(windows: StartWindows, size: int) -> Integers:
    """Return increasing times; each stretch is from one of them to just before the next one.

    Parameters
    ----------
    windows
        Dispatches.
    size
        A stretch has about this number of dispatches.
    """
    begin, end = np.sort(windows.seen_from), np.sort(windows.last)
    ends = [begin[:1], end[-1:] + 1]
    count = len(begin) // size
    # A window is lost if it began before an end and is not over then: the best end of all near
    # the place that would make equal stretches loses the fewest.
    for number in range(1, count):
        middle = number * len(begin) // count
        near = np.unique(begin[middle - size // 4 : middle + size // 4 + 1])
        lost = np.searchsorted(begin, near) - np.searchsorted(end, near)
        ends.append(near[[lost.argmin()]])
    return np.unique(np.concatenate(ends))
