"""Idle CPUs that cost something: the count model decides where that matters.

A CPU that runs nothing may have to write back what its cache held at the start.
"""

from __future__ import annotations

from dfopt.problem.instance import Objective
from dfopt.solvers.search import Search


def settle_idle_costs(search: Search) -> None:
    """Let the count model decide where the costs of idle CPUs matter.

    The linear program assumes that an idle CPU costs nothing. That does no harm where the limit
    is at least the cost of an idle CPU.
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
