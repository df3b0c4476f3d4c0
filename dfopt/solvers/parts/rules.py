"""What a group of fragments may be, so that enough groups make a schedule within a threshold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dfopt.solvers.parts.filling import fill, wrap
from dfopt.solvers.parts.packing import Packing


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Fragments of these sizes on CPUs of their own, some of which may hold one part more."""

    sizes: tuple[int, ...]
    cpus: int
    longer: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRules:
    """Which groups are wanted, and how many.

    A group is *full* if it has as many fragments as its CPUs can take, Σ(limit − 1) + 1. If the
    wanted number of groups is full, what is left over can join any of them. One full group less
    is enough, since then what is left over is full itself.

    Parameters
    ----------
    wanted
        How many full groups there must be.
    sizes
        Of all fragments.
    capacity
        The most tasks that a CPU may hold (k).
    cpus
        How many CPUs there are, the longer ones included.
    longer
        How many of them may hold one part more than ``limit``.
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
        """How much room all CPUs have beyond all tasks."""
        return self.cpus * self.capacity - sum(self.sizes)

    def room(self, group: Group) -> int:
        """Return how much room a group leaves on its CPUs."""
        return group.cpus * self.capacity - sum(group.sizes)

    def fill(self, groups: Iterable[Group]) -> list[dict[int, int]]:
        """Return what the CPUs hold if these groups are filled, and one of all other fragments."""
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


def rules_within(packing: Packing, visits: int, *, own_are_free: bool) -> GroupRules | None:
    """Return the rules for schedules with so many visits paid for; None if there are none.

    CPUs that visit a fragment of their own free of charge are taken for such that visit any
    first fragment free, which proves what is impossible; or for such that pay for all.
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
            limit = None  # nothing but fragments that are alone: as many groups
    rules = GroupRules(
        wanted=wanted,
        sizes=tuple(packing.sizes),
        capacity=packing.capacity,
        cpus=cpus,
        longer=longer,
        limit=limit,
    )
    return rules if rules.spare >= 0 else None
