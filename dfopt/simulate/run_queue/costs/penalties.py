"""The switch penalties f, g and matrix, dispatch by dispatch.

The same functions as in :mod:`dfopt.problem.switch_costs`, for the current content of a cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dfopt.errors import InstanceError
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


class _Penalties:
    """The parts that all penalties share."""

    def __init__(self, cpus: int) -> None:
        self.held = [EMPTY] * cpus
        self.left = [CLEAN] * cpus

    def go_on(self, cpu: int, burst: Burst) -> int:
        del cpu, burst
        return 0


class _CostsF(_Penalties):
    def __init__(self, penalty: PenaltyF, cpus: int, *, cold_start: bool) -> None:
        super().__init__(cpus)
        self._read_line = penalty.read_line
        self._write_back = penalty.write_back
        self._first_line = penalty.read_line if cold_start else 0

    def begin(self, cpu: int, burst: Burst) -> int:
        fragment = burst.fragment
        if fragment == UNMANAGED:
            return 0
        held, left = self.held[cpu], self.left[cpu]
        self.left[cpu] = burst.leaves
        if held == fragment:
            return self._write_back if left == INVALIDATED else 0
        self.held[cpu] = fragment
        if held == EMPTY:
            return burst.lines * self._first_line
        return burst.lines * self._read_line + (self._write_back if left else 0)

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
    def __init__(self, penalty: PenaltyG, cpus: int, *, cold_start: bool) -> None:
        super().__init__(cpus)
        self._switch = penalty.fill + penalty.write_back
        self._start = self._switch if cold_start else 0

    def begin(self, cpu: int, burst: Burst) -> int:
        fragment = burst.fragment
        if fragment == UNMANAGED or self.held[cpu] == fragment:
            return 0
        cost = self._start if self.held[cpu] == EMPTY else self._switch
        self.held[cpu] = fragment
        return cost


def penalty_costs(
    penalty: Penalty, fragments: Sequence[str], cpus: int, *, cold_start: bool
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

    Raises
    ------
    InstanceError
        When a fragment is no type of the matrix.
    """
    match penalty:
        case PenaltyF():
            return _CostsF(penalty, cpus, cold_start=cold_start)
        case PenaltyG():
            return _CostsG(penalty, cpus, cold_start=cold_start)
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
