"""An online rule, replayed on the recording: change to another fragment with patience."""

from __future__ import annotations

import math

import numpy as np

from dfopt.checks import LARGEST_TOTAL, check_integer
from dfopt.compare.attainable.bound.start_windows import before_effects, causes_of
from dfopt.compare.attainable.trace_rows import rows_of_dispatches
from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.errors import InstanceError
from dfopt.native.library import rows_of
from dfopt.native.trace import CUT_TIME, NEVER, patient_placements
from dfopt.trace.events import Flags, Integers

HASTES, MORE_HASTE = 4, 4
"""Dispatches hurry at 4 times at most, each of them 4 times as early as the one before."""

REPLAYS = 3
"""At most 3 replays are made for each of these; each reserves more places than the one before."""

LADDER = (1, 3, 10, 30, 100, 300, 1000)
"""The patience of each replay of a curve, as multiples of the least one."""

SHORT_LADDER = (10, 100)
"""The same for a long trace."""

LONG_TRACE = 200_000
"""Dispatches from which on a trace is a long one."""


def usual_patiences(dispatches: Dispatches) -> list[int]:
    """Return values of the patience that show what it is worth.

    These are 0, and steps from about a tenth of the mean length of a dispatch to a hundred times
    that length, as far as they are shorter than the trace; few for a long trace.
    """
    if not len(dispatches):
        return [0]
    span = int(dispatches.end.max() - dispatches.start.min())
    tenth = max(1.0, float(dispatches.length.mean()) / 10)
    least = 10 ** math.ceil(math.log10(tenth))
    ladder = SHORT_LADDER if len(dispatches) >= LONG_TRACE else LADDER
    return [0, *(least * step for step in ladder if least * step < span)]


def run_patiently(dispatches: Dispatches, patience: int) -> Dispatches:
    """Return the schedule of a rule that knows no future: affinity first, others with patience.

    Whenever a CPU is idle, the rule goes through these lines until none applies:

    1. A CPU takes the dispatch of the fragment that it holds that has waited longest. If several
       CPUs hold the fragment, the one does that has run last.
    2. A CPU that holds nothing takes the dispatch that has waited longest of all.
    3. A dispatch that has waited for ``patience`` is taken, the longest waiting first, by the CPU
       that has not run for longest; of several, by that of the lowest number.

    A scheduler can follow it: it looks at what is ready and at what CPUs hold, at nothing else.
    With a patience of 0 no CPU is idle while a dispatch is ready that it could run. A dispatch of
    a fragment that no CPU holds is never left waiting for much longer than ``patience`` if a CPU
    is idle; so a very long patience means that CPUs rest for that time at each change.

    A dispatch is ready as the recording says, once its task's dispatch before it has ended, and
    once its waker has run for as long as it had when it woke it. In two respects the replay knows
    more than a scheduler, because dispatches keep their recorded lengths and are not cut:

    - A dispatch begins only where it ends before the next block of its CPU begins. A scheduler
      would let the block preempt it.
    - Where something that keeps its time waits for a dispatch, this one must not be late. It is
      urgent when its latest start comes as near as the longest dispatch is long, for which it may
      have to wait: then it goes before all others, to any idle CPU. If it is late all the same, the
      trace is replayed with its recorded place reserved for it, and for those before it that
      started later than recorded; it may run earlier, and gives the place up then. If that does not
      help, urgent ones hurry earlier; in the end all have their places reserved that anything waits
      for. So the schedule is always a possible one, since all recorded places together are one. A
      scheduler would let what waits begin later.

    Parameters
    ----------
    dispatches
        The dispatches and when they are ready.
    patience
        The time for which a dispatch waits before a CPU changes to its fragment.

    Raises
    ------
    InstanceError
        When the patience is negative or no integer, or makes times too large.

    References
    ----------
    M. Adamaszek, A. Czumaj, M. Englert and H. Räcke, "Almost Tight Bounds for Reordering Buffer
    Management", STOC 2011, show for one server why waiting before a change pays online.
    """
    check_integer(patience, "patience")
    longest = LARGEST_TOTAL // 2 // max(1, len(dispatches))
    if patience > longest:
        raise InstanceError(
            f"is {patience}, but for {len(dispatches)} dispatches it must be at most {longest}",
            place="patience",
        )
    # Those that wait for a dispatch may be in time, too.
    is_limited = (dispatches.latest < NEVER).any()
    latest = before_effects(causes_of(dispatches) if is_limited else [], dispatches.latest)
    reserved = np.zeros(len(dispatches), bool)
    haste = int(dispatches.length.max(initial=0))
    for _ in range(HASTES):
        hurry_from = np.where(latest < NEVER, latest - haste, NEVER)
        reserved[:] = False
        for _ in range(REPLAYS):
            schedule = replayed(dispatches, patience, reserved=reserved, hurry_from=hurry_from)
            late = schedule.start > dispatches.latest
            if not late.any():
                return schedule
            reserved |= _before(dispatches, late, schedule.start > schedule.recorded)
        haste *= MORE_HASTE
    # What is reserved together with all that it waits for starts as recorded at the latest.
    reserved |= _before(dispatches, dispatches.latest < NEVER, np.ones_like(late))
    return replayed(dispatches, patience, reserved=reserved, hurry_from=hurry_from)


def _before(dispatches: Dispatches, late: Flags, among: Flags) -> Flags:
    """Return the late dispatches, and all ``among`` others that they wait for, directly or not."""
    found, among_others = late & among, among.tolist()
    previous, waker = dispatches.previous.tolist(), dispatches.waker.tolist()
    to_visit = np.flatnonzero(found).tolist()
    while to_visit:
        dispatch = to_visit.pop()
        for cause in (previous[dispatch], waker[dispatch]):
            if cause != NONE and among_others[cause] and not found[cause]:
                found[cause] = True
                to_visit.append(cause)
    return found


def replayed(
    dispatches: Dispatches, patience: int, *, reserved: Flags, hurry_from: Integers
) -> Dispatches:
    """Return the schedule of the rule; :func:`run_patiently` says what that is.

    Parameters
    ----------
    dispatches
        The dispatches and when they are ready.
    patience
        The time for which a dispatch waits before a CPU changes to its fragment.
    reserved
        Whether a dispatch has its recorded place reserved.
    hurry_from
        From when on a dispatch is urgent; ``NEVER`` if it is not at all.
    """
    every, cuts = dispatches.with_fixed, dispatches.cuts
    taken = np.append(np.flatnonzero(reserved), np.arange(len(dispatches), len(every)))
    is_place = taken < len(dispatches)
    by_cpu = np.lexsort((is_place, every.end[taken], every.start[taken], every.cpu[taken]))
    rows = rows_of_dispatches(every)
    of_cuts = rows_of(CUT_TIME, cpu=cuts.cpu, time=cuts.time)[np.lexsort((cuts.time, cuts.cpu))]
    placements = patient_placements(
        rows, taken[by_cpu], of_cuts, hurry_from, dispatches.cpus, patience
    )
    return dispatches.moved(placements["cpu"], placements["start"].copy())
