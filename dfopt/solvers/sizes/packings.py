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

from dfopt.solvers.heuristics.constructive import Packing, fragments_of
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
    fragments = fragments_of(search)
    fragment_of = {number: place for place, group in enumerate(fragments) for number in group}
    groups = [
        sorted((types[number].size, number) for number in group for _ in range(types[number].count))
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
