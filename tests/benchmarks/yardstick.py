"""The yardstick for schedules: best insertion, then annealing for a number of seconds.

It shares the definition of the costs with dfopt, and nothing with its solvers. A move exchanges two
short runs of tasks, or all that follows, of two CPUs or of one; one of both may be empty. Where
tasks wait, a schedule is one order of all tasks with a CPU for each, and a move takes one task
elsewhere. It is compiled, since it stands for what one would write in an afternoon in C.
"""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

import numpy as np
from numba import njit

from dfopt import Instance, Objective, evaluate
from dfopt.costs.cost_table import CostTable
from dfopt.costs.task_types import task_types

ANNEALINGS = (0.04, 0.44, 0.52)
"""Shares of the time: each annealing begins with the best schedule so far."""

HOT, COLD = 0.2, 2e-4
"""First and last temperature, in average deviations of a switch's cost."""

POWER = 4
"""Of what CPUs cost: the sum of powers leads to small maxima."""

MOVES = 2_000
"""Between two looks at the clock."""

NOBODY = -1


class Costs(NamedTuple):
    """What counts of an instance, for single tasks."""

    way: np.ndarray  # of a switch with the execution after it; row = from, column = to
    first: np.ndarray  # row = CPU
    last: np.ndarray
    idle: np.ndarray
    size: np.ndarray
    room: int
    is_total: bool
    release: np.ndarray
    before: np.ndarray  # the predecessors of task j are before[begin[j]:begin[j + 1]]
    begin: np.ndarray


class Rows(NamedTuple):
    """A schedule: the tasks of every CPU, and the cost up to each of them."""

    tasks: np.ndarray
    cost: np.ndarray
    length: np.ndarray
    filled: np.ndarray
    load: np.ndarray


def costs_of(instance: Instance) -> tuple[Costs, list[str]]:
    """Return the costs of single tasks, and their names."""
    types = task_types(instance)
    table = CostTable(instance, types)
    kinds = np.array([kind for kind, one in enumerate(types) for _ in one.names])
    names = [name for one in types for name in one.names]
    numbers = {name: number for number, name in enumerate(names)}
    examples = [types[kind].example for kind in kinds]
    before = [[numbers[name] for name in task.after] for task in examples]
    execution = np.array(table.exec, dtype=np.int32)[kinds]
    return Costs(
        way=np.array(table.switch, dtype=np.int32)[np.ix_(kinds, kinds)] + execution,
        first=np.array(table.start, dtype=np.int32)[:, kinds] + execution,
        last=np.array(table.finish, dtype=np.int32)[kinds],
        idle=np.array(table.idle, dtype=np.int32),
        size=np.array([types[kind].size for kind in kinds]),
        room=instance.room,
        is_total=instance.objective is Objective.TOTAL_PENALTY,
        release=np.array([task.release for task in examples]),
        before=np.array([one for some in before for one in some], dtype=np.int64),
        begin=np.cumsum([0, *map(len, before)]),
    ), names


def empty_rows(costs: Costs) -> Rows:
    """Return a schedule without tasks."""
    cpus, tasks = costs.first.shape
    width = tasks + 3  # a run of three that is exchanged within a row stands there twice meanwhile
    return Rows(
        tasks=np.full((cpus, width), NOBODY, np.int32),
        cost=np.zeros((cpus, width), np.int64),
        length=np.zeros(cpus, np.int64),
        filled=np.zeros(cpus, np.int64),
        load=costs.idle.astype(np.int64),
    )


@njit(cache=True)
def step(costs, cpu, left, right):  # type: ignore[no-untyped-def]
    """Return the cost from one task to the next; nobody is before the first and after the last."""
    if left == NOBODY:
        return costs.idle[cpu] if right == NOBODY else costs.first[cpu, right]
    return costs.last[left] if right == NOBODY else costs.way[left, right]


@njit(cache=True)
def task_at(rows, cpu, place):  # type: ignore[no-untyped-def]
    """Return the task at a place, or nobody."""
    return rows.tasks[cpu, place] if 0 <= place < rows.length[cpu] else NOBODY


@njit(cache=True)
def along(costs, rows, cpu, way, of, begin, end):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    """Return cost and last task of a way on a CPU, with the tasks begin..end of a row after it."""
    if begin == end:
        return way
    inner = rows.cost[of, end - 1] - rows.cost[of, begin]
    first = step(costs, cpu, way[1], rows.tasks[of, begin])
    return way[0] + first + inner, rows.tasks[of, end - 1]


