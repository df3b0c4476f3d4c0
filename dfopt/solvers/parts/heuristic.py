"""Full groups one after the other; where they are too few, some are dissolved and others found.

A group is completed by sizes of a given sum: neighbours in the sorted pool that are exchanged for
others, or subset sums as bits of integers.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate

from dfopt.solvers.parts.groups import FragmentGroup, GroupGoal

LARGEST_SAMPLE = 60
"""All sums are worked out for at most this number of sizes."""

MOST_RELEASED = 4
"""At most this number of groups are dissolved at a time."""


class GroupHeuristic:
    """Full groups that share no fragment, and the sizes that are left over.

    The sizes that are left over have the right average all the time, so that only the last groups
    are hard to complete. Then a few other groups are dissolved, and the search goes on.

    Parameters
    ----------
    goal
        The wanted groups.
    source
        Source of random choices.
    check
        Called often; may raise to end the search.
    """

    def __init__(self, goal: GroupGoal, source: random.Random, check: Callable[[], None]) -> None:
        self.goal = goal
        self.groups: list[FragmentGroup] = []
        self._source = source
        self._check = check
        self._pool = sorted(goal.sizes)
        self._cpus, self._plain = goal.cpus, goal.cpus - goal.longer
        self._spare = goal.spare

    @property
    def is_enough(self) -> bool:
        """Whether what is left over is the last full group."""
        return len(self.groups) >= self.goal.wanted - 1

    def search(self, attempts: int) -> bool:
        """Look for groups, and ``attempts`` times dissolve some; return whether they are enough."""
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

    def _restore(self, groups: list[FragmentGroup]) -> None:
        for group in list(self.groups):
            self._release(group)
        for group in groups:
            self._take(group)

    def _take(self, group: FragmentGroup) -> None:
        for size in group.sizes:
            del self._pool[bisect_left(self._pool, size)]
        self._count(group, -1)
        self.groups.append(group)

    def _release(self, group: FragmentGroup) -> None:
        for size in group.sizes:
            insort(self._pool, size)
        self._count(group, 1)
        self.groups.remove(group)

    def _count(self, group: FragmentGroup, sign: int) -> None:
        self._cpus += sign * group.cpus
        self._plain += sign * (group.cpus - group.longer)
        self._spare += sign * self.goal.room(group)

    def _add_groups(self, *, largest: bool) -> None:
        while not self.is_enough:
            self._check()
            group = self._next_group(largest=largest)
            if group is None:
                return
            self._take(group)

    def _next_group(self, *, largest: bool) -> FragmentGroup | None:
        """Return a full group on few CPUs: one fragment, and others that fill its CPUs."""
        goal, pool = self.goal, self._pool
        place = len(pool) - 1 if largest else self._source.randrange(len(pool))
        size = pool.pop(place)
        others = goal.wanted - 1 - len(self.groups)
        allowed = self._spare // others
        # No CPUs are reserved for groups where fewer than the wanted number may be found.
        kept = 1 if goal.limit is None else others
        for cpus in range(-(-size // goal.capacity), self._cpus - kept + 1):
            longer = max(0, cpus - self._plain)
            room = cpus * goal.capacity - size
            if goal.limit is None:
                chosen = self._any_number(room - allowed, room)
            else:
                number = (goal.limit - 1) * cpus + longer
                chosen = self._number(number, room - allowed, room)
            if chosen is not None and len(chosen) < len(pool):
                pool.insert(place, size)
                sizes = tuple(sorted([size, *chosen]))
                return FragmentGroup(sizes=sizes, cpus=cpus, longer=longer)
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


def neighbours(pool: Sequence[int], number: int, least: int, most: int) -> list[int] | None:
    """Return sizes of a sum within limits, found quickly; None does not mean that there are none.

    It begins with neighbours in ``pool`` whose sum is too small, and exchanges single sizes for
    larger ones as long as the sum allows it.

    Parameters
    ----------
    pool
        Sizes in ascending order.
    number
        The wanted number.
    least, most
        The limits.
    """
    below = list(accumulate(pool, initial=0))
    windows = range(len(pool) - number + 1)
    first = bisect_right(windows, most, key=lambda start: below[start + number] - below[start]) - 1
    if first < 0:
        return None
    chosen = Counter(pool[first : first + number])
    others = Counter(pool)
    others.subtract(chosen)
    total = below[first + number] - below[first]
    while total < least:
        distinct = sorted(size for size, count in others.items() if count)
        gain, exchanged = 0, 0
        for size in chosen:
            place = bisect_right(distinct, size + most - total)
            if place and distinct[place - 1] - size > gain:
                gain, exchanged = distinct[place - 1] - size, size
        if not gain:
            return None
        chosen.subtract([exchanged])
        chosen.update([exchanged + gain])
        others.update([exchanged])
        others.subtract([exchanged + gain])
        chosen += Counter()  # drops sizes whose count is 0
        total += gain
    return list(chosen.elements())


def some_of(pool: Sequence[int], least: int, most: int) -> list[int] | None:
    """Return any number of sizes of a sum in these limits, by preference the last ones.

    The bits of an integer say which sums the first sizes have.
    """
    mask = (2 << most) - 1
    sums = [1]
    for size in pool:
        if sums[-1] >> least:
            break
        sums.append(sums[-1] | sums[-1] << size & mask)
    total = sums[-1].bit_length() - 1
    if total < least:
        return None
    chosen = []
    for place in range(len(sums) - 2, -1, -1):
        size = pool[place]
        if size <= total and sums[place] >> (total - size) & 1:
            chosen.append(size)
            total -= size
    return chosen


def some_number_of(pool: Sequence[int], number: int, least: int, most: int) -> list[int] | None:
    """Return ``number`` sizes of a sum in these limits, by preference the last ones."""
    mask = (2 << most) - 1
    layers = [[1, *[0] * number]]
    for size in pool:
        before = layers[-1]
        if before[number] >> least:
            break
        longer = (
            before[count] | before[count - 1] << size & mask for count in range(1, number + 1)
        )
        layers.append([1, *longer])
    total = layers[-1][number].bit_length() - 1
    if total < least:
        return None
    chosen: list[int] = []
    for place in range(len(layers) - 2, -1, -1):
        size, count = pool[place], number - len(chosen)
        if count and size <= total and layers[place][count - 1] >> (total - size) & 1:
            chosen.append(size)
            total -= size
    return chosen
