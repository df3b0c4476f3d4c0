"""How a section of a schedule is written down for the compiled beam search.

A *section* is some dispatches that follow each other in the order of their starts. What runs before
and after them keeps its CPU and its time. An *element* is a dispatch of the section, the dispatch
of a CPU before or after it, or a block that evicts. Every element has a row in one table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.int64]
Factors = NDArray[np.float64]

NOTHING = -1
"""Stands for an element where there is none."""

UNKNOWN = -2
"""Stands for the last element of a CPU after a cut."""

FAR = 2**60
"""A time after all others; its negative is before them."""

# Columns of Section.rows: its fragment, and its costs as in SwitchCosts; then, for dispatches
# only: its length; when it can start at the earliest, whatever comes before it; when its wait
# begins at the earliest; its latest start; the dispatches before and after it of its task; its
# waker and the offset; a random number; its start and CPU in the guide; when the dispatch after it
# is woken, and when that one starts if it lies outside the section (or else NOTHING).
FRAGMENT, ENTRY, EXIT, ALWAYS, FIRST, LAST = range(6)
LENGTH, LOW, SINCE, LATEST, PREVIOUS, NEXT, WAKER, OFFSET, CODE = range(6, 15)
GUIDE_START, GUIDE_CPU, NEXT_SINCE, NEXT_START = range(15, 19)
COLUMNS = 19

# Columns of Section.fixed, what stands between dispatches: its start and end, what it is, and its
# element if it evicts.
START, END, ROLE, ELEMENT = range(4)

# Values of ROLE: a block that disturbs nothing, a block that evicts, a cut.
PLAIN, EVICTS, CUT = range(3)

# Columns of Section.cpus: the first and the last row of Section.fixed that may lie ahead; when the
# CPU is free; its elements before and after the section; the last row before the element after it.
FIXED_FIRST, FIXED_END, FREE_FROM, ELEMENT_BEFORE, ELEMENT_AFTER, PASSED_AT_END = range(6)

# Columns of BeamStates.cpus: when a CPU is free, its last element, the rows of Section.fixed that
# have been passed on it, and the first dispatch of the guide that is left.
FREE, BEFORE, PASSED, GUIDED = range(4)

# Columns of BeamStates.counters: the cost so far; the latest start so far; a hash of what has been
# placed; the number of dispatches that cannot start as early as in the guide; whether the guide can
# be followed from here on; the time taken by dispatches and passed blocks; the sum of all starts,
# less the times at which waits begin; the number of long waits.
COST, NOW, HASH, UNLIKE, SAFE, BUSY, STARTS, LONG_WAITS = range(8)
COUNTERS = 8

# Entries of factors: what a fragment that waits and that no CPU holds counts; what a dispatch
# counts that will be late; a unit of idle time; for which time a fragment may still wait so that it
# counts half; a unit of waiting; a long wait.
WAITING, LATE, IDLE, PATIENCE, WAIT_PRICE, LONG_PRICE = range(6)

# Entries of sizes: numbers of partial schedules that are kept, and of safe ones beside them;
# of dispatches not ready yet that may be waited for; of urgent ones that are tried.
WIDTH, RESERVE, AHEAD, URGENT = range(4)


class Section(NamedTuple):
    """A section with ``k`` dispatches of ``f`` fragments on ``m`` CPUs.

    Parameters
    ----------
    rows
        Shape (elements, COLUMNS): the dispatches in the order of ``LOW``, then the others.
    low
        Shape (k,): their times ``LOW``.
    urgent
        Shape (2, k): the dispatches by fragment, then latest start; and by latest start alone.
    fragment_first
        Shape (f + 1,): where each fragment begins in the first row of ``urgent``.
    guided
        Shape (k,): the dispatches by CPU and start in the guide, a schedule within the limit.
    guided_first
        Shape (m + 1,): where each CPU begins there.
    woken, woken_first
        Which dispatches each one wakes: shapes (their number,) and (k + 1,).
    fixed
        Shape (b, 4): what stands between dispatches, by CPU and start.
    cpus
        Shape (m, 6).
    matrix
        Costs between fragments, or of shape (0, 0).
    weights
        Shape (f,): the mean entry cost of each fragment.
    limits
        The wait above which it is long; at most this sum of starts, and number of long waits.
    """

    rows: Table
    low: Table
    urgent: Table
    fragment_first: Table
    guided: Table
    guided_first: Table
    woken: Table
    woken_first: Table
    fixed: Table
    cpus: Table
    matrix: Table
    weights: Factors
    limits: Table


class BeamStates(NamedTuple):
    """Partial schedules: those with the same number of dispatches, and those with one more.

    Parameters
    ----------
    starts
        Shape (2, n, k): when each dispatch starts, or ``FAR``.
    cpus
        Shape (2, n, m, 4).
    counters
        Shape (2, n, COUNTERS).
    pointers
        Shape (2, n, f + 1): before this place in ``Section.urgent`` everything has been placed.
    steps
        Shape (k, n, 3): for each dispatch that was placed: the partial schedule to which it was
        added, its row, and its CPU.
    """

    starts: Table
    cpus: Table
    counters: Table
    pointers: Table
    steps: Table
