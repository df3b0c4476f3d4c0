"""What becomes of a schedule when its switches take time.

The searches let switches cost something and take no time. Where the lengths of dispatches do not
include switches, that is not what a machine does. So each schedule is replayed with them.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.compare.paid import switches_of
from dfopt.structs import DocumentPart, Natural, NonNegative
from dfopt.trace.service import SHOWN_DIGITS, percentile
from dfopt.trace.trace import Lengths, Trace


class WithSwitches(DocumentPart):
    """What becomes of a schedule when its switches take as long as they cost.

    Parameters
    ----------
    later
        The number of dispatches that start later than recorded.
    latest_by
        By how much at most, in the trace's unit of time.
    total_wait
        The sum of the waits, loading included.
    p99_wait, mean_wait
        Their 99th percentile (nearest rank), and their mean.
    """

    later: Natural
    latest_by: Natural
    total_wait: Natural
    p99_wait: Natural
    mean_wait: NonNegative


def switches_take_time(trace: Trace, model: CostModel) -> bool:
    """Whether switches take time that the lengths of a trace's dispatches do not include.

    Costs other than numbers of switches are in the trace's unit of time.
    """
    return trace.header.lengths is Lengths.WITHOUT_SWITCHES and not model.counts_switches


def with_switches(schedule: Dispatches) -> WithSwitches:
    """Return how long dispatches wait, and how many are late, when switches take time."""
    delayed = delayed_by_switches(schedule)
    late = delayed.start - delayed.recorded
    waits = np.sort(delayed.waits)
    return WithSwitches(
        later=int((late > 0).sum()),
        latest_by=max(0, int(late.max())),
        total_wait=int(waits.sum()),
        p99_wait=percentile(waits, 99),
        mean_wait=round(int(waits.sum()) / len(waits), SHOWN_DIGITS),
    )


def delayed_by_switches(schedule: Dispatches) -> Dispatches:
    """Return a schedule in which each switch takes as long as it costs.

    CPUs, the order on each CPU, and lengths are those of the schedule. A switch begins when its
    dispatch is ready and the CPU is free, and the dispatch starts when it is over. Nothing comes
    between the two, and neither runs beside what is fixed. So a dispatch may start earlier than in
    the schedule, and where it must wait, later.
    """
    loads = switches_of(schedule.paying).cost.tolist()
    cpus, lengths = schedule.cpu.tolist(), schedule.length.tolist()
    ready_by, previous = schedule.ready_by.tolist(), schedule.previous.tolist()
    waker, offset = schedule.waker.tolist(), schedule.waker_offset.tolist()
    # What is still to come of what is fixed on each CPU.
    fixed: list[deque[list[int]]] = [deque() for _ in range(schedule.cpus)]
    kept = schedule.fixed
    for cpu, *times in np.stack([kept.cpu, kept.start, kept.end], axis=1).tolist():
        fixed[cpu].append(times)
    free = [int(schedule.ready_by.min())] * schedule.cpus
    # What has not started yet counts with its time in the schedule. This happens only where a
    # dispatch of no length starts at once with the one that wakes it.
    found = schedule.start.tolist()
    order = np.lexsort((schedule.length > 0, schedule.start))  # else as in the recording
    for j in order.tolist():
        cpu = cpus[j]
        begin = max(ready_by[j], free[cpu])
        if previous[j] != NONE:
            begin = max(begin, found[previous[j]] + lengths[previous[j]])
        if waker[j] != NONE:
            begin = max(begin, found[waker[j]] + offset[j])
        needs = loads[j] + lengths[j]
        while fixed[cpu] and fixed[cpu][0][0] < begin + needs:
            begin = max(begin, fixed[cpu].popleft()[1])
        found[j] = begin + loads[j]
        free[cpu] = found[j] + lengths[j]
    return schedule.moved(schedule.cpu, np.array(found, np.int64))
