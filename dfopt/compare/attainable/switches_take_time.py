"""What becomes of a schedule when its switches take time.

The searches let switches cost something and take no time. Where the lengths of dispatches do not
include switches, that is not what a machine does. So each schedule is replayed with them.
"""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.compare.attainable.timed_schedule import TimedSchedule, switch_costs_of, waits_of
from dfopt.compare.cost_model import CostModel
from dfopt.structs import DocumentPart, Natural, NonNegative
from dfopt.trace.events import Integers
from dfopt.trace.lengths import Lengths
from dfopt.trace.service import SHOWN_DIGITS, percentile
from dfopt.trace.trace import Trace


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


def with_switches(arrivals: Arrivals, schedule: TimedSchedule) -> WithSwitches:
    """Return how long dispatches wait, and how many are late, when switches take time."""
    start = starts_with_switches(arrivals, schedule)
    late = start - arrivals.start
    waits = np.sort(waits_of(arrivals, TimedSchedule(cpu=schedule.cpu, start=start)))
    return WithSwitches(
        later=int((late > 0).sum()),
        latest_by=max(0, int(late.max())),
        total_wait=int(waits.sum()),
        p99_wait=percentile(waits, 99),
        mean_wait=round(int(waits.sum()) / len(waits), SHOWN_DIGITS),
    )


def starts_with_switches(arrivals: Arrivals, schedule: TimedSchedule) -> Integers:
    """Return when each dispatch starts if its switch takes as long as it costs.

    CPUs, the order on each CPU, and lengths are those of the schedule. A switch begins when its
    dispatch is ready and the CPU is free, and the dispatch starts when it is over. Nothing comes
    between the two, and neither runs beside a block, which keeps its time. So a dispatch may start
    earlier than in the schedule, and where it must wait, later.
    """
    loads = switch_costs_of(arrivals, schedule)[0].tolist()
    cpus, lengths = schedule.cpu.tolist(), arrivals.length.tolist()
    ready_by, previous = arrivals.ready_by.tolist(), arrivals.previous.tolist()
    waker, offset = arrivals.waker.tolist(), arrivals.waker_offset.tolist()
    blocks = arrivals.blocks
    block_start, block_end = blocks.start.tolist(), blocks.end.tolist()
    numbers = np.arange(arrivals.cpus)
    # The next block of each CPU, and where its blocks end.
    block = np.searchsorted(blocks.cpu, numbers, side="left").tolist()
    no_more = np.searchsorted(blocks.cpu, numbers, side="right").tolist()
    free = [int(arrivals.ready_by.min())] * arrivals.cpus
    # What has not started yet counts with its time in the schedule. This happens only where a
    # dispatch of no length starts at once with the one that wakes it.
    found = schedule.start.tolist()
    order = np.lexsort((arrivals.length > 0, schedule.start))  # else as in the recording
    for j in order.tolist():
        cpu = cpus[j]
        begin = max(ready_by[j], free[cpu])
        if previous[j] != NONE:
            begin = max(begin, found[previous[j]] + lengths[previous[j]])
        if waker[j] != NONE:
            begin = max(begin, found[waker[j]] + offset[j])
        needs = loads[j] + lengths[j]
        while block[cpu] < no_more[cpu] and block_start[block[cpu]] < begin + needs:
            begin = max(begin, block_end[block[cpu]])
            block[cpu] += 1
        found[j] = begin + loads[j]
        free[cpu] = found[j] + lengths[j]
    return np.array(found, np.int64)
