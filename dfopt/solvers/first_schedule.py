"""The first incumbent of every method: construction and local search."""

from __future__ import annotations

from dfopt.machine import PenaltyMatrix
from dfopt.solvers.annealing import Annealing
from dfopt.solvers.order_search import OrderSearch
from dfopt.solvers.search import Search


def improve(search: Search, effort: float = 1.0) -> None:
    """Report good schedules; ``effort`` scales how long they are looked for."""
    if isinstance(search.instance.penalty, PenaltyMatrix) or search.instance.is_timed:
        OrderSearch(search, effort).run()
    else:
        Annealing(search, effort).run()
