"""First schedules: fragments kept together where they fit, CPUs filled evenly."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from heapq import nsmallest
from itertools import islice

from dfopt.costs.closed_form import Part
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.search import Search

Packing = list[dict[int, int]]
"""For each CPU how many tasks of each type it holds."""

MOST_CANDIDATES = 8
"""At most 8 CPUs are tried for the next fragment: those that cost least so far."""


def deal(search: Search) -> None:
    """Report the first two schedules; all later ones would be random."""
    for contents in islice(construct(search), 2):
        search.found(contents.orders())
        search.check()


def construct(search: Search) -> Iterator[Contents]:
    """Yield schedules for penalties f and g, as contents of the CPUs, where sizes are equal.

    First the fragments in order of falling size, wrapped around the CPUs, which makes the
    fewest parts; then whole where one fits; then both with shuffled fragments.
    """
    source = random.Random(search.seed)
    order = sorted(groups_of(search), key=lambda part: -sum(part.values()))
    while True:
        yield Contents(search, _wrapped(search, order))
        yield _best_fit(search, order)
        order = order.copy()
        source.shuffle(order)


def _best_fit(search: Search, order: Sequence[Part]) -> Contents:
    """Return a schedule that puts each fragment where it costs least, split if it fits nowhere."""
    capacity = search.instance.tasks_per_cpu
    contents = Contents(search, [{} for _ in range(search.instance.cpus)])
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
        parts, cost = contents.with_more(cpu, part)
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


def groups_of(search: Search) -> list[dict[int, int]]:
    """Return the tasks of each fragment, or of each type under a matrix."""
    groups: dict[str | None, dict[int, int]] = {}
    is_matrix = isinstance(search.instance.penalty, PenaltyMatrix)
    for number, task_type in enumerate(search.types):
        task = task_type.example
        group = groups.setdefault(task.type if is_matrix else task.df, {})
        group[number] = task_type.count
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
    return orders_of(search, _wrapped(search, groups_of(search)))


Parts = Mapping[int, Part]
"""The tasks that one CPU holds, by fragment."""


class Contents:
    """The tasks that every CPU holds, and the costs of the CPUs.

    Parameters
    ----------
    search
        Of the instance.
    held
        For each CPU how many tasks of each type it holds.
    """

    def __init__(self, search: Search, held: Sequence[Mapping[int, int]]) -> None:
        self._form, self._types = search.form, search.types
        self.loads = [self.size_of(content) for content in held]
        self.parts: list[Parts] = [self._form.parts(content) for content in held]
        self.costs = [self._form.cost_of_parts(cpu, own) for cpu, own in enumerate(self.parts)]

    def orders(self) -> list[list[int]]:
        """Return the cheapest order of every CPU's tasks, as type numbers."""
        held = (
            {task_type: count for part in own.values() for task_type, count in part.items()}
            for own in self.parts
        )
        return [self._form.order(cpu, content) for cpu, content in enumerate(held)]

    def with_more(self, cpu: int, part: Part) -> tuple[Parts, int]:
        """Return the content and cost of ``cpu`` with some tasks of one fragment more."""
        fragment = self._form.costs[next(iter(part))].fragment
        own = Counter(self.parts[cpu].get(fragment, {}))
        own.update(part)
        parts = {**self.parts[cpu], fragment: own}
        return parts, self._form.cost_of_parts(cpu, parts)

    def holds(self, cpu: int, part: Part) -> bool:
        """Return whether a CPU holds something of the fragment of ``part``, perhaps from before."""
        fragment = self._form.costs[next(iter(part))].fragment
        return fragment in self.parts[cpu] or self._form.starts[cpu].free_fragment == fragment

    def size_of(self, tasks: Part) -> int:
        """Return the size of some tasks."""
        return sum(self._types[task_type].size * count for task_type, count in tasks.items())

    def put(self, cpu: int, parts: Parts, cost: int, growth: int) -> None:
        """Let ``cpu`` hold ``parts``, of a size that is larger by ``growth`` than before."""
        self.parts[cpu] = parts
        self.costs[cpu] = cost
        self.loads[cpu] += growth
