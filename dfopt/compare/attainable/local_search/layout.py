"""How a stretch of a schedule is written down for the compiled search.

An *element* is a dispatch of the stretch, or something that keeps its time: a block that evicts,
a cut, a dispatch outside the stretch on which one inside depends, and the two ends of each CPU.
Every element has a row in one table, since compiled code passes on a few arrays much faster than
forty. The elements of a CPU are linked in the order in which they run. Blocks that do not evict
are no elements: they stand in a calendar, and a dispatch starts where it fits between them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.int64]

NOBODY = -1
"""Stands for an element where there is none."""

NEVER = 2**62
"""Later than every time; its negative is earlier."""

# Columns of Stretch.rows that never change: its length; when it may start, and when its wait
# begins (both include what elements outside the stretch demand); its latest start; the elements
# before and after it of the same task; its waker, the offset, the first element that it wakes, and
# the next one that its own waker wakes; its fragment, and its costs as in SwitchCosts; its role;
# its place among the dispatches of its fragment.
LENGTH, READY, SINCE, LATEST, PREVIOUS, NEXT, WAKER, OFFSET, WOKEN, SIBLING = range(10)
FRAGMENT, ENTRY, EXIT, ALWAYS, FIRST, LAST, ROLE, RANK = range(10, 18)
# Columns that the search changes: CPU, start and end; by how much it should start earlier; the
# elements before and after it on its CPU; whether its start has to be worked out anew; its places
# in the lists of late elements and of the first dispatches of visits, or NOBODY.
CPU, START, END, LATE, BEFORE, AFTER, QUEUED, LATE_PLACE, OPENS = range(18, 27)
COLUMNS = 27
LINKS = (PREVIOUS, NEXT, WAKER, WOKEN, SIBLING, BEFORE, AFTER, LATE_PLACE, OPENS)

# Values of ROLE: a dispatch that may move; an element that keeps its time; a cut; the ends of a
# CPU at the beginning and the end of the trace.
MOVES, STAYS, CUT, HEAD, TAIL = range(5)

# Entries of Stretch.counters: random bits; the cost of all meetings in the stretch; by how much
# elements are late, all together, and how many are; the sum of all waits and the number of long
# ones; the number of first dispatches of visits; the lengths of heap and log; the number of
# starts that were worked out.
RANDOM, COST, LATENESS, LATE_COUNT, WAITS, LONG_WAITS, OPENING, HEAPED, LOGGED, UPDATES = range(10)
COUNTERS = 10

# Rows of Stretch.lists: the elements whose starts have to be worked out anew, with their keys (a
# heap); elements whose times have changed, with their starts, ends and lateness before; late
# elements; the first dispatches of visits; the dispatches by fragment.
HEAP, KEYS, LOG, LOG_STARTS, LOG_ENDS, LOG_LATE, LATES, OPENERS, RANKED = range(9)
LISTS = 9


class Stretch(NamedTuple):
    """A stretch of a schedule, with ``k`` dispatches and ``e`` elements on ``m`` CPUs.

    Parameters
    ----------
    rows
        Shape (e, COLUMNS): the dispatches in the order of their recorded starts, then the others.
    lists
        Shape (LISTS, e), or longer; the last entry of ``RANKED`` is the number k.
    counters
        Shape (COUNTERS,).
    block_start, block_end
        The blocks, by CPU and start; each CPU's end with one that starts and ends ``NEVER``.
    calendar
        Shape (m, cells): the first block that ends after the cell has begun.
    cells
        When the first cell begins, and the length of a cell.
    matrix
        Costs between fragments, or of shape (0, 0).
    bounds
        At most this sum of waits; a wait above this is long; at most this number of long waits.
    """

    rows: Table
    lists: Table
    counters: Table
    block_start: Table
    block_end: Table
    calendar: Table
    cells: Table
    matrix: Table
    bounds: Table
