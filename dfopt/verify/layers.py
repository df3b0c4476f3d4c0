"""Tries all ways to dispatch tasks that wait for a release or for each other.

Tasks are dispatched in the order in which the switches to them begin. So all that counts of a
partial schedule is which tasks are done, and for each CPU its last task, the size of its tasks
and when it is free. Of two that agree in all but times, one that is nowhere later makes the other
one superfluous. A partial schedule is given up when the work that is left cannot end in time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import MethodError
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance
from dfopt.verify.energy import heads_and_tails

MOST_STEPS = 80_000_000
"""At most this number of steps, which take some seconds.

There is one for each task that is left, of each partial schedule with one more task on some CPU.
"""

ROWS_AT_ONCE = 50_000
"""About this number of partial schedules come of those that are extended at once."""

MOST_TASKS = 62
"""A set of tasks is an integer of 64 bits."""

COMPARED = 24
"""A partial schedule is compared with this number of others that agree with it."""

TOO_LARGE = "the instance has too many schedules to enumerate them"

NOTHING = -1

Integers = NDArray[np.int64]


@dataclass(slots=True)
class DispatchedRows:
    """Partial schedules, one in each row.

    Parameters
    ----------
    done
        The tasks that are dispatched, a bit for each.
    floor
        No further switch begins earlier.
    state, awaited, load, free
        For each CPU a line: what its next switch depends on; its last task if another one
        waits for that, otherwise -1; the size of its tasks; when it is free.
    """

    done: Integers
    floor: Integers
    state: Integers
    awaited: Integers
    load: Integers
    free: Integers

    def rows(self, chosen: Any) -> Self:
        """Return some rows."""
        return type(self)(*(getattr(self, column.name)[..., chosen] for column in fields(self)))

    @classmethod
    def joined(cls, parts: list[DispatchedRows]) -> DispatchedRows:
        """Return the rows of all parts."""
        return cls(
            *(
                np.concatenate([getattr(part, column.name) for part in parts], axis=-1)
                for column in fields(cls)
            )
        )


class Dispatching:
    """A timed instance, and a bound that schedules shall be below."""

    def __init__(self, instance: Instance, bound: int, check: Callable[[], None]) -> None:
        self.check = check
        self.tasks = [task for task in instance.tasks for _ in range(task.multiplicity)]
        if len(self.tasks) > MOST_TASKS:
            raise MethodError(TOO_LARGE)
        self.room = min(instance.room, instance.total_size)
        self.sizes = [instance.size_of(task) for task in self.tasks]
        count = len(self.tasks)
        self.exec = np.array([task.exec for task in self.tasks], dtype=np.int64)
        self.release = np.array([task.release for task in self.tasks], dtype=np.int64)
        costs = CostTable(instance, self.tasks)
        # The states of CPUs: rows of costs of a switch to each task, and the cost of the end.
        rows: dict[tuple[int, ...], int] = {}
        self.state_of = np.array(
            [
                rows.setdefault((*row, end), len(rows))
                for row, end in zip(costs.switch, costs.finish, strict=True)
            ]
        )
        starts = [(*row, end) for row, end in zip(costs.start, costs.idle, strict=True)]
        # The state of a CPU that has run nothing is never that of another one.
        numbers = {row: len(rows) + place for place, row in enumerate(dict.fromkeys(starts))}
        self.starts = np.array(sorted(numbers[row] for row in starts))
        table = np.array([*rows, *numbers], dtype=np.int64)
        self.switch, self.finish = table[:, :count], table[:, count]
        # No schedule in which nothing waits needlessly ends later than this.
        latest = int(self.release.max()) + sum(map(int, self.exec)) + int(self.finish.max())
        latest += sum(map(int, self.switch.max(axis=0)))
        self.bound = min(bound, latest + 1)
        if latest * (instance.cpus + 2) > LARGEST_TOTAL:
            raise MethodError("the times are too large to add them up in 64 bits")
        names = [task.id for task in self.tasks]
        self.before = [
            sum(1 << other for other, name in enumerate(names) if name in task.after)
            for task in self.tasks
        ]
        self.after = np.array(
            [
                sum(1 << other for other, before in enumerate(self.before) if before >> task & 1)
                for task in range(count)
            ],
            dtype=np.int64,
        )
        # Copies of a task are dispatched one after the other.
        self.needed = [
            before + sum(1 << other for other in range(task) if names[other] == names[task])
            for task, before in enumerate(self.before)
        ]
        self.length, self.head, self.tail = heads_and_tails(instance)

    def has_schedule(self) -> bool:
        """Return whether there is a schedule below the bound."""
        cpus = len(self.starts)
        states = DispatchedRows(
            done=np.zeros(1, dtype=np.int64),
            floor=np.zeros(1, dtype=np.int64),
            state=self.starts.reshape(cpus, 1),
            awaited=np.full((cpus, 1), NOTHING),
            load=np.zeros((cpus, 1), dtype=np.int64),
            free=np.zeros((cpus, 1), dtype=np.int64),
        )
        steps = 0
        each = len(self.tasks) * cpus
        at_once = max(1, ROWS_AT_ONCE // each)
        for _ in self.tasks:
            steps += len(states.done) * each * len(self.tasks)
            if steps > MOST_STEPS:
                raise MethodError(TOO_LARGE)
            parts = []
            for first in range(0, len(states.done), at_once):
                rows = states.rows(slice(first, first + at_once))
                # Bounds take the longest, so that they come last.
                rows = without_superfluous(self._following(rows), len(self.switch))
                parts.append(rows.rows(self._bounds(rows) < self.bound))
            states = without_superfluous(DispatchedRows.joined(parts), len(self.switch))
            if not len(states.done):
                return False
        ends = states.free + self.finish[states.state]
        return bool((ends.max(axis=0) < self.bound).any())

    def _following(self, states: DispatchedRows) -> DispatchedRows:
        """Return what can come of one more task."""
        parts = [states.rows(slice(0, 0))]
        for task in range(len(self.tasks)):
            self.check()
            ready = self._is_ready(states, task)
            for cpu in range(len(self.starts)):
                chosen = ready & (states.load[cpu] + self.sizes[task] <= self.room)
                rows = states.rows(chosen)
                begin = np.maximum(self._ready_at(rows, task), rows.free[cpu])
                in_order = begin >= rows.floor
                rows, begin = rows.rows(in_order), begin[in_order]
                rows.free[cpu] = begin + self.switch[rows.state[cpu], task] + self.exec[task]
                rows.state[cpu] = self.state_of[task]
                rows.awaited[cpu] = task
                rows.load[cpu] += self.sizes[task]
                rows.done |= 1 << task
                rows.floor = begin
                parts.append(rows.rows(rows.free[cpu] < self.bound))
        return self._settled(DispatchedRows.joined(parts))

    def _is_ready(self, rows: DispatchedRows, task: int) -> NDArray[np.bool_]:
        """Return whether a task can be dispatched next."""
        needed = self.needed[task]
        ready: NDArray[np.bool_] = (rows.done & (needed | 1 << task)) == needed
        return ready

    def _ready_at(self, rows: DispatchedRows, task: int) -> Integers:
        """Return from when the switch to a task can begin on any CPU."""
        waits = (self.before[task] >> np.maximum(rows.awaited, 0)) & (rows.awaited >= 0)
        latest = np.where(waits, rows.free, 0).max(axis=0)
        ready: Integers = np.maximum(latest, self.release[task])
        return ready

    def _settled(self, rows: DispatchedRows) -> DispatchedRows:
        """Return rows with what counts of them for schedules below the bound."""
        waiting = self.after[np.maximum(rows.awaited, 0)] & ~rows.done
        rows.awaited = np.where((rows.awaited >= 0) & (waiting != 0), rows.awaited, NOTHING)
        # An idle CPU waits at least until any task can start.
        far = np.iinfo(np.int64).max
        earliest = np.full(len(rows.done), far)
        free = np.where(rows.load < self.room, rows.free, far).min(axis=0)
        for task in range(len(self.tasks)):
            ready = self._is_ready(rows, task)
            begin = np.maximum(self._ready_at(rows, task), free)
            earliest = np.where(ready, np.minimum(earliest, begin), earliest)
        rows.floor = np.where(earliest < far, np.maximum(rows.floor, earliest), rows.floor)
        idle = rows.floor + self.finish[rows.state] < self.bound
        rows.free = np.where(idle, np.maximum(rows.free, rows.floor), rows.free)
        return rows

    def _bounds(self, rows: DispatchedRows) -> Integers:
        """Return a lower bound on the end of what can come of each row."""
        is_open = rows.load < self.room
        cpus = np.maximum(1, is_open.sum(axis=0))
        far = np.iinfo(np.int64).max
        free = np.where(is_open, rows.free, far).min(axis=0)
        left = [(rows.done >> task & 1) == 0 for task in range(len(self.tasks))]
        bounds: Integers = rows.free.max(axis=0)
        # What has a head of some time or more is run by the open CPUs from then on.
        work = np.zeros(len(rows.done), dtype=np.int64)
        for task in np.argsort(-self.head, kind="stable").tolist():
            work += left[task] * self.length[task]
            start = np.maximum(self.head[task], free)
            begin = np.maximum(start, self._ready_at(rows, task))
            path = begin + self.length[task] + self.tail[task]
            busy = np.where(is_open, np.maximum(0, rows.free - start), 0).sum(axis=0)
            area = start - (-(work + busy) // cpus)
            bounds = np.where(left[task], np.maximum(bounds, np.maximum(path, area)), bounds)
        # What has a tail of some time or more must end that long before the bound.
        work[:] = 0
        for task in np.argsort(-self.tail, kind="stable").tolist():
            work += left[task] * self.length[task]
            limit = self.bound - 1 - self.tail[task]
            room = np.where(is_open, np.maximum(0, limit - rows.free), 0).sum(axis=0)
            bounds = np.where(left[task] & (work > room), self.bound, bounds)
        return bounds


def without_superfluous(rows: DispatchedRows, states: int) -> DispatchedRows:
    """Return the rows that no other row makes superfluous, with their CPUs sorted."""
    key = np.where(rows.awaited >= 0, states + rows.awaited, rows.state)
    places = np.lexsort((rows.free, rows.load, key), axis=0)
    key = np.take_along_axis(key, places, axis=0)
    for column in ("state", "awaited", "load", "free"):
        setattr(rows, column, np.take_along_axis(getattr(rows, column), places, axis=0))
    order = np.lexsort((rows.floor, *rows.free, *rows.load, *key, rows.done))
    rows, key = rows.rows(order), key[:, order]
    superfluous = np.zeros(len(order), dtype=bool)
    for step in range(1, min(COMPARED, len(order) - 1) + 1):
        later = slice(step, None)
        earlier = slice(None, -step)
        alike = (rows.done[later] == rows.done[earlier]) & (key[:, later] == key[:, earlier]).all(
            axis=0
        )
        alike &= (rows.load[:, later] == rows.load[:, earlier]).all(axis=0)
        if not alike.any():
            break
        alike &= (rows.free[:, later] >= rows.free[:, earlier]).all(axis=0)
        # Nothing begins before the floor, nor before a CPU is free.
        least = np.maximum(rows.floor[later], rows.free[:, later].min(axis=0))
        superfluous[later] |= alike & (rows.floor[earlier] <= least)
    return rows.rows(~superfluous)
