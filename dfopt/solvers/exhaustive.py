"""The optimum of tiny instances, from the definition of the switch costs alone.

Nothing here uses the theorem on best orders, so that other solvers can be held against it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from operator import add

from dfopt.errors import MethodError
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Objective
from dfopt.solvers.heuristics.constructive import any_orders
from dfopt.solvers.search import Search

_log = logging.getLogger(__name__)

LARGEST_TASK_COUNT = 12
LARGEST_TASK_COUNT_WITH_PRECEDENCE = 8


def solve_exhaustively(search: Search) -> None:
    """Find and prove the optimum by trying everything.

    Without precedence: the cheapest order of every subset of tasks (a path per subset and last
    task), then the best way to deal subsets to the CPUs, 3^n steps a CPU. With precedence CPUs
    wait for each other, so all orders of their starts are tried.

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
    optimum = _try_dispatches(search) if instance.has_precedence else _deal_subsets(search)
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


def _try_dispatches(search: Search) -> int:
    """Try all orders in which tasks that wait for each other can start, layer by layer."""
    from dfopt.solvers.timed.solve import MOST_ROWS, search_layers
    from dfopt.solvers.timed.tables import timed_tables

    if search.schedule is None:
        search.found(any_orders(search))
    assert search.objective is not None
    tables = timed_tables(search)
    optimum, is_complete = search_layers(search, tables, search.objective, MOST_ROWS)
    assert is_complete, "so few tasks have few partial schedules"
    return optimum
