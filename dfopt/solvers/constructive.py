"""First schedules: fragments kept together where they fit, CPUs filled evenly."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence

from dfopt.ordering import ClosedForm
from dfopt.solvers.search import Search

Contents = list[Counter[int]]
"""For each CPU how many tasks of each type it holds."""


def construct(search: Search, form: ClosedForm, random_source: random.Random) -> Iterator[Contents]:
    """Yield schedules for penalties f and g, as contents of the CPUs.

    First the fragments in order of falling size, whole where one fits; then wrapped around the
    CPUs, which makes the fewest parts; then both with shuffled fragments.
    """
    members: list[list[int]] = [[] for _ in form.fragments]
    for kind, costs in enumerate(form.costs):
        members[costs.fragment].append(kind)
    sizes = [sum(search.types[kind].count for kind in kinds) for kinds in members]
    order = sorted(range(len(members)), key=lambda fragment: -sizes[fragment])
    while True:
        yield _best_fit(search, form, members, order)
        yield _wrapped(search, members, order)
        order = order.copy()
        random_source.shuffle(order)


def _best_fit(
    search: Search, form: ClosedForm, members: Sequence[Sequence[int]], order: Sequence[int]
) -> Contents:
    """Put each fragment where the CPU then costs least; split it when it fits nowhere."""
    instance = search.instance
    contents: Contents = [Counter() for _ in range(instance.cpus)]
    room = [instance.tasks_per_cpu] * instance.cpus
    costs = [0] * instance.cpus
    for fragment in order:
        left = Counter({kind: search.types[kind].count for kind in members[fragment]})
        while left:
            size = left.total()
            fitting = [cpu for cpu in range(instance.cpus) if room[cpu] >= size]
            if fitting:
                priced = [(form.cost(cpu, contents[cpu] + left), room[cpu], cpu) for cpu in fitting]
                cpu = min(priced)[2]
                part = left
            else:
                cpu = max(range(instance.cpus), key=lambda cpu: (room[cpu], -costs[cpu]))
                part = _taken(left, room[cpu])
            contents[cpu] += part
            left = left - part
            room[cpu] -= part.total()
            costs[cpu] = form.cost(cpu, contents[cpu])
    return contents


def _wrapped(search: Search, members: Sequence[Sequence[int]], order: Sequence[int]) -> Contents:
    """Fill one CPU after the other up to an even share, like McNaughton's wrap-around rule."""
    instance = search.instance
    share = min(instance.tasks_per_cpu, -(-instance.task_count // instance.cpus))
    contents: Contents = [Counter() for _ in range(instance.cpus)]
    cpu = 0
    for fragment in order:
        left = Counter({kind: search.types[kind].count for kind in members[fragment]})
        while left:
            room = share - contents[cpu].total()
            if not room:
                cpu += 1
                continue
            part = _taken(left, room)
            contents[cpu] += part
            left = left - part
    return contents


def _taken(left: Counter[int], most: int) -> Counter[int]:
    """Return the first ``most`` tasks of ``left``."""
    part: Counter[int] = Counter()
    for kind, count in left.items():
        part[kind] = min(count, most - part.total())
    return +part
