"""First schedules: fragments kept together where they fit, CPUs filled evenly."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
from heapq import nsmallest

from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.heuristics.contents import Contents, Part, PartCosts, Parts
from dfopt.solvers.search import Search

Packing = list[dict[int, int]]
"""For each CPU how many tasks of each type it holds."""

MOST_CANDIDATES = 8
"""At most 8 CPUs are tried for the next fragment: those that cost least so far."""


def construct(search: Search, costs: PartCosts, random_source: random.Random) -> Iterator[Contents]:
    """Yield schedules for penalties f and g, as contents of the CPUs, where sizes are equal.

    First the fragments in order of falling size, wrapped around the CPUs, which makes the
    fewest parts; then whole where one fits; then both with shuffled fragments.
    """
    fragments: dict[int, dict[int, int]] = {}
    for task_type, equal_tasks in enumerate(search.types):
        fragments.setdefault(costs.form.costs[task_type].fragment, {})[task_type] = (
            equal_tasks.count
        )
    order = sorted(fragments.values(), key=lambda part: -sum(part.values()))
    while True:
        yield Contents(costs, _wrapped(search, order))
        yield _best_fit(search, costs, order)
        order = order.copy()
        random_source.shuffle(order)


def _best_fit(search: Search, costs: PartCosts, order: Sequence[Part]) -> Contents:
    """Return a schedule that puts each fragment where it costs least, split if it fits nowhere."""
    capacity = search.instance.tasks_per_cpu
    contents = Contents(costs, [{} for _ in range(search.instance.cpus)])
    cpus = range(search.instance.cpus)
    for whole in order:
        search.check()
        left = whole
        while left:
            size = sum(left.values())
            part: Part
            fitting = [cpu for cpu in cpus if contents.loads[cpu] + size <= capacity]
            if fitting:
                part = left
                candidates = nsmallest(
                    MOST_CANDIDATES, fitting, key=lambda cpu: contents.costs[cpu]
                )
            else:
                roomiest = min(cpus, key=lambda cpu: (contents.loads[cpu], contents.costs[cpu]))
                part = first_of(left, capacity - contents.loads[roomiest])
                candidates = [roomiest]
            cpu, parts, cost = _least(contents, candidates, part)
            contents.put(cpu, parts, cost, growth=sum(part.values()))
            left = {
                task_type: count - part.get(task_type, 0)
                for task_type, count in left.items()
                if count > part.get(task_type, 0)
            }
    return contents


def _least(contents: Contents, candidates: Sequence[int], part: Part) -> tuple[int, Parts, int]:
    """Return the CPU that costs least with ``part``, its parts then, and what it costs.

    Where nothing of its fragment is, a part makes no CPU cheaper. So CPUs that cost more already
    are left out there.
    """
    best: tuple[tuple[int, int], int, Parts] | None = None
    for cpu in candidates:
        if best and contents.costs[cpu] > best[0][0] and not contents.holds(cpu, part):
            continue
        parts, cost = contents.priced(cpu, {}, part)
        rank = cost, -contents.loads[cpu]
        if best is None or rank < best[0]:
            best = rank, cpu, parts
    assert best is not None, "there is a candidate"
    (cost, _), cpu, parts = best
    return cpu, parts, cost


def _wrapped(search: Search, order: Sequence[Part]) -> Packing:
    """Return contents by McNaughton's wrap-around rule: each CPU is filled to an even share."""
    instance = search.instance
    share = min(instance.tasks_per_cpu, -(-instance.task_count // instance.cpus))
    held: Packing = [{} for _ in range(instance.cpus)]
    cpu, room = 0, share
    for part in order:
        for task_type, count in part.items():
            left = count
            while left:
                if not room:
                    cpu, room = cpu + 1, share
                taken = min(left, room)
                held[cpu][task_type] = held[cpu].get(task_type, 0) + taken
                left -= taken
                room -= taken
    return held


def first_of(part: Part, wanted: int) -> Part:
    """Return the first ``wanted`` tasks of ``part``."""
    chosen = {}
    for task_type, count in part.items():
        taken = min(count, wanted)
        if taken:
            chosen[task_type] = taken
        wanted -= taken
    return chosen


def fragments_of(search: Search) -> list[list[int]]:
    """Return the types of tasks of each fragment, or of each type under a matrix."""
    groups: dict[str | None, list[int]] = {}
    is_matrix = isinstance(search.instance.penalty, PenaltyMatrix)
    for number, task_type in enumerate(search.types):
        task = task_type.example
        groups.setdefault(task.type if is_matrix else task.df, []).append(number)
    return list(groups.values())


def orders_of(search: Search, packing: Packing) -> list[list[int]]:
    """Return orders of task types in which each CPU runs what it holds."""
    instance, types = search.instance, search.types
    if not isinstance(instance.penalty, PenaltyMatrix) and not instance.is_timed:
        return [search.form.order(cpu, held) for cpu, held in enumerate(packing)]
    # One sequence for all CPUs, so that no tasks wait for each other for ever. Under precedence
    # every entry of the instance is a type of its own.
    waits = {task.id: task.after for task in instance.tasks} if instance.has_precedence else {}
    rank = {name: place for place, name in enumerate(TopologicalSorter(waits).static_order())}
    sequence = sorted(range(len(types)), key=lambda number: rank.get(types[number].example.id, 0))
    return [[number for number in sequence for _ in range(held.get(number, 0))] for held in packing]


def any_orders(search: Search) -> list[list[int]]:
    """Return any orders of task types, where sizes are equal.

    It asks for no time, so that a search that ends at once still has a schedule.
    """
    groups = [
        {number: search.types[number].count for number in group} for group in fragments_of(search)
    ]
    return orders_of(search, _wrapped(search, groups))
