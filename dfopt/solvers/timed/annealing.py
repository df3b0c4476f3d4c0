"""Local search for tasks that wait: simulated annealing over lists of tasks.

A list holds all tasks, each after those that it waits for, with a CPU for each; every CPU runs its
tasks in the order of the list, as early as it can. A move puts a task beside another one, on the
CPU of that one or on its own, or lets two tasks change places (Kirkpatrick, Gelatt and Vecchi
1983). Putting tasks beside tasks of their fragment is what saves switches.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dfopt.solvers.compilation.compiled import compiled, compiled_in_place
from dfopt.solvers.compilation.machine_code import MachineCode
from dfopt.solvers.interruptible import wait_for
from dfopt.solvers.search import Search
from dfopt.solvers.timed.tables import (
    BITS,
    FAR,
    TimedTables,
    members_of,
    timed_tables,
    tiny_instance,
)

Integers = npt.NDArray[np.int64]

MOVES_PER_TASK = 10_000
"""Moves of a long walk for each task."""

SHORTER, GROWTH = 625, 5
"""The first walk is 625 times shorter than a long one, each later one five times longer."""

PLAIN_MOVES = 5_000
"""A walk in plain Python."""

STEPS_PER_CHUNK, PLAIN_STEPS = 4_000_000, 8_000
"""Between two looks at the clock at most about this number of tasks are put in their places."""

LEAST_CHUNKS = 20
"""A walk cools down in at least 20 steps."""

HOT, MILD, COLD = 0.8, 0.25, 0.03
"""Temperatures at which a walk begins and ends, as shares of a task's average time with its switch.

