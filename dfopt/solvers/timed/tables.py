"""A timed instance as arrays, with what every task takes at least."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.switch_costs import reading_cost
from dfopt.solvers.search import Search

Integers = npt.NDArray[np.int64]

BITS = 62
"""Tasks in a word of a set of tasks."""

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
    exec, release
        For each task.
    switch
        The cost of a switch, row = state, column = task.
    finish
        For each state what a CPU pays that ends in it.
    state_of
        For each task the state in which it leaves a CPU.
    starts
        For each CPU its state at the start.
    family
        For each state a number; only states of one family can replace each other.
    replaces
        Whether one state (row) costs nowhere more than another (column).
    is_start
        Whether a state is that of a CPU which has run nothing.
    before, after
        The sets of tasks that a task waits for, and that wait for it: a row of words for each.
    earlier
        The sets of tasks that have to be dispatched before a task: those that it waits for, and
        its copies with lower numbers.
    head, tail
        The earliest time of a switch to each task, and the least time after its end.
    arrival
        The least cost of a switch to each task.
    fragment
        For each task.
    held
        For each state the fragment that its CPU can enter at no cost, or -1.
    entry
        For each task what it pays if it is the first of its fragment.
    departure, relief
        For each state what a CPU pays when it goes on to any other task, and how much of that
        a CPU is spared that ends there.
    addition
        For each task what a switch to it costs beside departure and entry.
    gift
        For each start how much less than addition and entry a first task may cost there.
    by_head, by_tail
        The tasks, latest first; and longest tail first.
    size
        For each task, 1 where sizes do not count.
    room
        The sizes of a CPU's tasks add up to at most this.
    types
        The type of each task.
    """

    exec: Integers
    release: Integers
    switch: Integers
    finish: Integers
    state_of: Integers
    starts: Integers
    family: Integers
    replaces: npt.NDArray[np.bool_]
    is_start: npt.NDArray[np.bool_]
    before: Integers
    after: Integers
    earlier: Integers
    head: Integers
    tail: Integers
    arrival: Integers
    fragment: Integers
    held: Integers
    entry: Integers
    departure: Integers
    relief: Integers
    addition: Integers
    gift: Integers
    by_head: Integers
    by_tail: Integers
    size: Integers
    room: int
    types: Integers


def timed_tables(search: Search) -> TimedTables:
    """Return the arrays of an instance under makespan."""
    instance, table = search.instance, search.costs
    types = [number for number, equal in enumerate(search.types) for _ in equal.names]
    count = len(types)
    examples = [search.types[number].example for number in types]
    members: dict[str, list[int]] = defaultdict(list)
    twins: list[list[int]] = []
    for task, example in enumerate(examples):
        twins.append(members[example.id][-1:])
        members[example.id].append(task)
    before = [
        sorted({other for name in example.after for other in members[name]}) for example in examples
    ]

    rows: dict[tuple[tuple[int, ...], int, bool], int] = {}

    def state(row: Sequence[int], finish: int, *, is_start: bool) -> int:
        key = (tuple(map(row.__getitem__, types)), finish, is_start)
        return rows.setdefault(key, len(rows))

    state_of = [
        state(table.switch[number], table.finish[number], is_start=False) for number in types
    ]
    starts = [
        state(row, idle, is_start=True) for row, idle in zip(table.start, table.idle, strict=True)
    ]
    switch = np.array([row for row, _, _ in rows], dtype=np.int64).reshape(len(rows), count)
    finish = np.array([cost for _, cost, _ in rows], dtype=np.int64)
    is_start = np.array([first for _, _, first in rows])
    replaces = np.eye(len(rows), dtype=np.bool_)
    if len(rows) ** 2 * count <= MOST_COMPARISONS:
        replaces = (
            (switch[:, None, :] <= switch[None, :, :]).all(axis=2)
            & (finish[:, None] <= finish[None, :])
            & (is_start[:, None] == is_start[None, :])
        )
    exec_times = np.array([table.exec[number] for number in types], dtype=np.int64)
    release = np.array([example.release for example in examples], dtype=np.int64)
    state_of_task = np.array(state_of)
    arrival = _arrivals(switch, state_of_task, np.array(starts))
    length = exec_times + arrival
    departure = _departures(switch + exec_times, finish, state_of_task)
    head, tail = _heads_and_tails(before, release, departure, length)
    shares = _shares(instance, examples, switch, state_of_task, np.array(starts), finish)
    return TimedTables(
        exec=exec_times,
        release=release,
        switch=switch,
        finish=finish,
        state_of=state_of_task,
        starts=np.array(starts),
        family=_families(replaces),
        replaces=replaces,
        is_start=is_start,
        before=sets_of(before),
        after=sets_of(_reversed(before)),
        earlier=sets_of([one + other for one, other in zip(before, twins, strict=True)]),
        head=head,
        tail=tail,
        arrival=arrival,
        by_head=np.argsort(-head, kind="stable"),
        by_tail=np.argsort(-tail, kind="stable"),
        size=np.array([instance.size_of(example) for example in examples], dtype=np.int64),
        room=min(instance.room, instance.total_size),
        types=np.array(types),
        **shares,
    )


