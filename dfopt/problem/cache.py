"""What a CPU's memory holds, and what it costs to go on with the next use of data.

:meth:`Cache.enter` is the definition that everything else is measured against: the switch penalties
f, g and matrix [1]_, as a machine with a state.

References
----------
.. [1] S. S. Pinter and M. Zalmanovici, "Data Sharing Conscious Scheduling for Multi-threaded
   Applications on SMP Machines", Euro-Par 2006, section 3.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, NamedTuple, Protocol, Self

from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyMatrix
from dfopt.structs import Checked


class Leaves(StrEnum):
    """The state in which a task leaves its data fragment in the cache."""

    CLEAN = "clean"
    DIRTY = "dirty"
    INVALIDATED = "invalidated"


LEAVES = tuple(Leaves)
"""States by number."""

CLEAN, DIRTY, INVALIDATED = range(3)


class CacheState(Checked):
    """The content of a CPU's cache before its first task.

    Parameters
    ----------
    df
        The data fragment in the cache (penalties f and g).
    leaves
        The state it was left in (penalty f).
    type
        The type of the task that ran last (matrix penalty).
    """

    df: str | None = None
    leaves: Leaves = Leaves.CLEAN
    type: str | None = None


InitialState = CacheState | Literal["unknown"] | None
"""The content of a CPU's cache before its first task, as far as it is known.

``None`` is an empty cache. ``"unknown"`` says that nothing is known: then the first task pays
nothing for its switch, whatever it is, and a CPU that runs nothing pays nothing.
"""

EMPTY = UNMANAGED = -1
"""In place of a fragment: a cache that holds nothing, or the use of no data at all."""

UNKNOWN = -2
"""In place of a fragment: nothing is known about the cache."""

OTHER = -3
"""In place of a fragment: one that no task uses."""


class Content(Protocol):
    """What a cache holds: a fragment, and the state that it was left in."""

    @property
    def fragment(self) -> Any:
        """Its name or number; under a matrix the number of its type."""

    @property
    def leaves(self) -> int:
        """The number of the state."""


class Use(Content, Protocol):
    """The use of a fragment, which stays in the cache in the state that it is left in."""

    @property
    def lines(self) -> int:
        """The lines that are read if the cache holds another fragment (penalty f)."""


class DataUse(NamedTuple):
    """A :class:`Use` of its own, or a :class:`Content`."""

    fragment: str | int | None
    leaves: int = CLEAN
    lines: int = 0


class Cache:
    """The memory of one CPU; it holds the fragment that was used last.

    Parameters
    ----------
    penalty
        What changes cost. Under a matrix, fragments are the numbers of its types.
    cold_start
        Whether it costs something to fill an empty cache.
    final_write_back
        Whether what was not left clean is written back at the end.

    Attributes
    ----------
    fragment
        What it holds; or :data:`EMPTY`, as at first, or :data:`UNKNOWN`.
    leaves
        The state in which that was left, as a number.
    """

    __slots__ = (
        "_is_cold", "_is_final", "_matrix", "_reading", "_write_back", "fragment", "leaves",
    )  # fmt: skip

    def __init__(
        self, penalty: Penalty, *, cold_start: bool = False, final_write_back: bool = False
    ) -> None:
        self.fragment: Any = EMPTY
        self.leaves = CLEAN
        self._is_cold = cold_start
        self._is_final = final_write_back
        self._matrix = penalty if isinstance(penalty, PenaltyMatrix) else None
        # Under g it is part of each reading.
        self._write_back = penalty.write_back if isinstance(penalty, PenaltyF) else 0
        if not isinstance(penalty, PenaltyMatrix):
            self._reading = penalty.reading

    def hold(self, content: Content) -> Self:
        """Let it hold something, at no cost; return itself."""
        self.fragment, self.leaves = content.fragment, content.leaves
        return self

    def enter(self, use: Use) -> int:
        """Return the cost of going on with a use of data, f(v_i, v_j) of [1]_; it stays then.

        With l lines to read, under f: another fragment costs l·t_r, and T_w before that unless the
        one that is held was left clean; the same one costs T_w if it was invalidated, else 0. Under
        g another fragment costs T_r + T_w, and the same one nothing. A matrix says it for each
        pair. On an empty cache, only reading costs, and that only with a cold start. Nothing costs
        anything on a cache of which nothing is known.
        """
        fragment, held = use.fragment, self.fragment
        if fragment == UNMANAGED or held == UNKNOWN or (held == EMPTY and not self._is_cold):
            cost = 0
        elif self._matrix is not None:
            row = self._matrix.start if held == EMPTY else self._matrix.switch[held]
            cost = row[fragment] if row else 0
        elif held == fragment:
            cost = self._write_back if self.leaves == INVALIDATED else 0
        else:
            cost = self.reading(use) + (self._write_back if self.leaves != CLEAN else 0)
        if fragment != UNMANAGED:
            self.fragment, self.leaves = fragment, use.leaves
        return cost

    def go_on(self, use: Use) -> int:
        """Let the use of the fragment that is held go on: what was written stays written."""
        if use.leaves > self.leaves and use.fragment != UNMANAGED:
            self.leaves = use.leaves
        return 0

    def reading(self, use: Use) -> int:
        """Return the cost of reading what a use needs into a clean cache."""
        return self._reading(use.lines)

    def finish(self) -> int:
        """Return the cost that remains if nothing comes any more: that of the final write-back."""
        if not self._is_final or self.fragment in (EMPTY, UNKNOWN):
            return 0
        if self._matrix is not None:
            return self._matrix.finish[self.fragment] if self._matrix.finish else 0
        return self._write_back if self.leaves != CLEAN else 0
