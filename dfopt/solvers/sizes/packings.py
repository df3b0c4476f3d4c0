"""Contents of CPUs that hold all tasks: best fit, and CPUs filled as far as possible.

In the second way each CPU begins with the largest task of a fragment. Tasks of the same fragment
fill it as well as any of them can, which is a subset sum; then tasks of the next fragment do, and
so on. This is the minimum bin slack heuristic (Gupta and Ho 1999), one fragment after the other.
"""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dfopt.problem.instance import Objective
from dfopt.solvers.heuristics.constructive import Contents, Packing, groups_of
from dfopt.solvers.search import Search

ATTEMPTS = 20
"""CPUs are filled as far as possible in 20 orders of the fragments."""

MOST_BITS = 100_000_000
"""At most this number of bits are shifted for a CPU: some hundredths of a second."""

REPAIRED = 3
REFILLS = 3_000
"""What is left over in the first 3 attempts is put in by at most this number of refills."""

SAME_FRAGMENT = 0.7
"""Probability that CPUs of one fragment are refilled."""

Item = tuple[int, int]
"""The size of a task and its type."""


def packings(search: Search, attempts: int = ATTEMPTS) -> Iterator[Packing]:
    """Yield contents of the CPUs that hold all tasks, from attempts in different orders.

    What does not fit in the first attempts is put in by refilling some CPUs. After a success the
    next attempt has to do with one CPU less than were used: that often means one visit less.
    """
    instance, types = search.instance, search.types
    yield from _best_fit(search)
    if not can_fill(search):
        return
    fragments = groups_of(search)
    fragment_of = {number: place for place, group in enumerate(fragments) for number in group}
    groups = [
        sorted((types[number].size, number) for number in group for _ in range(group[number]))
        for group in fragments
    ]
    groups.sort(key=sum_of, reverse=True)
    source = random.Random(search.seed)
    cpus, fewest = instance.cpus, -(-instance.total_size // instance.room)
    for attempt in range(attempts):
        search.check()
        if attempt:
            source.shuffle(groups)
        while True:
            held, left = _filled(search, groups, cpus, source if attempt > 1 else None)
            if left and attempt < REPAIRED:
                left = _refilled(search, held, left, fragment_of, source)
            if left:
                break
            used = [own for own in held if own]
            packing: Packing = [Counter(number for _, number in own) for own in used]
            yield packing + [{} for _ in range(instance.cpus - len(used))]
            if len(used) <= fewest or attempt >= REPAIRED:
                break
            cpus = len(used) - 1


def _best_fit(search: Search) -> list[Packing]:
    """Return the packing that puts large tasks first, each where it fits best, if all fit."""
    held: Packing = [{} for _ in range(search.instance.cpus)]
    rooms = [(search.instance.room, cpu) for cpu in range(search.instance.cpus)]
    types = enumerate(search.types)
    for number, task_type in sorted(types, key=lambda item: -item[1].size):
        left = task_type.count
        while left:
            place = bisect_left(rooms, (task_type.size, -1))
            if place == len(rooms):
                return []
            room, cpu = rooms.pop(place)
            held[cpu][number] = taken = min(left, room // task_type.size)
            left -= taken
            insort(rooms, (room - taken * task_type.size, cpu))
    return [held]


def can_fill(search: Search) -> bool:
    """Return whether subset sums of the sizes are found in moments."""
    return search.instance.room * search.instance.task_count <= MOST_BITS


def sum_of(items: Sequence[Item]) -> int:
    """Return the size of some tasks."""
    return sum(size for size, _ in items)


def _filled(
    search: Search, groups: Sequence[Sequence[Item]], cpus: int, source: random.Random | None
) -> tuple[list[list[Item]], list[Item]]:
    """Fill CPUs with fragments in this order; return their tasks, and those left over."""
    left = [list(group) for group in groups]
    held = []
    for _ in range(cpus):
        search.check()
        held.append(filled_cpu([group for group in left if group], search.instance.room, source))
    return held, [item for group in left for item in group]


def filled_cpu(groups: Sequence[list[Item]], room: int, source: random.Random | None) -> list[Item]:
    """Move tasks of these fragments to a CPU, which begins with the largest task of the first."""
    held: list[Item] = []
    if groups and groups[0][-1][0] <= room:
        held.append(groups[0].pop())  # the largest task is the hardest to place
        room -= held[0][0]
    for group in groups:
        if not room:
            break
        for place in sorted(_best_subset(group, room, source), reverse=True):
            held.append(group.pop(place))
            room -= held[-1][0]
    return held


def _refilled(
    search: Search,
    held: list[list[Item]],
    left: list[Item],
    fragment_of: Mapping[int, int],
    source: random.Random,
) -> list[Item]:
    """Empty a few CPUs and fill them anew, again and again; return the tasks still left over.

    A change is kept unless more is left over than before.
    """
    room = search.instance.room
    loads = [sum_of(own) for own in held]
    for step in range(REFILLS):
        if step % 16 == 0:
            search.check()
        if not left:
            break
        source.shuffle(left)
        added = left[: source.randint(1, 3)]
        cpus: Sequence[int] = range(len(held))
        if source.random() < SAME_FRAGMENT:
            # CPUs that hold nothing else than the fragment of a task that is left over.
            fragment = fragment_of[added[0][1]]
            alike = [
                cpu
                for cpu in cpus
                if all(fragment_of[number] == fragment for _, number in held[cpu])
            ]
            cpus = alike or cpus
        gaps = [cpu for cpu in cpus if loads[cpu] < room]
        chosen = source.sample(gaps, min(len(gaps), source.randint(0, 3)))
        chosen = [*{*chosen, *source.sample(cpus, min(len(cpus), 3))}]
        pool = sorted([*added, *(item for cpu in chosen for item in held[cpu])])
        filled = [filled_cpu([pool] if pool else [], room, source) for _ in chosen]
        if sum_of(pool) <= sum_of(added):
            for cpu, own in zip(chosen, filled, strict=True):
                held[cpu], loads[cpu] = own, sum_of(own)
            left = left[len(added) :] + pool
    return left


def _best_subset(items: Sequence[Item], room: int, source: random.Random | None) -> list[int]:
    """Return the places of tasks that fill the room best, large ones preferred."""
    order = [place for place, (size, _) in enumerate(items) if size <= room]
    if source is not None:
        source.shuffle(order)
    # Bit s of sums[i]: the first i tasks have a subset of size s.
    mask = (1 << (room + 1)) - 1
    sums = [1]
    for place in order:
        sums.append((sums[-1] | sums[-1] << items[place][0]) & mask)
    goal = sums[-1].bit_length() - 1
    chosen = []
    for position in range(len(order) - 1, -1, -1):
        size = items[order[position]][0]
        if size <= goal and sums[position] >> (goal - size) & 1:
            chosen.append(order[position])
            goal -= size
    return chosen


STEPS_PER_TASK = 60
MOST_STEPS = 15_000

MOST_CPUS = 5
"""At most 5 CPUs are emptied at a time."""

EXPENSIVE = 0.5
"""Probability that the first emptied CPU is the most expensive one of a few."""

RELATED = 0.8
"""Probability that all emptied CPUs hold a fragment of the first one."""


def refill(search: Search) -> None:
    """Improve the best schedule of an instance with sizes, under f or g without waits."""
    instance = search.instance
    if not can_fill(search) or instance.cpus == 1 or search.schedule is None:
        return
    refilling = _Refilling(search)
    for step in range(min(MOST_STEPS, STEPS_PER_TASK * instance.task_count)):
        if step % 16 == 0:
            search.check()
        refilling.step()


class _Refilling:
    """The contents of the CPUs, which never become more expensive.

    This is a large-neighbourhood search for where there is little room (Shaw 1998): moves of single
    tasks hardly ever fit there. So a few CPUs are emptied and filled anew, fragment after fragment,
    each as far as possible; that is kept if everything fits again and costs no more.

    Parameters
    ----------
    search
        It knows a schedule.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._sizes = [task_type.size for task_type in search.types]
        self._contents = Contents(search, search.contents())
        self._source = random.Random(f"{search.seed}/{len(search.history)}")
        self._adds_up = search.instance.objective is Objective.TOTAL_PENALTY

    def step(self) -> None:
        """Empty some CPUs, fill them anew, and keep that if it costs no more."""
        chosen = self._some_cpus()
        groups: dict[int, list[Item]] = {}
        for cpu in chosen:
            for fragment, part in self._contents.parts[cpu].items():
                items = [
                    (self._sizes[number], number) for number in part for _ in range(part[number])
                ]
                groups.setdefault(fragment, []).extend(items)
        for items in groups.values():
            items.sort()
        order = list(groups.values())
        self._source.shuffle(order)
        self._source.shuffle(chosen)
        held = []
        for _ in chosen:
            left = [group for group in order if group]
            held.append(filled_cpu(left, self._search.instance.room, self._source))
        if any(order):
            return
        contents = [Counter(number for _, number in own) for own in held]
        form = self._search.form
        parts = [form.parts(content) for content in contents]
        after = [form.cost_of_parts(cpu, own) for cpu, own in zip(chosen, parts, strict=True)]
        before = [self._contents.costs[cpu] for cpu in chosen]
        if self._rank(after) > self._rank(before):
            return
        for cpu, content, own, cost in zip(chosen, contents, parts, after, strict=True):
            growth = self._contents.size_of(content) - self._contents.loads[cpu]
            self._contents.put(cpu, own, cost, growth)
        value = sum(self._contents.costs) if self._adds_up else max(self._contents.costs)
        if self._search.objective is None or value < self._search.objective:
            self._search.found(self._contents.orders())

    def _some_cpus(self) -> list[int]:
        """Return CPUs to empty: the first one at random or a most expensive one, then others."""
        source, parts = self._source, self._contents.parts
        cpus = range(len(parts))
        first = source.choice(cpus)
        if source.random() < EXPENSIVE:
            costs = self._contents.costs
            first = max(source.sample(cpus, min(4, len(cpus))), key=costs.__getitem__)
        others: Sequence[int] = [cpu for cpu in cpus if cpu != first]
        if source.random() < RELATED:
            others = [cpu for cpu in others if parts[cpu].keys() & parts[first].keys()] or others
        number = source.randint(1, MOST_CPUS - 1)
        return [first, *source.sample(others, min(number, len(others)))]

    def _rank(self, costs: Sequence[int]) -> tuple[int, ...]:
        return (sum(costs),) if self._adds_up else (max(costs), sum(costs))
