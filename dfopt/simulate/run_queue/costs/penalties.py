"""The switch penalties f, g and matrix, dispatch by dispatch.

The same functions as in :mod:`dfopt.problem.switch_costs`, for the current content of a cache.

With cache domains data may come from near: a CPU reads a fragment at less cost if another CPU of
its domain holds it. It does not matter how that CPU left it, and for that CPU nothing changes: what
it has written it writes back itself, when it goes on to another fragment. Write-backs cost the same
everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dfopt.errors import InstanceError
from dfopt.problem.cache_domains import CacheDomains
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.simulate.run_queue.workload import CLEAN, INVALIDATED, UNMANAGED, Burst

EMPTY = UNMANAGED
"""The content of a cache before the first managed burst."""


class Costs(Protocol):
    """The costs that bursts pay before they begin."""

    held: list[int]
    """By CPU: the fragment that was used last, or :data:`EMPTY`."""

    left: list[int]
    """By CPU: the state in which that fragment was left."""

    def begin(self, cpu: int, burst: Burst) -> int:
        """Return the penalty of a dispatch's first burst, and change the caches accordingly."""

    def go_on(self, cpu: int, burst: Burst) -> int:
        """Do the same for a burst that continues a dispatch on the same fragment."""


@dataclass(frozen=True, slots=True)
class NearCaches:
    """CPUs that are near each other.

    Parameters
    ----------
    domains
        The CPUs that share a cache.
    cost
        Time to read a line under f, or to fill the cache under g, if another CPU of the domain
        holds the fragment.
    """

    domains: CacheDomains
    cost: int


class _Penalties:
    """The parts that all penalties share."""

    def __init__(self, cpus: int, near: NearCaches | None = None) -> None:
        self.held = [EMPTY] * cpus
        self.left = [CLEAN] * cpus
        self._members: Sequence[Sequence[int]] = ()
        self._near = 0
        if near is not None:
            domains = near.domains
            self._members = [domains.members[domain] for domain in domains.domain_of]
            self._near = near.cost

    def is_near(self, cpu: int, fragment: int) -> bool:
        """Return whether a CPU of the same domain holds a fragment; there must be domains."""
        held = self.held
        return any(held[other] == fragment for other in self._members[cpu])

    def go_on(self, cpu: int, burst: Burst) -> int:
        del cpu, burst
        return 0


class _CostsF(_Penalties):
    def __init__(
        self, penalty: PenaltyF, cpus: int, *, cold_start: bool, near: NearCaches | None
    ) -> None:
        super().__init__(cpus, near)
        self._read_line = penalty.read_line
        self._write_back = penalty.write_back
        self._is_cold = cold_start

    def begin(self, cpu: int, burst: Burst) -> int:
        fragment = burst.fragment
        if fragment == UNMANAGED:
            return 0
        held, left = self.held[cpu], self.left[cpu]
        self.left[cpu] = burst.leaves
        if held == fragment:
            return self._write_back if left == INVALIDATED else 0
        if held == EMPTY and not self._is_cold:
            read_line = 0
        elif self._members and self.is_near(cpu, fragment):
            read_line = self._near
        else:
            read_line = self._read_line
        self.held[cpu] = fragment
        return burst.lines * read_line + (self._write_back if left else 0)

    def go_on(self, cpu: int, burst: Burst) -> int:
        if burst.leaves > self.left[cpu] and burst.fragment != UNMANAGED:
            self.left[cpu] = burst.leaves
        return 0


class _CostsBetween(_Penalties):
    """Costs that depend on the two fragments alone."""

    def __init__(self, switch: Sequence[Sequence[int]], start: Sequence[int], cpus: int) -> None:
        super().__init__(cpus)
        self._switch = switch
        self._start = start

    def begin(self, cpu: int, burst: Burst) -> int:
        fragment = burst.fragment
        if fragment == UNMANAGED:
            return 0
        held = self.held[cpu]
        self.held[cpu] = fragment
        return self._start[fragment] if held == EMPTY else self._switch[held][fragment]


class _CostsG(_Penalties):
    def __init__(
        self, penalty: PenaltyG, cpus: int, *, cold_start: bool, near: NearCaches | None
    ) -> None:
        super().__init__(cpus, near)
        self._fill = penalty.fill
        self._write_back = penalty.write_back
        self._is_cold = cold_start

    def begin(self, cpu: int, burst: Burst) -> int:
        fragment = burst.fragment
        held = self.held[cpu]
        if fragment in (UNMANAGED, held):
            return 0
        if held == EMPTY and not self._is_cold:
            cost = 0
        elif self._members and self.is_near(cpu, fragment):
            cost = self._near + self._write_back
        else:
            cost = self._fill + self._write_back
        self.held[cpu] = fragment
        return cost


def penalty_costs(
    penalty: Penalty,
    fragments: Sequence[str],
    cpus: int,
    *,
    cold_start: bool,
    near: NearCaches | None = None,
) -> Costs:
    """Return the costs under a penalty.

    Parameters
    ----------
    penalty
        f, g, or a matrix with the fragments as its types.
    fragments
        Names; bursts refer to them by number.
    cpus
        Number of CPUs; their caches are empty.
    cold_start
        Whether the first fragment on a CPU is paid for.
    near
        The CPUs that are near each other, under f and g; None: distances do not count.

    Raises
    ------
    InstanceError
        When a fragment is no type of the matrix.
    """
    match penalty:
        case PenaltyF():
            return _CostsF(penalty, cpus, cold_start=cold_start, near=near)
        case PenaltyG():
            return _CostsG(penalty, cpus, cold_start=cold_start, near=near)
        case PenaltyMatrix(types=types):
            unknown = [name for name in fragments if name not in types]
            if unknown:
                raise InstanceError(
                    f"has no type {unknown[0]!r}, which the workload uses; add it",
                    place="penalty.types",
                )
            place = [types.index(name) for name in fragments]
            switch = [[penalty.switch[row][column] for column in place] for row in place]
            has_start = cold_start and penalty.start is not None
            start = [penalty.start[row] if penalty.start and has_start else 0 for row in place]
            return _CostsBetween(switch, start, cpus)
