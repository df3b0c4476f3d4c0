"""Local search for tasks that wait: simulated annealing over lists of tasks.

A list holds all tasks, each after those that it waits for, with a CPU for each; every CPU runs its
tasks in the order of the list, as early as it can. A move puts a task beside another one, on the
CPU of that one or on its own, or lets two tasks change places (Kirkpatrick, Gelatt and Vecchi
1983). Putting tasks beside tasks of their fragment is what saves switches.
"""

from __future__ import annotations

import threading

import numpy as np

from dfopt.native.library import Rows
from dfopt.native.waiting import DISPATCH, ListAnnealing
from dfopt.solvers.search import Search
from dfopt.solvers.timed.tables import TimedTables

MOVES_PER_TASK = 10_000
"""Moves of a long walk for each task."""

SHORTER, GROWTH = 625, 5
"""The first walk is 625 times shorter than a long one, each later one five times longer."""

STEPS_PER_CHUNK = 4_000_000
"""Between two looks at the clock at most about this number of tasks are put in their places."""

LEAST_CHUNKS = 20
"""A walk cools down in at least 20 steps."""

HOT, MILD, COLD = 0.8, 0.25, 0.03
"""Temperatures at which a walk begins and ends, as shares of a task's average time with its switch.

A mild walk finds its way back to the schedule that it began with, or to one that is like it.
"""

FEW_TASKS = 5
"""With n > 5 tasks temperatures are 5/n of that, since a move changes averages over n tasks."""


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
        self._tasks = tables.in_core()
        self._random = np.random.default_rng(search.seed)
        self._longest = MOVES_PER_TASK * len(tables.tasks)
        time = float((tables.tasks["exec"] + tables.switch.mean(axis=0)).mean())
        self._scale = max(1.0, time) * min(1.0, FEW_TASKS / len(tables.tasks))
        self._last: Rows | None = None

    def run(self, effort: float = 1.0) -> None:
        """Walk for longer and longer, up to a long walk; ``effort`` scales their lengths."""
        self.search.enter("annealing of waiting tasks")
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
            Ends the walk. Without it the clock does, too.
        hot
            The first temperature.
        onward
            Whether to begin with the best schedule of the walk before, not with that of the search.
        """
        search, tables = self.search, self.tables
        start = self._last if onward and self._last is not None else self.task_list()
        seed = self._random.integers(1, 1 << 64, dtype=np.uint64)
        walk = ListAnnealing(self._tasks, start, int(seed))
        done = 0
        chunk = max(1, min(moves // LEAST_CHUNKS, STEPS_PER_CHUNK // len(tables.tasks)))
        time_left = search.time_left
        while done < moves and not (halt is not None and halt.is_set()):
            cooled = max(done / moves, search.over_of(time_left))
            tried = min(chunk, moves - done)
            end = walk.walk(tried, hot * (COLD / hot) ** cooled * self._scale)
            done += tried
            if search.objective is None or end < search.objective:
                search.found(tables.orders(walk.best()))
            if halt is None:
                search.check()
        self._last = walk.best()

    def task_list(self) -> Rows:
        """Return the best schedule as rows ``DISPATCH``, by the starts of its tasks."""
        schedule, search = self.search.schedule, self.search
        assert schedule is not None
        type_of = {
            name: number for number, equal in enumerate(search.types) for name in equal.names
        }
        copies: dict[int, list[int]] = {}
        for task in range(len(self.tables.types) - 1, -1, -1):
            copies.setdefault(int(self.tables.types[task]), []).append(task)
        # In one instant a task comes after those that it waits for.
        starts = sorted(
            (start, self.tables.depth[copies[type_of[name]][0]], place, cpu, type_of[name])
            for cpu, row in enumerate(schedule.cpus)
            for place, (name, start) in enumerate(zip(row.tasks, row.starts or (), strict=True))
        )
        dispatches = [(cpu, copies[task_type].pop()) for *_, cpu, task_type in starts]
        return np.array(dispatches, DISPATCH)