def tiny_instance() -> Instance:
    """Return an instance for calls that only load machine code."""
    return Instance(
        cpus=1,
        penalty=PenaltyG(fill=1, write_back=1),
        tasks=(Task(id="a", df="A", exec=1, release=1),),
        objective=Objective.MAKESPAN,
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


def _reversed(before: list[list[int]]) -> list[list[int]]:
    after: list[list[int]] = [[] for _ in before]
    for task, others in enumerate(before):
        for other in others:
            after[other].append(task)
    return after


def sets_of(members: Sequence[Iterable[int]]) -> Integers:
    """Return sets of tasks as a table with a row of words for each."""
    words = np.zeros((len(members), max(1, -(-len(members) // BITS))), dtype=np.int64)
    for row, others in enumerate(members):
        for other in others:
            words[row, other // BITS] |= 1 << (other % BITS)
    return words


def members_of(words: Integers) -> set[int]:
    """Return the tasks of a set, which is a row of such a table."""
    return {
        word * BITS + bit
        for word, bits in enumerate(words.tolist())
        if bits
        for bit in range(BITS)
        if bits >> bit & 1
    }


def _heads_and_tails(
    before: list[list[int]], release: Integers, departure: Integers, length: Integers
) -> tuple[Integers, Integers]:
    head, tail = release.copy(), departure.copy()
    order = list(TopologicalSorter(dict(enumerate(before))).static_order())
    for task in order:
        for other in before[task]:
            head[task] = max(head[task], head[other] + length[other])
    for task in reversed(order):
        for other in before[task]:
            tail[other] = max(tail[other], length[task] + tail[task])
    return head, tail


def _families(replaces: npt.NDArray[np.bool_]) -> Integers:
    """Return the connected components of states that can replace each other."""
    family = np.arange(len(replaces))
    for one, other in np.argwhere(np.tril(replaces | replaces.T, -1)):
        family[family == family[one]] = family[other]
    return family


def _shares(  # noqa: PLR0913, PLR0917
    instance: Instance,
    examples: Sequence[Task],
    switch: Integers,
    state_of: Integers,
    starts: Integers,
    finish: Integers,
) -> dict[str, Integers]:
    """Return how the cost of a switch is shared between departure, entry and addition.

    A switch from i to j costs at least the departure from i's state, the addition of j, and the
    entry of j if no CPU held the fragment.
    """
    count, states = len(examples), len(switch)
    departure = np.zeros(states, dtype=np.int64)
    addition = np.zeros(count, dtype=np.int64)
    entry = np.zeros(count, dtype=np.int64)
    fragment = np.zeros(count, dtype=np.int64)
    held = np.full(states, -1)
    gift = np.zeros(states, dtype=np.int64)
    penalty = instance.penalty
    used = np.unique(state_of)
    if isinstance(penalty, PenaltyMatrix):
        for row in used:
            departure[row] = switch[row].min()
        others, rows = _from_others(switch, state_of)
        addition = np.where(others == FAR, FAR, others - departure[rows][:, None]).min(axis=0)
        addition[addition == FAR] = 0  # the only task
        for row in np.unique(starts):
            gift[row] = max(0, int((addition - switch[row]).max()))
    else:
        fragments = dict.fromkeys(example.df for example in examples)
        names = {name: number for number, name in enumerate(fragments)}
        for task, example in enumerate(examples):
            fragment[task] = names[example.df]
            held[state_of[task]] = names[example.df]
            entry[task] = reading_cost(penalty, example)
            if isinstance(penalty, PenaltyF) and example.leaves is Leaves.INVALIDATED:
                departure[state_of[task]] = penalty.write_back
        for row in np.unique(starts):
            spared = np.unique(fragment[switch[row] < entry])
            if len(spared) == 1:
                held[row] = spared[0]
            elif len(spared):
                gift[row] = (entry - switch[row]).max()
    relief = np.maximum(0, departure - finish)
    relief[starts] = 0
    return {
        "departure": departure,
        "addition": addition,
        "entry": entry,
        "fragment": fragment,
        "held": held,
        "relief": relief,
        "gift": gift,
    }
