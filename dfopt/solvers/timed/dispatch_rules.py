"""First schedules by list scheduling: tasks are dispatched one after the other by a score.

A low score is good: the switch to the task can begin early, it costs little because the CPU has the
task's fragment in its cache, and a long chain of tasks waits for the task.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from dfopt.solvers.search import Search
from dfopt.solvers.timed.annealing import predecessor_rows
from dfopt.solvers.timed.tables import TimedTables, members_of

AFFINITIES = (0.0, 1.0, 2.0)
"""What a unit of switch cost counts beside a unit of time."""

URGENCIES = (0.0, 0.3, 1.0)
"""What a unit of the chain behind a task counts."""

MOST_STEPS = 2_000_000
"""Dispatching stops to be quick at this number of pairs of tasks and CPUs, a second or so."""


def dispatch_by_rules(search: Search, tables: TimedTables) -> None:
    """Report a schedule for each weight of affinity and urgency, or for fewer of many tasks."""
    rules = list(product(AFFINITIES, URGENCIES))
    steps = len(tables.exec) ** 2 * len(tables.starts)
    for affinity, urgency in rules[:: max(1, steps * len(rules) // MOST_STEPS)]:
        orders = _dispatched(tables, affinity, urgency, search.check)
        if orders is not None:
            search.found(orders)


def _dispatched(
    tables: TimedTables, affinity: float, urgency: float, check: Callable[[], None]
) -> list[list[int]] | None:
    """Return the orders of the CPUs as types; None if some task finds no room."""
    predecessors, first = predecessor_rows(tables)
    switch, state_of = tables.switch.tolist(), tables.state_of.tolist()
    exec_times, release = tables.exec.tolist(), tables.release.tolist()
    chain = (tables.exec + tables.tail).tolist()
    sizes, types = tables.size.tolist(), tables.types.tolist()
    cpus = range(len(tables.starts))
    before = [members_of(tables.earlier[task]) for task in range(len(types))]
    waits_for = [
        set(predecessors[first[task] : first[task + 1]].tolist()) for task in range(len(types))
    ]
    states, clocks = tables.starts.tolist(), [0 for _ in cpus]
    loads, orders = [0 for _ in cpus], [[] for _ in cpus]  # type: tuple[list[int], list[list[int]]]
    ends: dict[int, int] = {}
    ready: dict[int, int] = {}
    left = set(range(len(types)))
    while left:
        check()
        for task in left:
            if task not in ready and ends.keys() >= before[task]:
                times = [ends[other] for other in waits_for[task]]
                ready[task] = max([release[task], *times])
        best: tuple[float, int, int, int] | None = None
        for task, cpu in product(ready, cpus):
            if loads[cpu] + sizes[task] > tables.room:
                continue
            begin = max(ready[task], clocks[cpu])
            cost = switch[states[cpu]][task]
            score = begin + affinity * cost - urgency * chain[task]
            # Of equal scores, on a CPU that was free late, which leaves the other ones free.
            candidate = (score, -clocks[cpu], task, cpu)
            if best is None or candidate < best:
                best = candidate
        if best is None:
            return None
        *_, task, cpu = best
        clocks[cpu] = max(ready.pop(task), clocks[cpu]) + switch[states[cpu]][task]
        clocks[cpu] += exec_times[task]
        ends[task] = clocks[cpu]
        states[cpu] = state_of[task]
        loads[cpu] += sizes[task]
        orders[cpu].append(types[task])
        left.remove(task)
    return orders