@njit(cache=True)
def up_to(rows, cpu, place):  # type: ignore[no-untyped-def]
    """Return cost and last task of the beginning of a row."""
    return (rows.cost[cpu, place - 1] if place else 0), task_at(rows, cpu, place - 1)


@njit(cache=True)
def load_after(costs, rows, cpu, way, place):  # type: ignore[no-untyped-def]
    """Return what a CPU costs that goes on after this way with its row from a place on."""
    right = task_at(rows, cpu, place)
    rest = 0 if right == NOBODY else rows.load[cpu] - rows.cost[cpu, place]
    return way[0] + step(costs, cpu, way[1], right) + rest


@njit(cache=True)
def measure(costs, rows, cpu):  # type: ignore[no-untyped-def]
    """Work out what a row costs."""
    so_far, filled, left = 0, 0, NOBODY
    for place in range(rows.length[cpu]):
        task = rows.tasks[cpu, place]
        so_far += step(costs, cpu, left, task)
        rows.cost[cpu, place] = so_far
        filled += costs.size[task]
        left = task
    rows.load[cpu] = so_far + step(costs, cpu, left, NOBODY)
    rows.filled[cpu] = filled


@njit(cache=True)
def put(rows, cpu, begin, end, run):  # type: ignore[no-untyped-def]
    """Put a run of tasks in the place of begin..end."""
    rest = rows.tasks[cpu, end : rows.length[cpu]].copy()
    rows.length[cpu] += len(run) - (end - begin)
    rows.tasks[cpu, begin : begin + len(run)] = run
    rows.tasks[cpu, begin + len(run) : rows.length[cpu]] = rest


@njit(cache=True)
def copy(costs, rows, other):  # type: ignore[no-untyped-def]
    """Copy a schedule."""
    for cpu in range(len(rows.load)):
        length = rows.length[cpu]
        other.tasks[cpu, :length] = rows.tasks[cpu, :length]
        other.length[cpu] = length
        measure(costs, other, cpu)


@njit(cache=True)
def value(costs, load):  # type: ignore[no-untyped-def]
    """Return the objective."""
    return load.sum() if costs.is_total else load.max()


@njit(cache=True)
def insert_best(costs, rows, order):  # type: ignore[no-untyped-def]
    """Insert each task where the objective, then the CPU's cost, grows least; say if all fit."""
    for task in order:
        least, cpu, place = np.inf, NOBODY, 0
        most = rows.load.max()
        for one in range(len(rows.load)):
            if rows.filled[one] + costs.size[task] > costs.room:
                continue
            for there in range(rows.length[one] + 1):
                way = up_to(rows, one, there)
                way = (way[0] + step(costs, one, way[1], task), task)
                load = load_after(costs, rows, one, way, there)
                more = load - rows.load[one] + 0.0
                if not costs.is_total:
                    more = 1e6 * max(0, load - most) + load
                if more < least:
                    least, cpu, place = more, one, there
        if cpu == NOBODY:
            return False
        put(rows, cpu, place, place, np.full(1, task, np.int32))
        measure(costs, rows, cpu)
    return True


