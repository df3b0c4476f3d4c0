"""First schedules for tasks of different sizes: best fit, with fragments kept together or not."""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter

from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.search import Search

SHUFFLES = 20
"""Orders that are drawn at random, after those by size."""

MOST_SHUFFLED = 2_000
"""With more tasks than 2,000, no orders are drawn: each takes too long."""

Packing = list[dict[int, int]]
"""For each CPU how many tasks of each type it holds."""


def packings(search: Search) -> Iterator[Packing]:
    """Yield contents of the CPUs that hold all tasks, those first that cut few fragments."""
    types = search.types

    def size(group: Sequence[int]) -> int:
        return sum(types[number].size * types[number].count for number in group)

    by_size = [
        sorted(group, key=lambda number: -types[number].size)
        for group in sorted(fragments_of(search), key=size, reverse=True)
    ]
    singly = sorted(range(len(types)), key=lambda number: -types[number].size)
    orders = [(by_size, True), (by_size, False), ([[number] for number in singly], False)]
    for order, keeps_whole in orders:
        yield from _packed(search, order, keeps_whole=keeps_whole)
    source = random.Random(search.seed)
    if search.instance.task_count > MOST_SHUFFLED:
        return
    for _ in range(SHUFFLES):
        search.check()
        source.shuffle(by_size)
        yield from _packed(search, by_size, keeps_whole=True)


def fragments_of(search: Search) -> list[list[int]]:
    """Return the types of tasks of each fragment, or of each type under a matrix."""
    groups: dict[str | None, list[int]] = {}
    is_matrix = isinstance(search.instance.penalty, PenaltyMatrix)
    for number, task_type in enumerate(search.types):
        task = task_type.example
        groups.setdefault(task.type if is_matrix else task.df, []).append(number)
    return list(groups.values())


def _packed(search: Search, groups: Sequence[Sequence[int]], *, keeps_whole: bool) -> list[Packing]:
    """Return the packing that puts group after group where it fits best, if all tasks fit."""
    filling = _Filling(search)
    for group in groups:
        left = {number: search.types[number].count for number in group}
        while any(left.values()):
            if not filling.put(left, keeps_whole=keeps_whole):
                return []
    return [filling.held]


class _Filling:
    """CPUs that are filled one task after the other.

    Parameters
    ----------
    search
        The instance.
    """

    def __init__(self, search: Search) -> None:
        self._sizes = [task_type.size for task_type in search.types]
        cpus = range(search.instance.cpus)
        self.held: Packing = [{} for _ in cpus]
        # The CPUs by the room that is left on them.
        self._rooms = [(search.instance.room, cpu) for cpu in cpus]

    def put(self, left: dict[int, int], *, keeps_whole: bool) -> bool:
        """Put some of the tasks that are left on one CPU; return whether that was possible.

        All of them go where they fit best. If they fit nowhere, a CPU with most room takes what
        it can, the first tasks first; or, if they need not be kept whole, the first task goes
        where it fits best.
        """
        total = sum(self._sizes[number] * count for number, count in left.items())
        place = bisect_left(self._rooms, (total, -1))
        if place == len(self._rooms):
            first = next(number for number, count in left.items() if count)
            place = bisect_left(self._rooms, (self._sizes[first], -1))
            if place == len(self._rooms):
                return False
            if keeps_whole:
                place = bisect_left(self._rooms, (self._rooms[-1][0], -1))
        room, cpu = self._rooms.pop(place)
        for number, count in left.items():
            taken = min(count, room // self._sizes[number])
            if taken:
                self.held[cpu][number] = self.held[cpu].get(number, 0) + taken
                left[number] -= taken
                room -= taken * self._sizes[number]
        insort(self._rooms, (room, cpu))
        return True


def orders_of(search: Search, packing: Packing) -> list[list[int]]:
    """Return orders of task types in which each CPU runs what it holds."""
    instance, types = search.instance, search.types
    if isinstance(instance.penalty, PenaltyMatrix) or instance.is_timed:
        rank: dict[str, int] = {}
        if instance.has_precedence:
            # One sequence for all CPUs, so that no tasks wait for each other for ever.
            waits = {task.id: task.after for task in instance.tasks}
            rank = {
                name: place for place, name in enumerate(TopologicalSorter(waits).static_order())
            }
        return [
            [
                number
                for number in sorted(held, key=lambda number: rank.get(types[number].example.id, 0))
                for _ in range(held[number])
            ]
            for held in packing
        ]
    return [search.form.order(cpu, held) for cpu, held in enumerate(packing)]
