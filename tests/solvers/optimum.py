"""The truth about small instances, and deliberately bad schedules for solvers to start from."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter

from dfopt.problem.instance import Instance
from dfopt.problem.result import Progress, StoppingCriterion
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.search import Search, SearchOver


def optimum(instance: Instance) -> int:
    """Return the optimum by enumeration (which has tests of its own)."""
    search = Search(instance)
    if instance.has_precedence:
        return by_orders(search)
    run(solve_exhaustively, search)
    assert search.objective is not None
    return search.objective


def run(solver: Callable[[Search], None], search: Search) -> None:
    """Let ``solver`` close ``search``."""
    with contextlib.suppress(SearchOver):
        solver(search)
    assert search.is_closed
    assert search.objective == search.lower_bound


def badly_started(
    instance: Instance,
    *,
    stop: StoppingCriterion | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Search:
    """Return a search that knows no bound, and a schedule that deals tasks like cards.

    So a solver has to find and to prove by itself.
    """
    search = Search(instance, stop=stop, on_progress=on_progress)
    kinds = {one.example.id: kind for kind, one in enumerate(search.types)}
    if instance.is_timed:
        graph = {task.id: task.after for task in instance.tasks}
        sequence = [kinds[name] for name in TopologicalSorter(graph).static_order()]
    else:
        sequence = list(range(len(search.types)))
    orders: list[list[int]] = [[] for _ in range(instance.cpus)]
    cards = [kind for kind in sequence for _ in search.types[kind].names]
    for place, kind in enumerate(cards):
        orders[place % instance.cpus].append(kind)
    search.found(orders)
    return search


def by_orders(search: Search) -> int:
    """Return the least makespan of all orders on all CPUs, built in the order of their starts."""
    instance = search.instance
    optimum = math.inf

    def extend(state: _Partial) -> None:
        nonlocal optimum
        if not any(state.left):
            optimum = min(optimum, max(state.finished(search), default=0))
            return
        for following in state.successors(instance, search):
            extend(following)

    extend(_Partial.empty(search))
    return int(optimum)


class _Partial:
    """The first tasks of a schedule, in the order in which their switches begin."""

    def __init__(
        self,
        left: list[int],
        orders: list[list[int]],
        clocks: list[int],
        ends: dict[str, int],
        latest_start: int,
    ) -> None:
        self.left = left
        self.orders = orders
        self.clocks = clocks
        self.ends = ends
        self.latest_start = latest_start

    @classmethod
    def empty(cls, search: Search) -> _Partial:
        cpus = search.instance.cpus
        left = [equal_tasks.count for equal_tasks in search.types]
        return cls(left, [[] for _ in range(cpus)], [0] * cpus, {}, 0)

    def successors(self, instance: Instance, search: Search) -> Iterator[_Partial]:
        unfinished = {
            equal_tasks.example.id
            for equal_tasks, left in zip(search.types, self.left, strict=True)
            if left
        }
        for task_type, left in enumerate(self.left):
            task = search.types[task_type].example
            if not left or unfinished.intersection(task.after):
                continue
            ready = max([task.release, *(self.ends[name] for name in task.after)])
            idle_groups = set()
            for cpu, order in enumerate(self.orders):
                if search.size_of(order) + search.types[task_type].size > instance.room:
                    continue
                if not order:
                    # Of idle CPUs that are alike the first one stands for all.
                    if search.cpu_groups[cpu] in idle_groups:
                        continue
                    idle_groups.add(search.cpu_groups[cpu])
                start = max(self.clocks[cpu], ready)
                if start < self.latest_start:
                    continue
                switch = (
                    search.costs.switch[order[-1]][task_type]
                    if order
                    else search.costs.start[cpu][task_type]
                )
                end = start + switch + task.exec
                yield _Partial(
                    [count - (other == task_type) for other, count in enumerate(self.left)],
                    [[*o, task_type] if other == cpu else o for other, o in enumerate(self.orders)],
                    [end if other == cpu else clock for other, clock in enumerate(self.clocks)],
                    {**self.ends, task.id: max(end, self.ends.get(task.id, 0))},
                    start,
                )

    def finished(self, search: Search) -> list[int]:
        return [
            clock + search.costs.finish[order[-1]] if order else search.costs.idle[cpu]
            for cpu, (clock, order) in enumerate(zip(self.clocks, self.orders, strict=True))
        ]