@njit(cache=True)
def anneal(costs, rows, best, temperature):  # type: ignore[no-untyped-def]  # noqa: PLR0912
    """Make moves at a temperature; keep the best schedule."""
    cpus, least = len(rows.load), value(costs, best.load)
    scale = max(1.0, rows.load.max())
    for _ in range(MOVES):
        a = np.random.randint(cpus)
        b = np.random.randint(cpus) if np.random.random() < 0.8 else a
        i, j = np.random.randint(rows.length[a] + 1), np.random.randint(rows.length[b] + 1)
        if a == b and i > j:
            i, j = j, i
        kind = np.random.randint(10)
        if kind == 0 and a != b:  # all that follows
            i_end, j_end = rows.length[a], rows.length[b]
        else:  # a task, a task for a task, or runs of at most three
            i_end = min(rows.length[a], i + (1 if kind < 7 else np.random.randint(4)))
            second = 0 if kind < 4 else 1 if kind < 7 else np.random.randint(4)
            j_end = min(rows.length[b], j + second)
        if a == b:
            if i_end > j or (i_end == j and j == j_end):
                continue
            way = along(costs, rows, a, up_to(rows, a, i), a, j, j_end)
            way = along(costs, rows, a, way, a, i_end, j)
            load_a = load_after(costs, rows, a, along(costs, rows, a, way, a, i, i_end), j_end)
            load_b = load_a
        else:
            size = costs.size[rows.tasks[a, i:i_end]].sum()
            size -= costs.size[rows.tasks[b, j:j_end]].sum()
            if rows.filled[a] - size > costs.room or rows.filled[b] + size > costs.room:
                continue
            way = along(costs, rows, a, up_to(rows, a, i), b, j, j_end)
            load_a = load_after(costs, rows, a, way, i_end)
            way = along(costs, rows, b, up_to(rows, b, j), a, i, i_end)
            load_b = load_after(costs, rows, b, way, j_end)
        worse = 0.0
        for cpu, load in ((a, load_a), (b, load_b)):
            if costs.is_total:
                worse += load - rows.load[cpu]
            else:
                worse += (load / scale) ** POWER * scale / POWER
                worse -= (rows.load[cpu] / scale) ** POWER * scale / POWER
            if a == b:
                break
        if worse > 0 and np.random.random() >= np.exp(-worse / temperature):
            continue
        run_a, run_b = rows.tasks[a, i:i_end].copy(), rows.tasks[b, j:j_end].copy()
        put(rows, b, j, j_end, run_a)
        put(rows, a, i, i_end, run_b)
        measure(costs, rows, a)
        measure(costs, rows, b)
        if value(costs, rows.load) < least:
            least = value(costs, rows.load)
            copy(costs, rows, best)


class Line(NamedTuple):
    """A schedule of tasks that wait: all tasks in one order, and the CPU of each task."""

    order: np.ndarray
    cpu: np.ndarray
    load: np.ndarray  # when each CPU has finished


@njit(cache=True)
def run(costs, line, load):  # type: ignore[no-untyped-def]
    """Run the tasks in their order as early as possible; note when the CPUs have finished."""
    end = np.zeros(len(line.order), np.int64)
    last = np.full(len(load), NOBODY, np.int32)
    load[:] = 0
    for task in line.order:
        cpu = line.cpu[task]
        ready = max(load[cpu], costs.release[task])
        for number in range(costs.begin[task], costs.begin[task + 1]):
            ready = max(ready, end[costs.before[number]])
        end[task] = load[cpu] = ready + step(costs, cpu, last[cpu], task)
        last[cpu] = task
    for cpu in range(len(load)):
        load[cpu] += step(costs, cpu, last[cpu], NOBODY)


@njit(cache=True)
def dispatch(costs, line, filled):  # type: ignore[no-untyped-def]
    """Append the task and CPU that end first, one after the other; say if all fit."""
    tasks, cpus = len(line.order), len(line.load)
    end = np.full(tasks, NOBODY, np.int64)
    last = np.full(cpus, NOBODY, np.int32)
    for place in range(tasks):
        least, chosen, where = np.iinfo(np.int64).max, NOBODY, 0
        for task in range(tasks):
            ready = costs.release[task] if end[task] == NOBODY else NOBODY
            for number in range(costs.begin[task], costs.begin[task + 1]):
                before = end[costs.before[number]]
                ready = max(ready, before) if NOBODY not in (ready, before) else NOBODY
            if ready == NOBODY:
                continue
            for cpu in range(cpus):
                if filled[cpu] + costs.size[task] <= costs.room:
                    ends = max(ready, line.load[cpu]) + step(costs, cpu, last[cpu], task)
                    if ends < least:
                        least, chosen, where = ends, task, cpu
        if chosen == NOBODY:
            return False
        line.order[place], line.cpu[chosen] = chosen, where
        end[chosen] = line.load[where] = least
        last[where] = chosen
        filled[where] += costs.size[chosen]
    run(costs, line, line.load)
    return True


@njit(cache=True)
def waits_for(costs, task, other):  # type: ignore[no-untyped-def]
    """Return whether the other one is a predecessor."""
    for number in range(costs.begin[task], costs.begin[task + 1]):
        if costs.before[number] == other:
            return True
    return False


@njit(cache=True)
def shift(costs, order, place, by):  # type: ignore[no-untyped-def]
    """Take a task to a later or earlier place, as far as precedence lets it; return where."""
    way = 1 if by > 0 else -1
    for _ in range(abs(by)):
        there = place + way
        if not 0 <= there < len(order):
            break
        early, late = order[min(place, there)], order[max(place, there)]
        if waits_for(costs, late, early):
            break
        order[min(place, there)], order[max(place, there)] = late, early
        place = there
    return place


