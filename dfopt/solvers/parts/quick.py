"""Full groups one after the other, and some of them again where that does not suffice."""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections.abc import Callable

from dfopt.solvers.parts.completion import neighbours, some_number_of, some_of
from dfopt.solvers.parts.rules import Group, GroupRules

LARGEST_SAMPLE = 60
"""Of so many sizes at a time all sums are worked out."""

MOST_RELEASED = 4
"""So many groups are dissolved at most before others are looked for."""


class QuickGroups:
    """Full groups that share nothing, and the sizes that are left over.

    What is left over has the right average all the time, so that only the last groups are hard
    to fill; then a few others are dissolved, and the search goes on from there.

    Parameters
    ----------
    rules
        What is wanted.
    source
        Of what is drawn.
    check
        Called often; may raise to end the search.
    """

    def __init__(self, rules: GroupRules, source: random.Random, check: Callable[[], None]) -> None:
        self.rules = rules
        self.groups: list[Group] = []
        self._source = source
        self._check = check
        self._pool = sorted(rules.sizes)
        self._cpus, self._plain = rules.cpus, rules.cpus - rules.longer
        self._spare = rules.spare

    @property
    def is_enough(self) -> bool:
        """Whether what is left over is the last full group."""
        return len(self.groups) >= self.rules.wanted - 1

    def search(self, attempts: int) -> bool:
        """Look for groups, dissolve some so many times; return whether there are enough."""
        if self.rules.limit is None:
            self._take_what_is_never_wrong()
        self._add_groups(largest=True)
        for _ in range(attempts):
            if self.is_enough:
                break
            before = list(self.groups)
            self._source.shuffle(self.groups)
            for _ in range(min(len(self.groups), self._source.randint(1, MOST_RELEASED))):
                self._release(self.groups[-1])
            self._add_groups(largest=self._source.random() < 1 / 2)
            if len(self.groups) < len(before):
                self._restore(before)
        return self.is_enough

    def _restore(self, groups: list[Group]) -> None:
        for group in list(self.groups):
            self._release(group)
        for group in groups:
            self._take(group)

    def _take(self, group: Group) -> None:
        for size in group.sizes:
            del self._pool[bisect_left(self._pool, size)]
        self._count(group, -1)
        self.groups.append(group)

    def _release(self, group: Group) -> None:
        for size in group.sizes:
            insort(self._pool, size)
        self._count(group, 1)
        self.groups.remove(group)

    def _count(self, group: Group, sign: int) -> None:
        self._cpus += sign * group.cpus
        self._plain += sign * (group.cpus - group.longer)
        self._spare += sign * self.rules.room(group)

    def _take_what_is_never_wrong(self) -> None:
        """Take fragments that fill their CPUs exactly alone, or all fragments if there is room.

        Without room to spare also pairs are taken that fill their CPUs exactly: if two groups
        share such a pair, what is left of them does so too.
        """
        k = self.rules.capacity
        all_fit = sum(-(-size // k) for size in self._pool) <= self._cpus
        of_residue: dict[int, list[int]] = {}
        for size in self._pool:
            of_residue.setdefault(0 if all_fit else size % k, []).append(size)
        alone = [(size,) for size in of_residue.pop(0, [])]
        pairs = [
            pair
            for residue in of_residue
            if 2 * residue <= k and not self._spare
            for pair in _pairs(of_residue[residue], of_residue.get(k - residue, []))
        ]
        for sizes in [*alone, *pairs]:
            if self.is_enough or len(self._pool) == len(sizes):
                return
            self._take(Group(sizes=sizes, cpus=-(-sum(sizes) // k)))

    def _add_groups(self, *, largest: bool) -> None:
        while not self.is_enough:
            self._check()
            group = self._next_group(largest=largest)
            if group is None:
                return
            self._take(group)

    def _next_group(self, *, largest: bool) -> Group | None:
        """Return a full group of a fragment and such that fill its CPUs; as few as possible."""
        rules, pool = self.rules, self._pool
        place = len(pool) - 1 if largest else self._source.randrange(len(pool))
        size = pool.pop(place)
        others = rules.wanted - 1 - len(self.groups)
        allowed = self._spare // others
        # Where there may be fewer groups than wanted, no CPUs are kept for them.
        kept = 1 if rules.limit is None else others
        for cpus in range(-(-size // rules.capacity), self._cpus - kept + 1):
            longer = max(0, cpus - self._plain)
            room = cpus * rules.capacity - size
            if rules.limit is None:
                chosen = self._any_number(room - allowed, room)
            else:
                number = (rules.limit - 1) * cpus + longer
                chosen = self._number(number, room - allowed, room)
            if chosen is not None and len(chosen) < len(pool):
                pool.insert(place, size)
                sizes = tuple(sorted([size, *chosen]))
                return Group(sizes=sizes, cpus=cpus, longer=longer)
        pool.insert(place, size)
        return None

    def _any_number(self, least: int, most: int) -> list[int] | None:
        if least <= 0:
            return []
        return some_of(self._sample(), least, most)

    def _number(self, number: int, least: int, most: int) -> list[int] | None:
        if len(self._pool) < number or sum(self._pool[:number]) > most:
            return None
        if number == 0:
            return [] if least <= 0 else None
        chosen = neighbours(self._pool, number, max(0, least), most)
        if chosen is None and number <= LARGEST_SAMPLE // 2:
            chosen = some_number_of(self._sample(), number, max(0, least), most)
        return chosen

    def _sample(self) -> list[int]:
        """Return some of what is left over, in random order."""
        return self._source.sample(self._pool, min(len(self._pool), LARGEST_SAMPLE))


def _pairs(ones: list[int], others: list[int]) -> list[tuple[int, ...]]:
    if ones is others:
        return list(zip(ones[::2], ones[1::2], strict=False))
    return list(zip(ones, others, strict=False))
