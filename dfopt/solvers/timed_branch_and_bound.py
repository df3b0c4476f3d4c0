"""Branch and bound for tiny instances with releases or precedence, without any heavy package.

Schedules are built in the order in which the switches to their tasks begin. A partial schedule
is dropped when no completion can beat the best schedule, or when another one with the same
tasks done and the same last tasks is nowhere later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TypeVar

from dfopt.problem.certificate import CompleteSearch
from dfopt.solvers.search import Search

T = TypeVar("T")

NO_TASK = -1
"""The last task of a CPU that has no task yet."""


@dataclass(frozen=True, slots=True)
class Partial:
    """The first tasks of a schedule.

    Parameters
    ----------
    left
        Number of tasks of each type that are still to run.
    orders
        The types that each CPU has run.
    clocks
        When each CPU is free again.
    ends
        When the last finished task of each type ended.
    latest_start
        When the switch to the task that was added last began.
    """

    left: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]
    clocks: tuple[int, ...]
    ends: tuple[int, ...]
    latest_start: int


class BranchAndBound:
    """A search that gives up after a number of partial schedules.

    Parameters
    ----------
    search
        The instance, under makespan; only schedules better than its best one are looked for.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.instance = search.instance
        self.table = search.costs
        type_of = {
            equal_tasks.example.id: task_type for task_type, equal_tasks in enumerate(search.types)
        }
        tasks = [equal_tasks.example for equal_tasks in search.types]
        self.releases = [task.release for task in tasks]
        self.before = [[type_of[name] for name in task.after] for task in tasks]
        graph = dict(enumerate(self.before))
        self.topological = list(TopologicalSorter(graph).static_order())
        self.arrival = [
            min(
                row[task_type]
                for before, row in enumerate([*self.table.switch, *self.table.start])
                # A task cannot follow itself, only another task of its type.
                if before != task_type or search.types[task_type].count > 1
            )
            for task_type in range(len(tasks))
        ]
        self.seen: defaultdict[object, list[tuple[int, ...]]] = defaultdict(list)

    def run(self, most_nodes: int) -> bool:
        """Return whether the search was completed, and so the best schedule is optimal."""
        cpus = self.instance.cpus
        root = Partial(
            left=tuple(equal_tasks.count for equal_tasks in self.search.types),
            orders=((),) * cpus,
            clocks=(0,) * cpus,
            ends=(0,) * len(self.search.types),
            latest_start=0,
        )
        stack = [root]
        for node in range(most_nodes):
            if not stack:
                optimum = self.search.objective
                assert optimum is not None
                certificate = CompleteSearch(threshold=optimum - 1, solver="branch-and-bound")
                self.search.proved(optimum, certificate)
                return True
            if node % 256 == 0:
                self.search.check()
            partial = stack.pop()
            if self._is_hopeless(partial):
                continue
            if not any(partial.left):
                self.search.found(partial.orders)
                continue
            # Depth first; of the children the one that ends first comes first.
            stack += sorted(self._longer(partial), key=lambda longer: -sum(longer.clocks))
        return False

    def _is_hopeless(self, partial: Partial) -> bool:
        objective = self.search.objective
        return objective is not None and (
            self._bound(partial) >= objective or self._is_dominated(partial)
        )

    def _bound(self, partial: Partial) -> int:
        """Return the earliest possible end: of a chain, of the busy CPUs, of all work shared."""
        earliest = min(partial.clocks)
        ends = list(partial.ends)
        work = sum(partial.clocks)
        for task_type in self.topological:
            if not partial.left[task_type]:
                continue
            ready = max(
                [
                    self.releases[task_type],
                    earliest,
                    *(ends[predecessor] for predecessor in self.before[task_type]),
                ]
            )
            length = self.arrival[task_type] + self.table.exec[task_type]
            ends[task_type] = max(ends[task_type], ready + length)
            work += partial.left[task_type] * length
        finished = (
            clock + (0 if any(partial.left) else self._after(cpu, order))
            for cpu, (clock, order) in enumerate(zip(partial.clocks, partial.orders, strict=True))
        )
        return max(*ends, *finished, -(-work // self.instance.cpus))

    def _after(self, cpu: int, order: tuple[int, ...]) -> int:
        """Return the cost of a CPU's end."""
        return self.table.finish[order[-1]] if order else self.table.idle[cpu]

    def _is_dominated(self, partial: Partial) -> bool:
        lasts = tuple(order[-1] if order else NO_TASK for order in partial.orders)
        loads = tuple(self.search.size_of(order) for order in partial.orders)
        times = (*partial.clocks, *partial.ends, partial.latest_start)
        others = self.seen[partial.left, lasts, loads]
        if any(all(a <= b for a, b in zip(other, times, strict=True)) for other in others):
            return True
        others.append(times)
        return False

    def _longer(self, partial: Partial) -> Iterator[Partial]:
        """Yield the partial schedules with one task more."""
        room = self.instance.room
        for task_type, left in enumerate(partial.left):
            if not left or any(partial.left[before] for before in self.before[task_type]):
                continue
            ready = max(
                [
                    self.releases[task_type],
                    *(partial.ends[before] for before in self.before[task_type]),
                ]
            )
            idle_groups = set()
            for cpu, order in enumerate(partial.orders):
                if self.search.size_of((*order, task_type)) > room:
                    continue
                if not order:
                    group = self.search.cpu_groups[cpu]
                    if group in idle_groups:
                        continue
                    idle_groups.add(group)
                start = max(ready, partial.clocks[cpu])
                if start < partial.latest_start:
                    continue
                switch = (
                    self.table.switch[order[-1]][task_type]
                    if order
                    else self.table.start[cpu][task_type]
                )
                end = start + switch + self.table.exec[task_type]
                yield Partial(
                    left=_replaced(partial.left, task_type, left - 1),
                    orders=_replaced(partial.orders, cpu, (*order, task_type)),
                    clocks=_replaced(partial.clocks, cpu, end),
                    ends=_replaced(partial.ends, task_type, max(end, partial.ends[task_type])),
                    latest_start=start,
                )


def _replaced(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    return (*values[:place], value, *values[place + 1 :])
