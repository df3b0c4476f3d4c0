"""The first incumbent of every method: construction and local search."""

from __future__ import annotations

from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.compilation import machine_code
from dfopt.solvers.heuristics.order_search import OrderSearch
from dfopt.solvers.heuristics.short_annealing import Annealing
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Search

FIRST_LOOK = 0.5
"""Least effort at which loading the compiled search takes less time than the search itself."""

MOVES_PER_TASK = 10_000
MOST_MOVES = 20_000_000
FAILURES = 2
"""The search gives up after this number of walks in a row without a better schedule."""


def improve(search: Search, effort: float = 1.0) -> None:
    """Report good schedules to the search; ``effort`` scales the length of the search."""
    if isinstance(search.instance.penalty, PenaltyMatrix) or search.instance.is_timed:
        OrderSearch(search, effort).run()
    elif effort < FIRST_LOOK:
        Annealing(search, effort).run()
    else:
        _search_locally(search, effort)


def _search_locally(search: Search, effort: float) -> None:
    load_module("dfopt.solvers.heuristics.local_search", search.check)
    from dfopt.solvers.heuristics.local_search import LocalSearch, fits

    if not fits(search) or not machine_code.LOOPS.is_ready(search.check):
        Annealing(search, effort).run()
        return
    # A second search must not repeat the first one.
    local_search = LocalSearch(search, seed=search.seed * 1000 + len(search.history))
    moves = int(effort * min(MOST_MOVES, MOVES_PER_TASK * search.instance.task_count))
    failures = 0
    while failures < FAILURES:
        failures = 0 if local_search.run(None, moves) else failures + 1
