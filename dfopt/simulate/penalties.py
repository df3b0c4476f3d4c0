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
from dfopt.simulate.workload import CLEAN, INVALIDATED, UNMANAGED, Burst

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
    """What caches hold."""

    def __init__(self, cpus: int) -> None:
        self.held = [EMPTY] * cpus
        self.left = [CLEAN] * cpus


class _CostsOfReading(_Penalties):
    """The penalties f and g: costs of getting a fragment into the cache, and of writing it back.

    Under f each line is read, and what the cache holds is written back if it is not clean. Under g
    the whole cache is filled, and this includes its write-back.

    Parameters
    ----------
    penalty
        Which of the two, and its times.
    cpus
        Number of CPUs.
    cold_start
        Whether the first fragment on a CPU is paid for.
    near
        The CPUs that are near each other; None: distances do not count.
    """

    def __init__(
        self, penalty: PenaltyF | PenaltyG, cpus: int, *, cold_start: bool, near: NearCaches | None
    ) -> None:
        super().__init__(cpus)
        self._is_cold = cold_start
        self._members: Sequence[Sequence[int]] = ()
        near_read = 0
        if near is not None:
            domains = near.domains
            self._members = [domains.members[domain] for domain in domains.domain_of]
            near_read = near.cost
        self._by_line = isinstance(penalty, PenaltyF)
        if isinstance(penalty, PenaltyF):
            self._read, self._near_read = penalty.read_line, near_read
            self._write_back = penalty.write_back
        else:
            written = penalty.write_back
            self._read, self._near_read = penalty.fill + written, near_read + written
            self._write_back = 0

    def begin(self, cpu: int, burst: Burst) -> int:
        fragment = burst.fragment
        if fragment == UNMANAGED:
            return 0
        all_held = self.held
        held, left = all_held[cpu], self.left[cpu]
        self.left[cpu] = burst.leaves
        if held == fragment:
            return self._write_back if left == INVALIDATED else 0
        read = self._read
        if held == EMPTY and not self._is_cold:
            read = 0
        elif self._members and any(all_held[other] == fragment for other in self._members[cpu]):
            read = self._near_read
        all_held[cpu] = fragment
        return (burst.lines * read if self._by_line else read) + (self._write_back if left else 0)

    def go_on(self, cpu: int, burst: Burst) -> int:
        if burst.leaves > self.left[cpu] and burst.fragment != UNMANAGED:
            self.left[cpu] = burst.leaves
        return 0


class _CostsBetween(_Penalties):
    """The penalty matrix: costs that depend on the two fragments alone."""

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

    def go_on(self, cpu: int, burst: Burst) -> int:
        return 0


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
    if not isinstance(penalty, PenaltyMatrix):
        return _CostsOfReading(penalty, cpus, cold_start=cold_start, near=near)
    types = penalty.types
    unknown = [name for name in fragments if name not in types]
    if unknown:
        raise InstanceError(
            f"has no type {unknown[0]!r}, which the workload uses; add it", place="penalty.types"
        )
    place = [types.index(name) for name in fragments]
    switch = [[penalty.switch[row][column] for column in place] for row in place]
    paid = penalty.start if cold_start else None
    return _CostsBetween(switch, [paid[row] if paid else 0 for row in place], cpus)
