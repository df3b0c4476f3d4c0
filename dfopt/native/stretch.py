"""Annealing of a stretch of a trace's schedule, see ``core/stretch``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.native.library import NativeObject, Rows, native, row

ELEMENT = row(
    *("length", "ready", "since", "latest", "previous", "next", "waker", "offset", "woken"),
    *("sibling", "fragment", "entry", "exit", "always", "first", "last", "role", "rank"),
    *("cpu", "start", "end", "late", "before", "after"),
)
LINKS = ("previous", "next", "waker", "woken", "sibling", "before", "after")
"""Fields of an element that name another one, or ``NOBODY``."""

BLOCK = row("start", "end")
BOUNDS = row("total", "each", "most_long")
TOTALS = row("cost", "lateness", "waits", "long_waits")

MOVES, STAYS, CUT, HEAD, TAIL = range(5)
"""Roles: a dispatch that may move, an element that keeps its time, a cut, the ends of a CPU."""

NOBODY = -1
NEVER = 2**62
"""Later than every time; its negative is earlier."""


class Stretch(NamedTuple):
    """A stretch of a schedule, with k dispatches and e elements on m CPUs.

    Parameters
    ----------
    elements
        Rows ``ELEMENT``, shape (e,): the dispatches in the order of their recorded starts, then the
        others.
    dispatches
        k.
    blocks
        Rows ``BLOCK``: the blocks that do not evict, by CPU and start; each CPU's end with one that
        starts and ends ``NEVER``.
    calendar
        Shape (m, cells): the first block that ends after the cell has begun.
    begin, cell
        When the first cell begins, and the length of a cell.
    matrix
        Costs between fragments, or of shape (0, 0).
    """

    elements: Rows
    dispatches: int
    blocks: Rows
    calendar: NDArray[np.int64]
    begin: int
    cell: int
    matrix: NDArray[np.int64]


class StretchAnnealing(NativeObject):
    """Simulated annealing over the orders in which the CPUs of a stretch run its dispatches.

    Parameters
    ----------
    stretch
        The stretch.
    bounds
        One row ``BOUNDS``: at most this sum of waits; a wait above this is long; at most this
        number of long waits.
    waits, long_waits
        The sum of all waits of the schedule, and the number of long ones.
    prices
        What is as bad as being late by a unit of time: a unit of time by which the sum of waits is
        too large, and a long wait above their permitted number.
    chances
        Equally likely limits of how much worse a change may be, in units of the temperature.
    seed
        64 random bits, not 0.
    """

    def __init__(  # noqa: PLR0913
        self,
        stretch: Stretch,
        *,
        bounds: Rows,
        waits: int,
        long_waits: int,
        prices: tuple[float, float],
        chances: NDArray[np.float64],
        seed: int,
    ) -> None:
        self._dispatches = stretch.dispatches
        super().__init__(
            stretch.elements,
            stretch.dispatches,
            stretch.blocks,
            stretch.calendar,
            len(stretch.calendar),
            stretch.begin,
            stretch.cell,
            stretch.matrix,
            bounds,
            waits,
            long_waits,
            *prices,
            chances,
            seed,
        )

    @native()
    def settle(self) -> bool:
        """Start every dispatch as early as the order permits; return whether nothing is late."""

    @native()
    def anneal(  # noqa: PLR0913
        self,
        low: int,
        high: int,
        changes: int,
        *,
        temperature: float,
        cost_price: float,
        late_price: float,
    ) -> None:
        """Try random changes that begin with the dispatches ``low`` to ``high`` - 1.

        What they have led to is the cheapest schedule if it is cheaper than those before.
        """

    @native()
    def keep(self) -> None:
        """Keep the schedule as it is."""

    @native()
    def go_back_if_worse(self) -> None:
        """Go back to the schedule that was kept if that one is better."""

    @native()
    def take_cheapest(self) -> None:
        """Go back to the cheapest schedule."""

    @property
    @native()
    def late_count(self) -> int:
        """How many elements are late."""

    @native()
    def late(self, place: int) -> int:
        """Return one of the late elements."""

    @property
    @native()
    def opener_count(self) -> int:
        """How many dispatches are the first one of a visit."""

    @native()
    def opener(self, place: int) -> int:
        """Return one of the dispatches that are the first one of a visit."""

    @native()
    def write(self, cpu: Rows, start: Rows, totals: Rows) -> None:
        """Write CPU and start of each dispatch, and one row ``TOTALS``."""

    def schedule(self) -> tuple[NDArray[np.int64], NDArray[np.int64], int, int]:
        """Return CPU and start of each dispatch, the sum of waits and the number of long ones."""
        cpu, start = np.empty((2, self._dispatches), np.int64)
        totals = np.empty(1, TOTALS)
        self.write(cpu, start, totals)
        return cpu, start, int(totals["waits"][0]), int(totals["long_waits"][0])
