"""The method ``configuration``: bounds and schedules by the configuration LP."""

from __future__ import annotations

from dfopt.errors import MethodError
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.aggregation import has_moderate_sizes
from dfopt.solvers.configuration.configuration_search import ConfigurationSearch
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.heuristics.local_search import walking_beside
from dfopt.solvers.search import Search


def solve_by_configurations(search: Search) -> None:
    """Find and prove the optimum by the configuration LP, dives, and branch and price.

    Raises
    ------
    MethodError
        Under a matrix, with releases or precedence, and where sizes are too large.
    """
    instance = search.instance
    if isinstance(instance.penalty, PenaltyMatrix) or instance.is_timed:
        raise MethodError(
            "configuration is made for the penalties f and g without releases and precedence; "
            "use cp-sat or auto",
            place="method",
        )
    if not has_moderate_sizes(search):
        raise MethodError(
            "the sizes are too large for configuration, whose tables grow with the capacity; "
            "use a coarser unit, or cp-sat or auto",
            place="method",
        )
    if search.schedule is None:
        search.enter("local search")
        first_schedule.improve(search, effort=0.2 if search.workers > 1 else 1.0)
    search.check()
    with walking_beside(search):
        settle_idle_costs(search)
        ConfigurationSearch(search).solve()


def settle_idle_costs(search: Search) -> None:
    """Let the count model decide where the costs of idle CPUs matter.

    A CPU that runs nothing may have to write back what its cache held at the start. The linear
    program assumes that an idle CPU costs nothing. That does no harm where the limit is at least
    the cost of an idle CPU.
    """
    idle = max(start.idle for start in search.form.starts)
    if search.lower_bound >= idle:
        return
    from dfopt.solvers.cp_sat.count_model import CountModel
    from dfopt.solvers.cp_sat.runner import decide, minimise

    search.enter("count model")
    assert search.objective is not None
    if search.instance.objective is not Objective.TOTAL_PENALTY and search.objective > idle:
        bounds = (search.lower_bound, idle - 1)
        if not decide(search, lambda: CountModel(search, bounds), idle):
            return
    minimise(search, lambda bounds: CountModel(search, bounds))
    search.check()
