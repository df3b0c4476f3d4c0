"""Search for orders under a matrix, see ``core/orders``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dfopt.native.library import (
    FLAGS,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    POINTER,
    SEED,
    Functions,
    Made,
    checked,
)

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_exchange = Functions(
    "segment_exchange",
    create=(POINTER, INTS, INTS, INT, INT, INT, INT, INT, SEED),
    destroy=(None, POINTER),
    fill=(INT, POINTER, INT, INTS),
    walk=(INT, POINTER, INT, FLOAT),
    best=(INT, POINTER, INTS, INTS),
    is_sound=(INT, POINTER),
)
_tour = Functions(
    "tour",
    create=(POINTER, INTS, INTS, INTS, FLAGS, INTS, SEED),
    destroy=(None, POINTER),
    restart=(INT, POINTER),
    walk=(None, POINTER, INT, FLOAT),
    best=(INT, POINTER, INTS),
)
_cuts = Functions("cuts", find=(INT, FLOATS, INTS, INTS, FLAGS, FLOAT, FLOATS, FLAGS))

PAIRS_A_CALL = 500
"""With some hundred nodes, the least cuts of 500 pairs take some hundredths of a second."""


class SegmentWalk(Made):
    """Exchanges of segments between CPUs, see ``core/orders/segment_exchange.hpp``.

    Parameters
    ----------
    between
        The costs between neighbours, see :meth:`dfopt.problem.cost_table.CostTable.between`.
    sizes
        Of the types.
    orders
        The types that each CPU runs.
    room, capacity
        How much size a CPU may hold, and how many tasks.
    by_worst
        Whether the objective is the largest cost of a CPU, not the sum.
    known
        Only a schedule that costs less is kept.
    seed
        64 random bits, not 0.
    """

    def __init__(  # noqa: PLR0913
        self,
        between: Integers,
        sizes: Integers,
        orders: list[list[int]],
        *,
        room: int,
        capacity: int,
        by_worst: bool,
        known: int,
        seed: int,
    ) -> None:
        self._tasks, self._cpus = sum(map(len, orders)), len(orders)
        limits = room, capacity, by_worst, known
        super().__init__(_exchange, between, sizes, self._cpus, *limits, seed, uses=between)
        for cpu, order in enumerate(orders):
            checked(_exchange.fill(self, cpu, np.array(order, dtype=np.int64)))

    def walk(self, moves: int, temperature: float) -> int:
        """Try exchanges; return what the best schedule so far costs."""
        return int(_exchange.walk(self, moves, temperature))

    def best(self) -> list[list[int]]:
        """Return the types that each CPU runs in the best schedule, if one has been found."""
        types, lengths = np.empty(self._tasks, np.int64), np.empty(self._cpus, np.int64)
        checked(_exchange.best(self, types, lengths))
        return [order.tolist() for order in np.split(types, np.cumsum(lengths))[:-1]]

    @property
    def is_sound(self) -> bool:
        """Whether all that the walk keeps up to date is what it would be if it were made anew."""
        return bool(_exchange.is_sound(self))


class TourWalk(Made):
    """Walks from the best tour so far, see ``core/orders/tour_annealing.hpp``.

    Parameters
    ----------
    visits
        How often a tour visits each node.
    near
        For each node those that follow it cheaply, or -1.
    costs, precedes
        The cost of each arc, and whether a node comes before another one (row = from).
    tour
        The first tour: the nodes on its way.
    seed
        64 random bits, not 0.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        visits: Integers,
        near: Integers,
        costs: Integers,
        precedes: Flags,
        tour: Integers,
        seed: int,
    ) -> None:
        self._size = len(tour)
        arrays = visits, near, costs, precedes
        super().__init__(_tour, *arrays, tour, seed, uses=arrays)

    def restart(self) -> int:
        """Go back to the best tour; return what it costs."""
        return int(_tour.restart(self))

    def walk(self, moves: int, temperature: float) -> None:
        """Try moves."""
        _tour.walk(self, moves, temperature)

    def best(self) -> list[int]:
        """Return the best tour."""
        tour = np.empty(self._size, np.int64)
        checked(_tour.best(self, tour))
        return tour.tolist()


def least_cuts(  # noqa: PLR0913
    capacities: Floats,
    sources: Integers,
    sinks: Integers,
    removed: Flags,
    *,
    enough: float,
    check: Callable[[], None],
) -> tuple[Floats, Flags]:
    """Return for each pair of nodes the maximum flow between them, and a side of the least cut.

    Parameters
    ----------
    capacities
        Of each arc.
    sources, sinks
        The pairs.
    removed
        For each pair, the nodes that are left out.
    enough
        Flows of at least this value are not made larger, and their sides are empty.
    check
        Called between some pairs and the next; may end the work by an exception.
    """
    values, sides = np.empty(len(sources)), np.zeros(removed.shape, dtype=np.bool_)
    for first in range(0, len(sources), PAIRS_A_CALL):
        if first > 0:
            check()
        some = slice(first, first + PAIRS_A_CALL)
        given = sources[some], sinks[some], removed[some]
        checked(_cuts.find(capacities, *given, enough, values[some], sides[some]))
    return values, sides
