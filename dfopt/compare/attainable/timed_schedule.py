"""A schedule of a trace's dispatches: on which CPU each runs, and from when on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.trace.events import Integers, Numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimedSchedule:
    """CPU and start of each dispatch of some :class:`Arrivals`, row by row."""

    cpu: Numbers
    start: Integers


def recorded_schedule(arrivals: Arrivals) -> TimedSchedule:
    """Return the schedule that was recorded."""
    return TimedSchedule(cpu=arrivals.cpu, start=arrivals.start)


def waits_of(arrivals: Arrivals, schedule: TimedSchedule) -> Integers:
    """Return for how long each dispatch is ready before it starts.

    It is ready when it was woken in the recording, and its task's dispatch before it has ended.
    """
    previous = arrivals.previous
    end = (schedule.start + arrivals.length)[np.maximum(previous, 0)]
    ready = np.where(previous == NONE, arrivals.ready_by, np.maximum(arrivals.ready_by, end))
    return schedule.start - ready


def cost_of(arrivals: Arrivals, schedule: TimedSchedule) -> int:
    """Return the sum of all switch costs of a schedule.

    Dispatches of a CPU stand in the order of their starts, those of no length first. Blocks that
    evict take part, too.
    """
    costs, blocks = arrivals.costs, arrivals.blocks
    evicting = np.flatnonzero(blocks.evicts)
    none = np.zeros(len(evicting), np.int64)
    cpu = np.concatenate([schedule.cpu, blocks.cpu[evicting]])
    start = np.concatenate([schedule.start, blocks.start[evicting]])
    end = np.concatenate([schedule.start + arrivals.length, blocks.end[evicting]])
    row = np.concatenate([arrivals.row, blocks.row[evicting]])
    # Each evicting block has a fragment of its own.
    fragment = np.concatenate([arrivals.fragment, -1 - np.arange(len(evicting))])
    entry = np.concatenate([costs.entry, blocks.entry[evicting]])
    leaving = np.concatenate([costs.exit, blocks.exit[evicting]])
    always = np.concatenate([costs.always, none])
    first = np.concatenate([costs.first, blocks.first[evicting]])
    last = np.concatenate([costs.last, blocks.last[evicting]])
    order = np.lexsort((row, end, start, cpu))
    before, after = order[:-1], order[1:]
    same_cpu = cpu[before] == cpu[after]
    if costs.matrix.size:
        between = costs.matrix[fragment[before], fragment[after]]
    else:
        changes = fragment[before] != fragment[after]
        between = always[before] + np.where(changes, leaving[before] + entry[after], 0)
    # The number of cuts on a CPU before a time tells whether a cut lies between two dispatches.
    epoch = np.zeros(len(cpu), np.int64)
    for number in np.unique(arrivals.cut_cpu):
        own = cpu == number
        times = np.sort(arrivals.cut_time[arrivals.cut_cpu == number])
        epoch[own] = np.searchsorted(times, start[own], side="right")
    total = int(between[same_cpu & (epoch[before] == epoch[after])].sum())
    edge = np.flatnonzero(~same_cpu)
    firsts = order[np.concatenate([[0], edge + 1])] if len(order) else order
    lasts = order[np.concatenate([edge, [len(order) - 1]])] if len(order) else order
    cuts = np.bincount(arrivals.cut_cpu, minlength=arrivals.cpus)
    total += int(first[firsts[epoch[firsts] == 0]].sum())
    return total + int(last[lasts[epoch[lasts] == cuts[cpu[lasts]]]].sum())
