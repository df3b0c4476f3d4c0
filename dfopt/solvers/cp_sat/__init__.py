"""The method ``cp-sat``: constraint programming with OR-Tools."""

from __future__ import annotations

from dfopt.instance import PenaltyMatrix
from dfopt.solvers import first_schedule
from dfopt.solvers.cp_sat.runner import Model, run
from dfopt.solvers.search import Search


def solve_by_cp_sat(search: Search) -> None:
    """Find and prove the optimum with the model that fits the instance.

    Counts of task classes where the best order is known (f and g), a circuit per CPU for
    tables of switch costs, circuits with time for releases and precedence.
    """
    if search.schedule is None:
        first_schedule.improve(search, rounds=20)

    def build(bounds: tuple[int, int]) -> Model:
        if search.instance.is_timed:
            from dfopt.solvers.cp_sat.intervals import IntervalModel

            return IntervalModel(search, bounds)
        if isinstance(search.instance.penalty, PenaltyMatrix):
            from dfopt.solvers.cp_sat.circuits import CircuitModel

            return CircuitModel(search, bounds)
        from dfopt.solvers.cp_sat.counts import CountModel

        return CountModel(search, bounds)

    run(search, build)
