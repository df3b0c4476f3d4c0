"""Groups of fragments: how many a schedule within a threshold needs, and how they are packed.

A *group* is a set of fragments with CPUs of their own, e of them with room for k tasks each.
If no CPU may hold more than L parts, connected groups have at most (L − 1)·e + 1 fragments;
and every group with no more fragments, and no more than e·k tasks, can be packed. Proof and
algorithm stand in the documentation under "Packing parts".
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dfopt.solvers.parts.packing import Packing


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentGroup:
    """Fragments of these sizes on CPUs of their own, some of which may hold one part more."""

    sizes: tuple[int, ...]
    cpus: int
    longer: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGoal:
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
