"""First schedules by list scheduling: the CPU that is free first takes the task of least score.

A low score is good: the switch to the task can begin early, it costs little because the CPU has the
task's fragment in its cache, and a long chain of tasks waits for the task.
"""

from __future__ import annotations

import numpy as np

from dfopt.solvers.search import Search
from dfopt.solvers.timed.tables import FAR, TimedTables

URGENCY = 0.3
"""What a unit of the chain behind a task counts, beside a unit of time or of switch cost."""


def dispatch_by_score(search: Search, tables: TimedTables) -> None:
    """Report a schedule, unless some task finds no room."""
    tasks, left = tables.tasks, len(tables.tasks)
    chain = URGENCY * (tasks["exec"] + tasks["tail"])
    waits_for = tables.earlier.sum(axis=1)
    ready = np.where(waits_for, FAR, tasks["release"])
    ends = np.zeros(left, dtype=np.int64)
    clocks = np.zeros(len(tables.starts), dtype=np.int64)
    rooms, states = np.full_like(clocks, tables.room), tables.starts.copy()
    orders: list[list[int]] = [[] for _ in clocks]
    while left and clocks.min() < FAR:
        search.check()
        cpu = int(clocks.argmin())
        switch = tables.switch[states[cpu]]
        score = np.maximum(ready, clocks[cpu]) + switch - chain
        score[(ready == FAR) | (tasks["size"] > rooms[cpu])] = np.inf
        task = int(score.argmin())
        if np.isinf(score[task]):
            clocks[cpu] = FAR
            continue
        clocks[cpu] = max(ready[task], clocks[cpu]) + switch[task] + tasks["exec"][task]
        ends[task] = clocks[cpu]
        states[cpu] = tasks["state"][task]
        rooms[cpu] -= tasks["size"][task]
        orders[cpu].append(int(tables.types[task]))
        left -= 1
        ready[task] = FAR
        behind = tables.earlier[:, task]
        waits_for -= behind
        for other in np.flatnonzero(behind & (waits_for == 0)):
            ready[other] = ends[tables.before[other]].max(initial=tasks["release"][other])
    if not left:
        search.found(orders)
