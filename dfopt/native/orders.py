"""Search for orders under a matrix, see ``core/orders``."""

from __future__ import annotations

from dfopt.native.library import Flags, Integers, NativeObject, Rows, native, row

RUN = row("cpu", "type")


class SegmentWalk(NativeObject):
    """Exchanges of segments between CPUs, see ``core/orders/segment_exchange.hpp``.

    Parameters
    ----------
    between
        The costs between neighbours, see :meth:`dfopt.problem.cost_table.CostTable.between`.
    sizes
        Of the types.
    runs
        Rows ``RUN``: what each CPU runs, in order.
    cpus
        Their number.
    room, capacity
        How much size a CPU may hold, and how many tasks.
    by_worst
        Whether the objective is the largest cost of a CPU, not the sum.
    known
        Only a schedule that costs less is kept.
    seed
        64 random bits, not 0.
    """

    @native()
    def __init__(  # noqa: PLR0913
        self,
        between: Integers,
        sizes: Integers,
        runs: Rows,
        *,
        cpus: int,
        room: int,
        capacity: int,
        by_worst: bool,
        known: int,
        seed: int,
    ) -> None: ...

    @native()
    def walk(self, moves: int, temperature: float) -> int:
        """Try exchanges; return what the best schedule so far costs."""

    @native(RUN)
    def best(self) -> Rows:
        """Return rows ``RUN`` of the best schedule, if one has been found."""


class TourWalk(NativeObject):
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

    @native()
    def __init__(  # noqa: PLR0913, PLR0917
        self,
        visits: Integers,
        near: Integers,
        costs: Integers,
        precedes: Flags,
        tour: Integers,
        seed: int,
    ) -> None: ...

    @native()
    def restart(self) -> int:
        """Go back to the best tour; return what it costs."""

    @native()
    def walk(self, moves: int, temperature: float) -> None:
        """Try moves."""

    @native()
    def best(self) -> Integers:
        """Return the best tour."""
