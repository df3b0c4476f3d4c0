"""First schedules by list scheduling: tasks are dispatched one after the other by a score.

A low score is good: the switch to the task can begin early, it costs little because the CPU has the
task's fragment in its cache, and a long chain of tasks waits for the task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice, product

import numpy as np

from dfopt.solvers.search import Search
from dfopt.solvers.timed.tables import FAR, Integers, TimedTables

AFFINITIES = (1.0, 2.0, 0.0)
"""What a unit of switch cost counts beside a unit of time."""

URGENCIES = (0.3, 1.0, 0.0)
"""What a unit of the chain behind a task counts."""

MOST_DISPATCHES = 1_500
"""With more dispatches than these for all rules together, fewer rules are tried."""


def dispatch_by_rules(search: Search, tables: TimedTables) -> None:
    """Report a schedule for each weight of affinity and urgency, or for fewer of many tasks."""
    rules = product(AFFINITIES, URGENCIES)
    for affinity, urgency in islice(rules, max(1, MOST_DISPATCHES // len(tables.tasks))):
        orders = _dispatched(tables, affinity, urgency, search.check)
        if orders is not None:
            search.found(orders)


def _dispatched(
    tables: TimedTables, affinity: float, urgency: float, check: Callable[[], None]
) -> list[list[int]] | None:
    """Return the orders of the CPUs as types; None if some task finds no room."""
    count, cpus = len(tables.tasks), len(tables.starts)
    exec_times, sizes = tables.tasks["exec"], tables.tasks["size"]
    waiting = tables.earlier.sum(axis=1).tolist()
    behind = [np.flatnonzero(others).tolist() for others in tables.earlier.T]
    chain = urgency * (exec_times + tables.tasks["tail"])
    clocks, states = np.zeros(cpus, dtype=np.int64), tables.starts.copy()
    rooms = np.full(cpus, tables.room, dtype=np.int64)
    orders: list[list[int]] = [[] for _ in range(cpus)]
    ends, ready = np.zeros(count, dtype=np.int64), np.full(count, FAR, dtype=np.int64)
    # The scores of all pairs, and the best task for each CPU. A dispatch changes those of one CPU.
    scores = np.full((cpus, count), np.inf)
    choice, least = np.full(cpus, count), np.full(cpus, np.inf)
    every_cpu = np.arange(cpus)

    def begin(tasks: list[int]) -> None:
        for task in tasks:
            ready[task] = ends[tables.before[task]].max(initial=tables.tasks["release"][task])
        score(every_cpu, np.array(tasks))
        fresh = np.array(tasks)[scores[:, tasks].argmin(axis=1)]
        value = scores[every_cpu, fresh]
        is_better = (value < least) | ((value == least) & (fresh < choice))
        choice[is_better], least[is_better] = fresh[is_better], value[is_better]

    def score(on: Integers, tasks: Integers) -> None:
        score = np.maximum(ready[tasks], clocks[on][:, None]) - chain[tasks]
        score += affinity * tables.switch[states[on]][:, tasks]
        is_small = sizes[tasks] <= rooms[on][:, None]
        scores[np.ix_(on, tasks)] = np.where(is_small, score, np.inf)

    def choose(on: Iterable[int]) -> None:
        for cpu in on:
            choice[cpu] = scores[cpu].argmin()
            least[cpu] = scores[cpu, choice[cpu]]

    begin([task for task in range(count) if not waiting[task]])
    for _ in range(count):
        check()
        best = np.flatnonzero(least == least.min())
        # Of equal scores, on a CPU that was free late, which leaves the other ones free.
        cpu = int(min(best, key=lambda one: (-clocks[one], choice[one])))
        task = int(choice[cpu])
        if not np.isfinite(least[cpu]):
            return None
        clocks[cpu] = max(ready[task], clocks[cpu]) + tables.switch[states[cpu], task]
        clocks[cpu] += exec_times[task]
        ends[task] = clocks[cpu]
        states[cpu] = tables.tasks["state"][task]
        rooms[cpu] -= sizes[task]
        orders[cpu].append(int(tables.types[task]))
        ready[task] = FAR
        scores[:, task] = np.inf
        score(np.array([cpu]), np.flatnonzero(ready < FAR))
        choose({cpu, *np.flatnonzero(choice == task).tolist()})
        for other in behind[task]:
            waiting[other] -= 1
        fresh = [other for other in behind[task] if not waiting[other]]
        if fresh:
            begin(fresh)
    return orders
