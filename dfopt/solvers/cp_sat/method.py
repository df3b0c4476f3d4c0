"""The method ``cp-sat``: it takes the model of CP-SAT that fits the instance."""

from __future__ import annotations

from functools import partial

from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Search


def solve_by_cp_sat(search: Search) -> None:
    """Find and prove the optimum with the model that fits the instance.

    Parts of fragments under g, counts of task classes under f, a circuit per CPU for tables of
    switch costs, circuits with time for releases and precedence.
    """
    if search.schedule is None:
        first_schedule.improve(search, effort=1.0)
    load_module("dfopt.solvers.cp_sat.runner", search.check)
    if search.instance.is_timed:
        from dfopt.solvers.cp_sat.interval_model import IntervalModel
        from dfopt.solvers.cp_sat.runner import minimise

        minimise(search, lambda bounds: IntervalModel(search, bounds))
    elif isinstance(search.instance.penalty, PenaltyMatrix):
        from dfopt.solvers.cp_sat.circuit_model import CircuitModel
        from dfopt.solvers.cp_sat.runner import minimise

        minimise(search, lambda bounds: CircuitModel(search, bounds))
    elif counts_parts(search):
        raise_threshold(search)
    else:
        from dfopt.solvers.cp_sat.count_model import CountModel
        from dfopt.solvers.cp_sat.runner import minimise

        minimise(search, lambda bounds: CountModel(search, bounds))


def counts_parts(search: Search) -> bool:
    """Return whether only the number of parts of fragments on each CPU counts.

    Where some tasks are larger than others, it also counts how a fragment can be cut.
    """
    return (
        isinstance(search.instance.penalty, PenaltyG)
        and search.instance.objective is not Objective.MAKESPAN
        and not search.instance.has_sizes
    )


def raise_threshold(search: Search) -> None:
    """Ask for a schedule at the lower bound, then one visit above it, until there is one."""
    from dfopt.solvers import parts
    from dfopt.solvers.cp_sat.parts_model import PartsModel
    from dfopt.solvers.cp_sat.runner import decide, prove

    penalty = search.instance.penalty
    assert isinstance(penalty, PenaltyG)
    visit = penalty.fill + penalty.write_back
    if not visit:
        return
    parts.pack(search)
    search.check()
    threshold = -(-search.lower_bound // visit) * visit
    while True:
        search.check()
        if decide(search, partial(PartsModel, search, threshold), otherwise=threshold + visit):
            # Every objective is a number of visits, so none lies between bound and threshold.
            prove(search, threshold)
            return
        threshold += visit