A mild walk finds its way back to the schedule that it began with, or to one that is like it.
"""

FEW_TASKS = 5
"""With n > 5 tasks temperatures are 5/n of that, since a move changes averages over n tasks."""

SHARE_OF_CPUS, SHARE_OF_TASKS = 0.1, 0.1
"""What the average ends of the CPUs and of the tasks count beside the latest end."""

BESIDE_KINDS, ALL_KINDS = 3, 4
"""Three kinds of moves put a task beside another one; the fourth lets two change places."""


LOOPS = MachineCode("dfopt.solvers.timed.annealing:first_calls")


class TaskList(NamedTuple):
    """A list of tasks, and what a schedule needs while it is worked out.

    Parameters
    ----------
    order, position
        The tasks as they come, and where each stands.
    cpu, end
        For each task.
    load, clock, state
        For each CPU the size of its tasks, when it is free, and its state.
    """

    order: Integers
    position: Integers
    cpu: Integers
    end: Integers
    load: Integers
    clock: Integers
    state: Integers


class TimedAnnealing:
    """Walks from the best schedule of a search.

    Parameters
    ----------
    search
        Of a timed instance; it has a schedule.
    tables
        The arrays of the instance.
    """

    def __init__(self, search: Search, tables: TimedTables) -> None:
        self.search, self.tables = search, tables
        self._random = np.random.default_rng(search.seed)
        self._longest = MOVES_PER_TASK * len(tables.exec)
        time = float((tables.exec + tables.switch.mean(axis=0)).mean())
        self._scale = max(1.0, time) * min(1.0, FEW_TASKS / len(tables.exec))
        self._predecessors = predecessor_rows(tables)
        self._last: TaskList | None = None

    def run(self, effort: float = 1.0) -> None:
        """Walk for longer and longer, up to a long walk; ``effort`` scales their lengths."""
        search = self.search
        search.enter("annealing of waiting tasks")
        LOOPS.walk_meanwhile(
            lambda: self.walk(PLAIN_MOVES, threading.Event(), PLAIN_STEPS, hot=MILD), search.check
        )
        longest = max(1, int(effort * self._longest))
        moves, hot = max(1, longest // SHORTER), MILD
        while moves < longest:
            self.walk(moves, hot=hot)
            moves, hot = moves * GROWTH, HOT
        self.walk(longest)

    def walk(
        self,
        moves: int,
        halt: threading.Event | None = None,
        steps: int = STEPS_PER_CHUNK,
        *,
        hot: float = HOT,
        onward: bool = False,
    ) -> None:
        """Walk for a number of moves, and report what is better than the best schedule.

        Parameters
        ----------
        moves
            The walk cools down while this number of moves are tried, or sooner where less time is
            left.
        halt
            Ends the walk, which then runs in this thread. Without it the walk has a thread of its
            own, and this one watches the clock.
        steps
            Between two looks at the clock at most about this number of tasks are put in place.
        hot
            The first temperature.
        onward
            Whether to begin with the best schedule of the walk before, not with that of the search.
        """
        search, tables = self.search, self.tables
        tasks = self._last if onward and self._last is not None else self.task_list()
        best_order, best_cpu = tasks.order.copy(), tasks.cpu.copy()
        done, value = 0, np.array([FAR])
        chunk = max(1, min(moves // LEAST_CHUNKS, steps // len(tables.exec)))
        time_left = search.time_left
        while done < moves:
            cooled = max(done / moves, search.over_of(time_left))
            tried = min(chunk, moves - done)
            heat = hot * (COLD / hot) ** cooled * self._scale
            call = partial(
                anneal, tables, *self._predecessors, tasks, best_order, best_cpu, value, heat,
                tried, int(self._random.integers(1 << 31)),
            )  # fmt: skip
            if halt is None:
                wait_for(call, search.check)
            elif halt.is_set():
                break
            else:
                call()
            done += tried
            if search.objective is None or value[0] < search.objective:
                orders: list[list[int]] = [[] for _ in tables.starts]
                for task in best_order.tolist():
                    orders[best_cpu[task]].append(int(tables.types[task]))
                search.found(orders)
            if halt is None:
                search.check()
        load = np.zeros_like(tasks.load)
        np.add.at(load, best_cpu, tables.size)
        position = np.argsort(best_order)
        self._last = tasks._replace(order=best_order, position=position, cpu=best_cpu, load=load)

    def task_list(self) -> TaskList:
        """Return the best schedule as a list, by the starts of its tasks."""
        schedule, search = self.search.schedule, self.search
        assert schedule is not None
        type_of = {
            name: number for number, equal in enumerate(search.types) for name in equal.names
        }
        copies: dict[int, list[int]] = {}
        for task in range(len(self.tables.types) - 1, -1, -1):
            copies.setdefault(int(self.tables.types[task]), []).append(task)
        # In one instant a task comes after those that it waits for.
        depth = depths(self.tables)
        starts = sorted(
            (start, depth[copies[type_of[name]][0]], place, cpu, type_of[name])
            for cpu, row in enumerate(schedule.cpus)
            for place, (name, start) in enumerate(zip(row.tasks, row.starts or (), strict=True))
        )
        count = len(starts)
        order = np.empty(count, dtype=np.int64)
        position, cpus = np.empty_like(order), np.empty_like(order)
        load = np.zeros(len(schedule.cpus), dtype=np.int64)
        for place, (*_, cpu, task_type) in enumerate(starts):
            task = copies[task_type].pop()
            order[place], position[task], cpus[task] = task, place, cpu
            load[cpu] += self.tables.size[task]
        return TaskList(
            order=order,
            position=position,
            cpu=cpus,
            end=np.zeros_like(order),
            load=load,
            clock=np.zeros_like(load),
            state=np.zeros_like(load),
        )


def predecessor_rows(tables: TimedTables) -> tuple[Integers, Integers]:
    """Return all predecessors in a row, task by task, and where those of each task begin."""
    rows = [sorted(members_of(words)) for words in tables.before]
    first = np.cumsum([0, *map(len, rows)])
    return np.array([other for row in rows for other in row] or [0], dtype=np.int64), first


def depths(tables: TimedTables) -> list[int]:
    """Return for each task the length of the longest chain of tasks that it waits for."""
    others, first = predecessor_rows(tables)
    depth = [-1] * len(tables.exec)

    def find(task: int) -> int:
        if depth[task] < 0:
            before = others[first[task] : first[task + 1]].tolist()
            depth[task] = max((find(other) + 1 for other in before), default=0)
        return depth[task]

    for task in np.argsort(tables.head, kind="stable").tolist():
        find(task)
    return depth


def first_calls() -> None:
    """Call the compiled functions, so that they are loaded or compiled."""
    tables = timed_tables(Search(tiny_instance()))
    row = np.zeros(1, dtype=np.int64)
    tasks = TaskList(*(row.copy() for _ in TaskList._fields))
    anneal(tables, *predecessor_rows(tables), tasks, row.copy(), row.copy(), row, 1.0, 0, 0)


@compiled_in_place
def comes_after(tables: TimedTables, task: int, other: int) -> bool:
    """Return whether a task must stand behind another one in the list."""
    return bool((tables.earlier[task, other // BITS] >> (other % BITS)) & 1)


@compiled_in_place
def can_move(tables: TimedTables, tasks: TaskList, start: int, target: int) -> bool:
    """Return whether a task may go from one place of the list to another one."""
    task = tasks.order[start]
    for place in range(start + 1, target + 1):
        if comes_after(tables, tasks.order[place], task):
            return False
    is_free = True
    for place in range(target, start):
        is_free = is_free and not comes_after(tables, task, tasks.order[place])
    return is_free


@compiled_in_place
def move_to(tasks: TaskList, start: int, target: int) -> None:
    """Move a task to another place of the list."""
    task = tasks.order[start]
    step = 1 if target > start else -1
    place = start
    while place != target:
        other = tasks.order[place + step]
        tasks.order[place] = other
        tasks.position[other] = place
        place += step
    tasks.order[target] = task
    tasks.position[task] = target


@compiled_in_place
def exchange_places(tasks: TaskList, one: int, other: int) -> None:
    """Let two tasks change their places and CPUs."""
    place, cpu = tasks.position[one], tasks.cpu[one]
    tasks.position[one], tasks.cpu[one] = tasks.position[other], tasks.cpu[other]
    tasks.position[other], tasks.cpu[other] = place, cpu
    tasks.order[tasks.position[one]] = one
    tasks.order[place] = other


@compiled
def run(tables: TimedTables, predecessors: Integers, first: Integers, tasks: TaskList) -> int:
    """Work out when all tasks and CPUs end; return the latest end."""
    cpus = len(tables.starts)
    for cpu in range(cpus):
        tasks.clock[cpu] = 0
        tasks.state[cpu] = tables.starts[cpu]
    for place in range(len(tasks.order)):
        task = tasks.order[place]
        cpu = tasks.cpu[task]
        begin = max(tables.release[task], tasks.clock[cpu])
        for row in range(first[task], first[task + 1]):
            begin = max(begin, tasks.end[predecessors[row]])
        end = begin + tables.switch[tasks.state[cpu], task] + tables.exec[task]
        tasks.end[task] = end
        tasks.clock[cpu] = end
        tasks.state[cpu] = tables.state_of[task]
    latest = 0
    for cpu in range(cpus):
        tasks.clock[cpu] += tables.finish[tasks.state[cpu]]
        latest = max(latest, tasks.clock[cpu])
    return latest


@compiled
def anneal(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    tables: TimedTables,
    predecessors: Integers,
    first: Integers,
    tasks: TaskList,
    best_order: Integers,
    best_cpu: Integers,
    value: Integers,
    temperature: float,
    moves: int,
    seed: int,
) -> None:
    """Try moves; keep the best list in ``best_order`` and ``best_cpu``, its end in ``value``."""
    np.random.seed(seed)
    count = len(tasks.order)
    latest = run(tables, predecessors, first, tasks)
    energy = latest + SHARE_OF_CPUS * tasks.clock.mean() + SHARE_OF_TASKS * tasks.end.mean()
    for _ in range(moves):
        kind = np.random.randint(ALL_KINDS)
        one, other = np.random.randint(count), np.random.randint(count)
        if one == other:
            continue
        start, target = tasks.position[one], tasks.position[other]
        old_cpu, new_cpu = tasks.cpu[one], tasks.cpu[other]
        if kind < BESIDE_KINDS:
            # Behind the other one for kind 0; before it otherwise, for kind 2 on the own CPU.
            if kind == BESIDE_KINDS - 1:
                new_cpu = old_cpu
            if target > start:
                target -= 1
            if kind == 0:
                target += 1
            if new_cpu != old_cpu and tasks.load[new_cpu] + tables.size[one] > tables.room:
                continue
            if (start == target and new_cpu == old_cpu) or not can_move(
                tables, tasks, start, target
            ):
                continue
            move_to(tasks, start, target)
            tasks.cpu[one] = new_cpu
        else:
            if start > target:
                one, other, start, target = other, one, target, start
                old_cpu, new_cpu = new_cpu, old_cpu
            change = tables.size[one] - tables.size[other]
            if old_cpu != new_cpu and (
                tasks.load[new_cpu] + change > tables.room
                or tasks.load[old_cpu] - change > tables.room
            ):
                continue
            # The first may not be awaited on the way, nor may the other one wait there.
            if not can_move(tables, tasks, start, target) or not can_move(
                tables, tasks, target, start
            ):
                continue
            exchange_places(tasks, one, other)
        latest = run(tables, predecessors, first, tasks)
        changed = latest + SHARE_OF_CPUS * tasks.clock.mean() + SHARE_OF_TASKS * tasks.end.mean()
        if changed > energy and np.random.random() >= np.exp((energy - changed) / temperature):
            if kind < BESIDE_KINDS:
                move_to(tasks, target, start)
                tasks.cpu[one] = old_cpu
            else:
                exchange_places(tasks, one, other)
            continue
        energy = changed
        if kind < BESIDE_KINDS:
            tasks.load[old_cpu] -= tables.size[one]
            tasks.load[new_cpu] += tables.size[one]
        elif old_cpu != new_cpu:
            tasks.load[old_cpu] += tables.size[other] - tables.size[one]
            tasks.load[new_cpu] += tables.size[one] - tables.size[other]
        if latest < value[0]:
            value[0] = latest
            best_order[:] = tasks.order
            best_cpu[:] = tasks.cpu
