"""The method ``auto``: what is cheap first, and only as much as the proof needs."""

from __future__ import annotations

from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers import first_schedule, parts
from dfopt.solvers.branch_and_bound import BranchAndBound
from dfopt.solvers.cp_sat import counts_parts, solve_by_cp_sat
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.matrix import bound_by_flow
from dfopt.solvers.search import Search
from dfopt.solvers.waiting import load_module

TINY = 9
"""Up to so many tasks enumeration is faster than loading a solver."""

FIRST_LOOK = 0.05
"""How long, as a share of a whole local search, the first look may take: moments."""

MOST_BRANCHES = 2_000
"""At most this number of transportation problems takes about as long as loading a solver."""

MOST_NODES = 20_000
"""So many partial schedules take about as long as loading a solver."""


def order_is_known(instance: Instance) -> bool:
    """Whether the cheapest order of a CPU's tasks is known in closed form."""
    return not isinstance(instance.penalty, PenaltyMatrix) and not instance.is_timed


def solve_automatically(search: Search) -> None:
    """Run the methods that fit, in order of their cost.

    Heuristics and the cheap bound close what they can, then own searches what is tiny; OR-Tools
    and compiled code are loaded only for the rest.
    """
    search.enter("first schedules")
    if counts_parts(search):
        parts.pack(search)
        search.check()
    if isinstance(search.instance.penalty, PenaltyMatrix) and not search.instance.is_timed:
        bound_by_flow(search)
        search.check()
    first_schedule.improve(search, effort=FIRST_LOOK)
    search.check()
    if search.instance.cpus == 1 and order_is_known(search.instance):
        assert search.objective is not None
        threshold = search.objective - 1
        certificate = CompleteSearch(threshold=threshold, solver="best order")
        search.proved(search.objective, certificate)
        return
    if search.instance.is_timed:
        if BranchAndBound(search).run(MOST_NODES):
            return
    elif search.instance.task_count <= TINY:
        solve_exhaustively(search)
        return
    if order_is_known(search.instance):
        load_module("dfopt.solvers.configuration", search.check)
        from dfopt.solvers.configuration import solve_by_configurations

        solve_by_configurations(search)
    else:
        if not search.instance.is_timed:
            bound_by_flow(search, most_branches=MOST_BRANCHES)
            search.check()
        search.enter("CP-SAT")
        solve_by_cp_sat(search)
