"""A schedule of a trace's dispatches: on which CPU each runs, and from when on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.arrivals import NONE, Arrivals, SwitchCosts
from dfopt.compare.dispatches import Rows
from dfopt.trace.events import Flags, Integers, Numbers

FOREIGN = -2
"""The fragment of a block that evicts: no CPU ever holds it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimedSchedule:
    """CPU and start of each dispatch of some :class:`Arrivals`, row by row."""

    cpu: Numbers
    start: Integers


def recorded_schedule(arrivals: Arrivals) -> TimedSchedule:
    """Return the schedule that was recorded."""
    return TimedSchedule(cpu=arrivals.cpu, start=arrivals.start)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PayingItems:
    """What pays for switches: dispatches and blocks that evict, by start, end and row.

    Parameters
    ----------
    element
        Numbers of dispatches; evicting blocks are numbered from the number of dispatches on.
    cpu, start, end
        Where and when each runs.
    fragment
        What it uses; :data:`FOREIGN` if it evicts.
    costs
        What it costs.
    """

    element: Rows
    cpu: Integers | Numbers
    start: Integers
    end: Integers
    fragment: Integers
    costs: SwitchCosts


def paying_items(arrivals: Arrivals, schedule: TimedSchedule) -> PayingItems:
    """Return what pays for switches in a schedule."""
    blocks, costs = arrivals.blocks, arrivals.costs
    evicting = np.flatnonzero(blocks.evicts)
    none = np.zeros(len(evicting), np.int64)
    row = np.concatenate([arrivals.row, blocks.row[evicting]])
    start = np.concatenate([schedule.start, blocks.start[evicting]])
    end = np.concatenate([schedule.start + arrivals.length, blocks.end[evicting]])
    order = np.lexsort((row, end, start))

    def joined(of_dispatches: Integers | Numbers, of_blocks: Integers | Numbers) -> Integers:
        return np.concatenate([of_dispatches, of_blocks])[order].astype(np.int64)

    return PayingItems(
        element=order,
        cpu=joined(schedule.cpu, blocks.cpu[evicting]),
        start=start[order],
        end=end[order],
        fragment=joined(arrivals.fragment, none + FOREIGN),
        costs=SwitchCosts(
            entry=joined(costs.entry, blocks.entry[evicting]),
            exit=joined(costs.exit, blocks.exit[evicting]),
            always=joined(costs.always, none),
            first=joined(costs.first, blocks.first[evicting]),
            last=joined(costs.last, blocks.last[evicting]),
            matrix=costs.matrix,
        ),
    )


def waits_of(arrivals: Arrivals, schedule: TimedSchedule) -> Integers:
    """Return for how long each dispatch is ready before it starts.

    It is ready when it was woken in the recording, and its task's dispatch before it has ended.
    """
    previous = arrivals.previous
    end = (schedule.start + arrivals.length)[np.maximum(previous, 0)]
    ready = np.where(previous == NONE, arrivals.ready_by, np.maximum(arrivals.ready_by, end))
    return schedule.start - ready


def cost_of(arrivals: Arrivals, schedule: TimedSchedule) -> int:
    """Return the sum of all switch costs of a schedule."""
    order = _Order.of(arrivals, schedule)
    return int(order.cost.sum()) + order.cost_at_ends


def switch_costs_of(arrivals: Arrivals, schedule: TimedSchedule) -> tuple[Integers, int]:
    """Return what the switch to each dispatch costs in a schedule, and the number of switches.

    The first dispatch of a CPU may pay, but is no switch; nor is the first one after a gap.
    """
    order = _Order.of(arrivals, schedule)
    costs = np.zeros(len(order.element), np.int64)
    costs[order.element] = order.cost
    return costs[: len(arrivals)], int(order.is_switch.sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Order:
    """The dispatches of all CPUs one after the other, by CPU and start, those of no length first.

    Blocks that evict take part, too.

    Parameters
    ----------
    element
        Number of the dispatch; evicting blocks are numbered from the number of dispatches on.
    cost
        What it pays before it starts.
    is_switch
        Whether it follows another fragment on its CPU.
    cost_at_ends
        What is paid after the last ones of all CPUs.
    """

    element: Rows
    cost: Integers
    is_switch: Flags
    cost_at_ends: int

    @classmethod
    def of(cls, arrivals: Arrivals, schedule: TimedSchedule) -> _Order:
        items = paying_items(arrivals, schedule)
        cpu, start, fragment, costs = items.cpu, items.start, items.fragment, items.costs
        order = np.argsort(cpu, kind="stable")
        before, after = order[:-1], order[1:]
        same_cpu = cpu[before] == cpu[after]
        changes = (fragment[before] != fragment[after]) | (fragment[after] == FOREIGN)
        if costs.matrix.size:
            between = costs.matrix[fragment[before], fragment[after]]
        else:
            switch = costs.exit[before] + costs.entry[after]
            between = costs.always[before] + np.where(changes, switch, 0)
        # The number of cuts on a CPU before a time tells whether a cut lies between two dispatches.
        epoch = np.zeros(len(cpu), np.int64)
        for number in np.unique(arrivals.cut_cpu):
            own = cpu == number
            times = np.sort(arrivals.cut_time[arrivals.cut_cpu == number])
            epoch[own] = np.searchsorted(times, start[own], side="right")
        follows = same_cpu & (epoch[before] == epoch[after])
        cost = np.zeros(len(order), np.int64)
        cost[1:] = np.where(follows, between, 0)
        is_switch = np.zeros(len(order), bool)
        is_switch[1:] = follows & changes
        edge = np.flatnonzero(~same_cpu)
        places = np.concatenate([[0], edge + 1]) if len(order) else order
        firsts = order[places]
        cost[places] = np.where(epoch[firsts] == 0, costs.first[firsts], 0)
        lasts = order[np.concatenate([edge, [len(order) - 1]])] if len(order) else order
        cuts = np.bincount(arrivals.cut_cpu, minlength=arrivals.cpus)
        at_ends = int(costs.last[lasts[epoch[lasts] == cuts[cpu[lasts]]]].sum())
        return cls(
            element=items.element[order], cost=cost, is_switch=is_switch, cost_at_ends=at_ends
        )