@njit(cache=True)
def anneal_line(costs, line, best, filled, temperature):  # type: ignore[no-untyped-def]
    """Make moves at a temperature; keep the best schedule."""
    tasks, cpus = len(line.order), len(line.load)
    load = line.load.copy()
    for _ in range(1 + MOVES // tasks):
        place = np.random.randint(tasks)
        task = other = line.order[place]
        here = there = line.cpu[task]
        kind = np.random.randint(3)
        if kind == 0:
            there = np.random.randint(cpus)
        elif kind == 1:
            other = np.random.randint(tasks)
            there = line.cpu[other]
        size = costs.size[task] - (costs.size[other] if kind == 1 else 0)
        if here != there and (
            filled[there] + size > costs.room or filled[here] - size > costs.room
        ):
            continue
        span = tasks if np.random.random() < 0.1 else 1 + 2 * tasks // cpus
        new = shift(costs, line.order, place, np.random.randint(-span, span + 1))
        line.cpu[other], line.cpu[task] = here, there
        run(costs, line, load)
        scale, worse = max(1.0, line.load.max()), 0.0
        for cpu in range(cpus):
            worse += (load[cpu] / scale) ** POWER - (line.load[cpu] / scale) ** POWER
        worse *= scale / POWER
        if worse > 0 and np.random.random() >= np.exp(-worse / temperature):
            line.cpu[other], line.cpu[task] = there, here
            shift(costs, line.order, new, place - new)
            continue
        filled[here] -= size if here != there else 0
        filled[there] += size if here != there else 0
        line.load[:] = load
        if load.max() < best.load.max():
            best.order[:], best.cpu[:], best.load[:] = line.order, line.cpu, load


@njit(cache=True)
def seed_draws(seed):  # type: ignore[no-untyped-def]
    """Seed the draws of compiled functions."""
    np.random.seed(seed)


def annealed(
    instance: Instance, seconds: float, *, seed: int = 0, enough: int = 0
) -> list[tuple[float, int]]:
    """Return when, in seconds of processor time, which objective was found.

    It ends early with an objective that is known to be ``enough``.

    Raises
    ------
    ValueError
        When the tasks do not fit.
    """
    costs, names = costs_of(instance)
    began = process_time()
    seed_draws(seed)
    filled = np.zeros(instance.cpus, np.int64)
    best: Line | Rows
    if instance.is_timed:
        best = Line(
            order=np.zeros(len(names), np.int64),
            cpu=np.zeros(len(names), np.int64),
            load=np.zeros(instance.cpus, np.int64),
        )
        fit = dispatch(costs, best, filled)
    else:
        best = empty_rows(costs)
        order = np.random.default_rng(seed).permutation(len(names))
        fit = insert_best(costs, best, order[np.argsort(-costs.size[order], kind="stable")])
    if not fit:
        raise ValueError("not all tasks fit where insertion has put the others")
    curve = [(process_time() - began, int(value(costs, best.load)))]
    deviation = max(0.1, float(np.abs(costs.way - costs.way.mean(axis=0)).mean()))
    ends = began
    for share in ANNEALINGS:
        begins, ends = ends, ends + share * seconds
        current = type(best)(*(array.copy() for array in best))
        if isinstance(current, Line):
            filled = np.bincount(best.cpu, weights=costs.size, minlength=instance.cpus).astype(int)
        while (now := process_time()) < ends and curve[-1][1] > enough:
            temperature = HOT * (COLD / HOT) ** ((now - begins) / (ends - begins)) * deviation
            if isinstance(current, Line):
                anneal_line(costs, current, best, filled, temperature)
            else:
                anneal(costs, current, best, temperature)
            if (found := int(value(costs, best.load))) < curve[-1][1]:
                curve.append((process_time() - began, found))
    schedule = evaluate(instance, [[names[task] for task in row] for row in rows_of(best)])
    assert schedule.value(instance.objective) == curve[-1][1]
    return curve


def rows_of(schedule: Line | Rows) -> list[np.ndarray]:
    """Return the tasks of each CPU in their order."""
    if isinstance(schedule, Rows):
        return [row[:end] for row, end in zip(schedule.tasks, schedule.length, strict=True)]
    cpu_at = schedule.cpu[schedule.order]
    return [schedule.order[cpu_at == cpu] for cpu in range(len(schedule.load))]
