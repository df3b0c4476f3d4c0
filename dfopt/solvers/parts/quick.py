"""Full groups found by luck: enough where fragments are many and small."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from dfopt.solvers.parts.rules import Group, GroupRules

ATTEMPTS = 6
"""The first one takes the largest fragments first, the others any."""


def quick_groups(
    rules: GroupRules, source: random.Random, check: Callable[[], None]
) -> list[Group]:
    """Return full groups that share nothing, one less than wanted at most.

    Parameters
    ----------
    rules
        What is wanted.
    source
        Of what is drawn.
    check
        Called now and then; may raise to end the search.
    """
    if rules.limit is None:
        return _taken(rules, _groups_of_any_size(rules), check)
    found: list[Group] = []
    for attempt in range(ATTEMPTS):
        if len(found) >= rules.wanted - 1:
            break
        groups = _largest_first(rules, source if attempt else None)
        found = max(found, _taken(rules, groups, check), key=len)
    return found


def _taken(rules: GroupRules, groups: Iterator[Group], check: Callable[[], None]) -> list[Group]:
    """Return as many groups as needed, and leave something over for the last one."""
    taken: list[Group] = []
    left = len(rules.sizes)
    for group in groups:
        left -= len(group.sizes)
        if len(taken) >= rules.wanted - 1 or not left:
            break
        taken.append(group)
        check()
    return taken


def _largest_first(rules: GroupRules, source: random.Random | None) -> Iterator[Group]:
    """Yield groups of a large fragment and such that fill its CPUs, as few CPUs as possible.

    What is left over has the right average all the time, and becomes ever more even.
    """
    assert rules.limit is not None
    pool = sorted(rules.sizes)
    cpus, plain, spare = rules.cpus, rules.cpus - rules.longer, rules.spare
    for more in range(rules.wanted - 1, 0, -1):
        size = pool.pop(source.randrange(len(pool)) if source else -1)
        below = list(accumulate(pool, initial=0))
        for number in range(-(-size // rules.capacity), cpus - more + 1):
            longer = max(0, number - plain)
            others = (rules.limit - 1) * number + longer
            room = number * rules.capacity - size
            if others > len(pool):
                return
            if below[others] <= room:
                break
        else:
            return
        chosen = _fitting(pool, below, others, room - spare // more, room)
        if chosen is None:
            return
        for one in chosen:
            del pool[bisect_right(pool, one) - 1]
        group = Group(sizes=tuple(sorted([size, *chosen])), cpus=number, longer=longer)
        cpus -= number
        plain -= number - longer
        spare -= rules.room(group)
        yield group


def _fitting(
    pool: Sequence[int], below: Sequence[int], number: int, least: int, most: int
) -> list[int] | None:
    """Return so many sizes of a sum in these limits, neighbours but for some exchanges.

    ``below`` are the running sums of ``pool``; those of the first sizes are at most ``most``.
    """
    first = bisect_right(
        range(len(pool) - number + 1), most, key=lambda one: below[one + number] - below[one]
    )
    chosen = Counter(pool[first - 1 : first - 1 + number])
    others = Counter(pool)
    others.subtract(chosen)
    total = below[first - 1 + number] - below[first - 1]
    while total < least:
        distinct = sorted(size for size, count in others.items() if count)
        gain, one = 0, 0
        for size in chosen:
            place = bisect_right(distinct, size + most - total)
            if place and distinct[place - 1] - size > gain:
                gain, one = distinct[place - 1] - size, size
        if not gain:
            return None
        chosen.subtract([one])
        chosen.update([one + gain])
        others.update([one])
        others.subtract([one + gain])
        chosen += Counter()  # drops what is there no more
        total += gain
    return list(chosen.elements())


def _groups_of_any_size(rules: GroupRules) -> Iterator[Group]:
    """Yield fragments that fill CPUs alone, then pairs, that leave the least room."""
    k, spare = rules.capacity, rules.spare
    left = Counter(rules.sizes)
    for size in sorted(left, key=lambda size: -size % k):
        while left[size] and -size % k <= spare:
            group = Group(sizes=(size,), cpus=-(-size // k))
            left[size] -= 1
            spare -= rules.room(group)
            yield group
    of_residue: dict[int, list[int]] = {}
    for size in left.elements():
        of_residue.setdefault(size % k, []).append(size)
    for residue, sizes in of_residue.items():
        others = of_residue.get(-residue % k, [])
        while sizes and others and (sizes is not others or len(sizes) > 1):
            pair = sizes.pop(), others.pop()
            yield Group(sizes=pair, cpus=sum(pair) // k)
