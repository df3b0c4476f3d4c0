"""The method ``cp-sat``: it takes the model of CP-SAT that fits the instance."""

from __future__ import annotations

from collections.abc import Callable

from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers import parts
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Search


def solve_by_cp_sat(search: Search) -> None:
    """Find and prove the optimum with the model that fits the instance.

    Counts of task classes under f and g, a circuit per CPU for tables of switch costs, circuits
    with time for releases and precedence.
    """
    if search.schedule is None:
        first_schedule.improve(search, effort=1.0)
    load_module("dfopt.solvers.cp_sat.runner", search.check)
    from dfopt.solvers.cp_sat.circuit_model import CircuitModel, IntervalModel
    from dfopt.solvers.cp_sat.count_model import CountModel
    from dfopt.solvers.cp_sat.runner import Model, minimise

    model: Callable[[Search, tuple[int, int]], Model] = CountModel
    if search.instance.is_timed:
        model = IntervalModel
    elif isinstance(search.instance.penalty, PenaltyMatrix):
        model = CircuitModel
    elif parts.counts_parts(search.instance):
        # This mostly is a proof. The model would take long: many of its parts are alike.
        parts.pack(search)
        search.check()
    minimise(search, lambda bounds: model(search, bounds))
