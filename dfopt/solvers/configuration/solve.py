"""The method ``configuration``: bounds and schedules by the configuration LP."""

from __future__ import annotations

from dfopt.errors import MethodError
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.aggregation import has_moderate_sizes
from dfopt.solvers.configuration.configuration_search import ConfigurationSearch
from dfopt.solvers.configuration.idle_costs import settle_idle_costs
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
