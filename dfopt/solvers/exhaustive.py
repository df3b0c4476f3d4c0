"""The optimum of tiny instances, from the definition of the switch costs alone.

Nothing here uses the theorem on best orders, so that other solvers can be held against it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from operator import add

from dfopt.errors import MethodError
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Instance, Objective
from dfopt.solvers.search import Search

_log = logging.getLogger(__name__)

LARGEST_TASK_COUNT = 12
LARGEST_TASK_COUNT_WITH_PRECEDENCE = 8


def solve_exhaustively(search: Search) -> None:
    """Find and prove the optimum by trying everything.

    Without precedence: the cheapest order of every subset of tasks (a path per subset and last
    task), then the best way to deal subsets to the CPUs, 3^n steps a CPU. With precedence CPUs
    wait for each other, so all orders on all CPUs are enumerated.

    Raises
    ------
    MethodError
        When the instance has more tasks than can be tried.
    """
    instance = search.instance
    most = LARGEST_TASK_COUNT_WITH_PRECEDENCE if instance.has_precedence else LARGEST_TASK_COUNT
    if instance.task_count > most:
        raise MethodError(
            f"'exhaustive' is for at most {most} tasks of this kind, and there are "
            f"{instance.task_count}; use the method 'auto'",
            place="tasks",
        )
    optimum = _enumerate_orders(search) if instance.has_precedence else _deal_subsets(search)
    search.proved(optimum, CompleteSearch(threshold=optimum - 1, solver="exhaustive"))


def _deal_subsets(search: Search) -> int:
    type_of = [index for index, task_type in enumerate(search.types) for _ in task_type.names]
    everything = (1 << len(type_of)) - 1
    # For every CPU the cheapest order of every subset it can hold.
    paths = {
        group: _cheapest_paths(search, group, type_of) for group in sorted(set(search.cpu_groups))
    }
    reachable: dict[int, tuple[int, int]] = {0: (0, 0)}
    layers: list[dict[int, tuple[int, int]]] = []
    for group in search.cpu_groups:
        search.check()
        reachable = _dealt(search.instance.objective, reachable, paths[group], everything)
        _log.debug("after CPU %d: %d sets of tasks reached", len(layers), len(reachable))
        layers.append(reachable)
    optimum = layers[-1][everything][0]
    orders = []
    left = everything
    for group, layer in zip(reversed(search.cpu_groups), reversed(layers), strict=True):
        subset = layer[left][1]
        orders.append(_traced_path(paths[group], subset, type_of))
        left ^= subset
    search.found(orders[::-1])
    return optimum


Paths = dict[int, tuple[int, int, dict[int, tuple[int, int]]]]
"""For each subset: its cost, its last task, and for each last task (cost so far, task before)."""


def _cheapest_paths(search: Search, cpu: int, type_of: Sequence[int]) -> Paths:
    """Return the cheapest order of every subset within the capacity, waits for release counted.

    Ending earlier is never worse for what follows on the same CPU, so one number per subset
    and last task is enough.
    """
    table = search.costs
    releases = [search.types[task_type].example.release for task_type in type_of]
    paths: Paths = {0: (table.idle[cpu], -1, {})}
    room = search.instance.room
    for subset in range(1, 1 << len(type_of)):
        if search.size_of(type_of[task] for task in _members(subset)) > room:
            continue
        if subset % 256 == 0:
            search.check()
        ends: dict[int, tuple[int, int]] = {}
        for last in _members(subset):
            rest = subset & ~(1 << last)
            if rest:
                cost, before = min(
                    (
                        max(so_far, releases[last]) + table.switch[type_of[before]][type_of[last]],
                        before,
                    )
                    for before, (so_far, _) in paths[rest][2].items()
                )
            else:
                cost, before = releases[last] + table.start[cpu][type_of[last]], -1
            ends[last] = (cost + table.exec[type_of[last]], before)
        cost, last = min(
            (so_far + table.finish[type_of[task]], task) for task, (so_far, _) in ends.items()
        )
        paths[subset] = (cost, last, ends)
    return paths


def _dealt(
    objective: Objective, reachable: dict[int, tuple[int, int]], paths: Paths, everything: int
) -> dict[int, tuple[int, int]]:
    """Give one more CPU every subset of what the CPUs before it left."""
    dealt: dict[int, tuple[int, int]] = {}
    combine: Callable[[int, int], int] = add if objective is Objective.TOTAL_PENALTY else max
    for before, (value, _) in reachable.items():
        left = everything & ~before
        subset = left
        while True:
            if subset in paths:
                combined = combine(value, paths[subset][0])
                after = before | subset
                if after not in dealt or combined < dealt[after][0]:
                    dealt[after] = (combined, subset)
            if not subset:
                break
            subset = (subset - 1) & left
    return dealt


def _traced_path(paths: Paths, subset: int, type_of: Sequence[int]) -> list[int]:
    order = []
    last = paths[subset][1]
    while subset:
        order.append(type_of[last])
        before = paths[subset][2][last][1]
        subset &= ~(1 << last)
        last = before
    return order[::-1]


def _members(subset: int) -> Iterator[int]:
    while subset:
        lowest = subset & -subset
        yield lowest.bit_length() - 1
        subset ^= lowest


def _enumerate_orders(search: Search) -> int:
    """Try all orders on all CPUs; schedules are built in the order in which tasks start."""
    instance = search.instance
    optimum = math.inf
    steps = 0

    def extend(state: _Partial) -> None:
        nonlocal optimum, steps
        steps += 1
        if steps % 256 == 0:
            search.check()
        if not any(state.left):
            value = max(state.finished(search), default=0)
            if value < optimum:
                optimum = value
                search.found(state.orders)
            return
        for following in state.successors(instance, search):
            extend(following)

    extend(_Partial.empty(search))
    _log.debug("%d partial schedules", steps)
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
