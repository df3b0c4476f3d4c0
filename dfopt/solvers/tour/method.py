"""The best order of one CPU's tasks under a matrix: local search, then branch and cut."""

from __future__ import annotations

from contextlib import suppress

from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.search import Search
from dfopt.solvers.tour.branch_and_cut import BranchAndCut
from dfopt.solvers.tour.cut_program import easily_reduced
from dfopt.solvers.tour.problem import tour_problem
from dfopt.solvers.tour.proof import BeginningsSearch
from dfopt.solvers.tour.segment_moves import LONG, SegmentMoves

WALKS = 2
"""The local search takes 2 short walks before there is a linear program, and long ones after it."""

FAILURES = 3
"""It gives up after 3 long walks in a row that find nothing better."""

LARGEST_COST = 1 << 45
"""Floating-point numbers are too coarse for tours that cost more."""


def solve_tour(search: Search) -> None:
    """Find the cheapest order and prove it.

    Parameters
    ----------
    search
        Of an instance with one CPU and a matrix, without releases; it has a schedule.
    """
    problem = tour_problem(search)
    if int(problem.cost.max()) * search.instance.task_count > LARGEST_COST:
        return
    search.enter("tour")
    assert search.schedule is not None
    (order,) = search.orders_of(search.schedule)
    tour = problem.tour(order)
    moves = SegmentMoves(problem, search.seed, search.check)
    tour = moves.improved(tour, easily_reduced(problem), WALKS)
    search.found([problem.order(tour)])
    search.check()
    branches = BranchAndCut(
        problem,
        tour,
        found=lambda better: search.found([problem.order(better)]),
        proved=search.proved,
        raise_bound=BeginningsSearch(search.instance, problem, search.check).raise_bound,
        check=search.check,
    )
    # GLOP may fail on degenerate programs; then other methods take over.
    with suppress(Undecided):
        search.enter("cuts of tours")
        reduced = branches.start()
        search.enter("tour along arcs of small reduced costs")
        failures = 0
        while failures < FAILURES:
            before = branches.best
            branches.improve(moves.improved(branches.tour, reduced, 1, LONG))
            failures = 0 if branches.best < before else failures + 1
            search.check()
        search.enter("branch and cut")
        branches.run()
