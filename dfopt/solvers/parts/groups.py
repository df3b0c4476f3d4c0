"""Groups of fragments: how many a schedule within a threshold needs, and how they are packed.

A *group* is a set of fragments with CPUs of their own, e of them with room for k tasks each.
If no CPU may hold more than L parts, connected groups have at most (L − 1)·e + 1 fragments;
and every group with no more fragments, and no more than e·k tasks, can be packed. Proof and
algorithm stand in the documentation under "Packing parts".
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from dfopt.solvers.parts.packing import Packing
from dfopt.structs import Record


class FragmentGroup(Record):
    """Fragments of these sizes on CPUs of their own, some of which may hold one part more."""

    sizes: tuple[int, ...]
    cpus: int
    longer: int = 0


class GroupGoal(Record):
    """The wanted groups, and their number.

    A group is *full* if it has as many fragments as its CPUs can take, Σ(limit − 1) + 1. If the
    wanted number of groups is full, what is left over can join any of them. One full group less
    is enough, since then what is left over is full itself.

    Parameters
    ----------
    wanted
        The wanted number of full groups.
    sizes
        Of all fragments.
    capacity
        The most tasks that a CPU may hold (k).
    cpus
        Number of CPUs, the longer ones included.
    longer
        Number of CPUs that may hold one part more than ``limit``.
    limit
        The most parts that a CPU may hold; None if only the number of groups matters, and every
        group counts as full.
    """

    wanted: int
    sizes: tuple[int, ...]
    capacity: int
    cpus: int
    longer: int = 0
    limit: int | None = None

    @property
    def spare(self) -> int:
        """The room of all CPUs that no task needs."""
        return self.cpus * self.capacity - sum(self.sizes)

    def room(self, group: FragmentGroup) -> int:
        """Return the room that a group leaves on its CPUs."""
        return group.cpus * self.capacity - sum(group.sizes)

    def fill(self, groups: Iterable[FragmentGroup]) -> list[dict[int, int]]:
        """Return the contents of the CPUs: these groups, and all other fragments as one more."""
        left: dict[int, list[int]] = {}
        for fragment, size in enumerate(self.sizes):
            left.setdefault(size, []).append(fragment)
        contents: list[dict[int, int]] = []
        cpus, longer = self.cpus, self.longer
        for group in groups:
            members = [(size, left[size].pop()) for size in group.sizes]
            contents += self._fill_one(members, group.cpus, group.longer)
            cpus -= group.cpus
            longer -= group.longer
        rest = [(size, fragment) for size, fragments in left.items() for fragment in fragments]
        return contents + self._fill_one(rest, cpus, longer)

    def _fill_one(
        self, members: Sequence[tuple[int, int]], cpus: int, longer: int
    ) -> list[dict[int, int]]:
        if self.limit is None:
            return wrap(members, self.capacity)
        limits = [self.limit] * (cpus - longer) + [self.limit + 1] * longer
        return fill(members, limits, self.capacity)


def goal_within(packing: Packing, visits: int, *, own_are_free: bool) -> GroupGoal | None:
    """Return the goal for schedules that pay for at most ``visits`` visits.

    A CPU may have a fragment of its own, which it visits for free. Two simpler problems stand for
    that: either such a CPU visits any first fragment for free (``own_are_free``), which proves
    what is impossible; or it pays for all its visits, which finds schedules.

    Returns
    -------
    GroupGoal or None
        None if counting the parts shows that there is no such schedule.
    """
    free = len(packing.free) + (packing.most_welcome if own_are_free else 0)
    cpus, fragments = packing.cpus, len(packing.sizes)
    limit: int | None
    if packing.total:
        if packing.least_parts - free > visits:
            return None
        # Fragments in c groups on all CPUs have d + m − c parts.
        limit, longer = None, 0
        wanted = min(fragments, fragments + cpus - free - visits)
    else:
        limit, longer = visits, free
        if visits == 0:
            cpus = free  # the others stay empty
        if free == cpus:
            limit, longer = visits + 1, 0
        if packing.least_parts > limit * cpus + longer:
            return None
        wanted = fragments - (limit - 1) * cpus - longer
        if limit == 1 and not longer:
            limit = None  # each fragment is a group: only their number matters
    goal = GroupGoal(
        wanted=wanted,
        sizes=tuple(packing.sizes),
        capacity=packing.capacity,
        cpus=cpus,
        longer=longer,
        limit=limit,
    )
    return goal if goal.spare >= 0 else None


def fill(
    fragments: Iterable[tuple[int, int]], limits: Sequence[int], capacity: int
) -> list[dict[int, int]]:
    """Return the content of each CPU of a group: the number of tasks of each fragment.

    Parameters
    ----------
    fragments
        Sizes and names of the fragments; at most Σ(limit − 1) + 1 of them.
    limits
        The most parts that each CPU may hold, in ascending order, the last one at most one more
        than the first.
    capacity
        The most tasks that a CPU may hold; enough for all fragments on all CPUs.
    """
    items = sorted(fragments)
    places = sum(limits) - len(limits) + 1
    slack = len(limits) * capacity - sum(size for size, _ in items)
    assert len(items) <= places, "more fragments than a group can hold"
    assert slack >= 0, "more tasks than a group can hold"
    # The free room counts as tasks of the largest fragment for now, so that all CPUs get full.
    largest, name = items.pop()
    items = [(0, -1)] * (places - 1 - len(items)) + [*items, (largest + slack, name)]
    contents = []
    for limit in limits:
        first = _first_window(items, limit, capacity)
        taken = items[first : first + limit]
        del items[first : first + limit]
        size, cut = taken.pop()
        parts = {one: number for number, one in taken if number}
        rest = capacity - sum(parts.values())
        assert 0 <= rest <= size, "no window to fill a CPU with"
        if rest:
            parts[cut] = rest
        insort(items, (size - rest, cut) if size > rest else (0, -1))
        contents.append(parts)
    _take_out(contents, name, slack)
    return [parts for parts in contents if parts]


def _first_window(items: Sequence[tuple[int, int]], length: int, capacity: int) -> int:
    """Return the start of the first ``length`` neighbours that fill a CPU together."""
    return bisect_left(
        range(len(items) - length + 1),
        capacity,
        key=lambda first: sum(size for size, _ in items[first : first + length]),
    )


def _take_out(contents: Sequence[dict[int, int]], fragment: int, number: int) -> None:
    """Take tasks of ``fragment`` out again, from its smallest parts first."""
    holding = [parts for parts in contents if fragment in parts]
    for parts in sorted(holding, key=lambda parts: parts[fragment]):
        taken = min(number, parts[fragment])
        number -= taken
        parts[fragment] -= taken
        if not parts[fragment]:
            del parts[fragment]


def wrap(fragments: Iterable[tuple[int, int]], capacity: int) -> list[dict[int, int]]:
    """Return contents of as few CPUs as possible, filled one after the other.

    This cuts f fragments on e CPUs into no more than f + e − 1 parts.
    """
    contents: list[dict[int, int]] = []
    room = 0
    for size, fragment in fragments:
        left = size
        while left:
            if not room:
                contents.append({})
                room = capacity
            contents[-1][fragment] = taken = min(left, room)
            left -= taken
            room -= taken
    return contents


LARGEST_SAMPLE = 60
"""All sums are worked out for at most this number of sizes."""

MOST_RELEASED = 4
"""At most this number of groups are dissolved at a time."""


class GroupHeuristic:
    """Full groups that share no fragment, and the sizes that are left over.

    Each group is completed by sizes of a given sum: neighbours in the sorted pool that are
    exchanged for others, or subset sums as bits of integers.

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
        sample = self._source.sample(self._pool, min(len(self._pool), LARGEST_SAMPLE))
        return some_of(sample, least, most)

    def _number(self, number: int, least: int, most: int) -> list[int] | None:
        if len(self._pool) < number or sum(self._pool[:number]) > most:
            return None
        if number == 0:
            return [] if least <= 0 else None
        return neighbours(self._pool, number, max(0, least), most)


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
