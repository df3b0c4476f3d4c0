"""The first incumbent of every method: construction, then local search.

Construction loads nothing that takes long. Each form of instance has one local search: exchanges
of segments under a matrix, lists of tasks where tasks wait, contents of CPUs under f and g.
"""

from __future__ import annotations

from itertools import islice
from random import Random

from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.heuristics.best_insertion import insert_all
from dfopt.solvers.heuristics.constructive import any_orders, construct
from dfopt.solvers.heuristics.contents import PartCosts
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Search

CONSTRUCTIONS = 2
"""Fragments are dealt in two ways; all later ones would be random."""

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
        dealt = construct(search, PartCosts(search.form), Random(search.seed))
        for contents in islice(dealt, CONSTRUCTIONS):
            search.found(contents.orders())
            search.check()
    orders = insert_all(search)
    if orders is not None:
        search.found(orders)
    elif search.schedule is None:
        search.found(any_orders(search))


def improve(search: Search, effort: float = 1.0) -> None:
    """Report good schedules to the search; ``effort`` scales the length of the search."""
    is_matrix = isinstance(search.instance.penalty, PenaltyMatrix)
    if search.schedule is None and (is_matrix or search.instance.is_timed):
        build(search)
        search.check()
    if search.instance.is_timed:
        from dfopt.solvers.timed.annealing import TimedAnnealing
        from dfopt.solvers.timed.tables import timed_tables

        TimedAnnealing(search, timed_tables(search)).run(effort)
    elif is_matrix:
        from dfopt.solvers.heuristics.segment_exchange import SegmentExchange

        SegmentExchange(search).run(effort)
    else:
        _search_locally(search, effort)


def _search_locally(search: Search, effort: float) -> None:
    load_module("dfopt.solvers.heuristics.local_search", search.check)
    from dfopt.solvers.heuristics.local_search import LocalSearch

    # A second search must not repeat the first one.
    local_search = LocalSearch(search, seed=search.seed * 1000 + len(search.history))
    moves = int(effort * min(MOST_MOVES, MOVES_PER_TASK * search.instance.task_count))
    local_search.improve(max(1, moves), FAILURES)
