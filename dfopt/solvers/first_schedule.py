"""The first incumbent of every method: construction and local search."""

from __future__ import annotations

from dfopt.instance import PenaltyMatrix
from dfopt.solvers.content_search import ContentSearch
from dfopt.solvers.order_search import OrderSearch
from dfopt.solvers.search import Search


def improve(search: Search, rounds: int) -> None:
    """Report good schedules found by ``rounds`` descents."""
    if isinstance(search.instance.penalty, PenaltyMatrix) or search.instance.is_timed:
        OrderSearch(search).run(rounds)
    else:
        ContentSearch(search).run(rounds)
