"""The first incumbent of every method: construction, then local search.

Construction loads nothing that takes long. Each form of instance has one local search: exchanges
of segments under a matrix, lists of tasks where tasks wait, contents of CPUs under f and g.
"""

from __future__ import annotations

from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.heuristics.best_insertion import insert_all
from dfopt.solvers.heuristics.constructive import any_orders, deal
from dfopt.solvers.search import Search

MOVES_PER_TASK = 10_000
MOST_MOVES = 20_000_000
FAILURES = 2
"""The search gives up after this number of walks in a row without a better schedule."""


def build(search: Search) -> None:
    """Report first schedules, by construction alone: one that is good within its moment."""
    instance = search.instance
    if instance.is_timed:
        from dfopt.solvers.timed.dispatch_rules import dispatch_by_score
        from dfopt.solvers.timed.tables import timed_tables

        dispatch_by_score(search, timed_tables(search))
        return
    if not isinstance(instance.penalty, PenaltyMatrix) and not instance.has_sizes:
        deal(search)
    orders = insert_all(search)
    if orders is not None:
        search.found(orders)
    elif search.schedule is None:
        search.found(any_orders(search))


def improve(search: Search, effort: float = 1.0) -> None:
    """Report good schedules to the search; ``effort`` scales the length of the search."""
    if search.schedule is None:
        build(search)
        search.check()
    if search.instance.is_timed:
        from dfopt.solvers.timed.annealing import TimedAnnealing
        from dfopt.solvers.timed.tables import timed_tables

        TimedAnnealing(search, timed_tables(search)).run(effort)
    elif isinstance(search.instance.penalty, PenaltyMatrix):
        from dfopt.solvers.heuristics.segment_exchange import SegmentExchange

        SegmentExchange(search).run(effort)
    else:
        from dfopt.solvers.heuristics.local_search import LocalSearch

        # A second search must not repeat the first one.
        local_search = LocalSearch(search, seed=search.seed * 1000 + len(search.history))
        moves = int(effort * min(MOST_MOVES, MOVES_PER_TASK * search.instance.task_count))
        local_search.improve(max(1, moves), FAILURES)
