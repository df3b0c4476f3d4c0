"""A timed instance as arrays, with what every task takes at least."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dfopt.native.library import Rows, by_cpu
from dfopt.native.waiting import STATE, TASK, WaitingTasks
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix
from dfopt.solvers.search import Search

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MOST_COMPARISONS = 50_000_000
"""At most this number of costs are compared. Beyond it no state is said to replace another."""

FAR = 2**62
"""Later than any time."""


class TimedTables(NamedTuple):
    """An instance with n single tasks on m CPUs; copies of a task are tasks of their own.

    A *state* of a CPU is what its next switch depends on: the row of its last task in the table
    of switches, or its start. Some states are nowhere more expensive than others.

    Parameters
    ----------
    tasks
        Rows ``TASK``. The *head* of a task is the earliest time of a switch to it, its *tail* the
        least time after its end, *arrival* the least cost of a switch to it; *entry* is what it
        pays if it is the first of its fragment, *addition* what a switch to it costs beside
        departure and entry. The size is 1 where sizes do not count.
    states
        Rows ``STATE``. *finish* is what a CPU pays that ends in a state, *departure* what it pays
        when it goes on to any other task, and *relief* how much of that it is spared where it
        ends. *held* is the fragment that the CPU can enter at no cost, or -1; *gift* says of a
        start how much less than addition and entry a first task may cost there. Only states of one
        *family* can replace each other.
    switch
        The cost of a switch, row = state, column = task.
    replaces
        Whether one state (row) costs nowhere more than another (column).
    starts
        For each CPU its state at the start.
    before
        Whether a task (row) waits for another one (column).
    earlier
        Whether another task (column) has to be dispatched before a task: because it waits for it,
        or as a copy with a lower number.
    room
        The sizes of a CPU's tasks add up to at most this.
    types, depth
        For each task its type, and the length of the longest chain of tasks that it waits for.
    """

    tasks: Rows
    states: Rows
    switch: Integers
    replaces: Flags
    starts: Integers
    before: Flags
    earlier: Flags
    room: int
    types: Integers
    depth: Integers

    def in_core(self) -> WaitingTasks:
        """Return what the core works with."""
        return WaitingTasks(*self[:8])

    def orders(self, dispatches: Rows) -> list[list[int]]:
        """Return the types that each CPU runs by rows ``DISPATCH``."""
        orders = by_cpu(dispatches, len(self.starts))
        return [self.types[order].tolist() for order in orders]


def timed_tables(search: Search) -> TimedTables:
    """Return the arrays of an instance under makespan."""
    instance, table = search.instance, search.costs
    types = [number for number, equal in enumerate(search.types) for _ in equal.names]
    count = len(types)
    examples = [search.types[number].example for number in types]
    members: dict[str, list[int]] = defaultdict(list)
    earlier = np.zeros((count, count), dtype=np.bool_)
    for task, example in enumerate(examples):
        earlier[task, members[example.id][-1:]] = True
        members[example.id].append(task)
    before = np.zeros_like(earlier)
    for task, example in enumerate(examples):
        for name in example.after:
            before[task, members[name]] = True
    earlier |= before

    rows: dict[tuple[tuple[int, ...], int, bool], int] = {}

    def state(row: Sequence[int], finish: int, *, is_start: bool) -> int:
        key = (tuple(map(row.__getitem__, types)), finish, is_start)
        return rows.setdefault(key, len(rows))

    tasks = np.zeros(count, TASK)
    tasks["state"] = [
        state(table.switch[number], table.finish[number], is_start=False) for number in types
    ]
    starts = np.array(
        [state(row, idle, is_start=True) for row, idle in zip(table.start, table.idle, strict=True)]
    )
    states = np.zeros(len(rows), STATE)
    switch = np.array([row for row, _, _ in rows], dtype=np.int64).reshape(len(rows), count)
    states["finish"] = finish = np.array([cost for _, cost, _ in rows], dtype=np.int64)
    is_start = np.array([first for _, _, first in rows])
    replaces = np.eye(len(rows), dtype=np.bool_)
    if len(rows) ** 2 * count <= MOST_COMPARISONS:
        replaces = (
            (switch[:, None, :] <= switch[None, :, :]).all(axis=2)
            & (finish[:, None] <= finish[None, :])
            & (is_start[:, None] == is_start[None, :])
        )
    states["family"] = _families(replaces)
    tasks["exec"] = [table.exec[number] for number in types]
    tasks["release"] = [example.release for example in examples]
    tasks["size"] = [instance.size_of(example) for example in examples]
    tasks["arrival"] = _arrivals(switch, tasks["state"], starts)
    tasks["tail"] = _departures(switch + tasks["exec"], finish, tasks["state"])
    depth = _follow_chains(before, tasks)
    _share_costs(instance, examples, switch, starts, tasks, states)
    return TimedTables(
        tasks=tasks,
        states=states,
        switch=switch,
        replaces=replaces,
        starts=starts,
        before=before,
        earlier=earlier,
        room=min(instance.room, instance.total_size),
        types=np.array(types),
        depth=depth,
    )


def _from_others(switch: Integers, state_of: Integers) -> tuple[Integers, Integers]:
    """Return the switches from the states in which tasks leave a CPU, and these states.

    What a task would pay behind itself alone is :data:`FAR`.
    """
    used, row_of, counts = np.unique(state_of, return_inverse=True, return_counts=True)
    others = switch[used]
    only = np.flatnonzero(counts[row_of] == 1)
    others[row_of[only], only] = FAR
    return others, used


def _arrivals(switch: Integers, state_of: Integers, starts: Integers) -> Integers:
    """Return the least cost of a switch to each task, from another task or a start."""
    others, _ = _from_others(switch, state_of)
    least: Integers = np.minimum(switch[starts].min(axis=0), others.min(axis=0))
    return least


def _departures(after: Integers, finish: Integers, state_of: Integers) -> Integers:
    """Return the least time after each task: what ends its CPU, or another task with its switch."""
    rows = after[state_of]
    np.fill_diagonal(rows, FAR)
    least: Integers = np.minimum(finish[state_of], rows.min(axis=1))
    return least


def _follow_chains(before: Flags, tasks: Rows) -> Integers:
    """Raise heads and tails by what tasks wait for, and what waits for them; return depths."""
    waits_for = {task: np.flatnonzero(others).tolist() for task, others in enumerate(before)}
    order = list(TopologicalSorter(waits_for).static_order())
    depth = np.zeros(len(tasks), dtype=np.int64)
    head, tail, length = tasks["head"], tasks["tail"], tasks["exec"] + tasks["arrival"]
    head[:] = tasks["release"]
    for task in order:
        for other in waits_for[task]:
            head[task] = max(head[task], head[other] + length[other])
            depth[task] = max(depth[task], depth[other] + 1)
    for task in reversed(order):
        for other in waits_for[task]:
            tail[other] = max(tail[other], length[task] + tail[task])
    return depth


def _families(replaces: npt.NDArray[np.bool_]) -> Integers:
    """Return the connected components of states that can replace each other."""
    family = np.arange(len(replaces))
    for one, other in np.argwhere(np.tril(replaces | replaces.T, -1)):
        family[family == family[one]] = family[other]
    return family


def _share_costs(  # noqa: PLR0913, PLR0917
    instance: Instance,
    examples: Sequence[Task],
    switch: Integers,
    starts: Integers,
    tasks: Rows,
    states: Rows,
) -> None:
    """Say how the cost of a switch is shared between departure, entry and addition.

    A switch from i to j costs at least the departure from i's state, the addition of j, and the
    entry of j if no CPU held the fragment.
    """
    state_of, addition, entry = tasks["state"], tasks["addition"], tasks["entry"]
    departure, held, gift = states["departure"], states["held"], states["gift"]
    held[:] = -1
    penalty = instance.penalty
    if isinstance(penalty, PenaltyMatrix):
        for row in np.unique(state_of):
            departure[row] = switch[row].min()
        others, rows = _from_others(switch, state_of)
        least = np.where(others == FAR, FAR, others - departure[rows][:, None]).min(axis=0)
        addition[:] = np.where(least == FAR, 0, least)  # nothing for the only task
        for row in np.unique(starts):
            gift[row] = max(0, int((addition - switch[row]).max()))
    else:
        fragments = dict.fromkeys(example.df for example in examples)
        names = {name: number for number, name in enumerate(fragments)}
        for task, example in enumerate(examples):
            tasks["fragment"][task] = names[example.df]
            held[state_of[task]] = names[example.df]
            entry[task] = penalty.reading(example.lines or 0)
            if isinstance(penalty, PenaltyF) and example.leaves is Leaves.INVALIDATED:
                departure[state_of[task]] = penalty.write_back
        for row in np.unique(starts):
            spared = np.unique(tasks["fragment"][switch[row] < entry])
            if len(spared) == 1:
                held[row] = spared[0]
            elif len(spared):
                gift[row] = (entry - switch[row]).max()
    states["relief"] = np.maximum(0, departure - states["finish"])
    states["relief"][starts] = 0
