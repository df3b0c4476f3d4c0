"""Makespan by way of the total penalty, where no task waits.

Some CPU finishes no earlier than an even share of all execution times and the least total
penalty. Execution times do not matter for that penalty, so tasks that differ in nothing else are
alike, and its proof is much easier than one about the makespan. Where tasks are many, the share
is nearly attained.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from math import inf

from dfopt.costs.cheap_bounds import cheap_bounds
from dfopt.problem.certificate import Certificate, CompleteSearch, EvenShares
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.result import FirstOf, Progress, StopReason, TimeLimit
from dfopt.solvers.search import Search, SearchOver
from dfopt.structs import replace

LONGEST_S = 0.2
"""Seconds of processor time for each task that the least total penalty may take."""

SHARE_OF_TOTALS = 0.5
"""The part of the time that the least total penalty may take."""


def counts_executions(instance: Instance) -> bool:
    """Return whether several CPUs run tasks that take time and do not wait."""
    return (
        instance.objective is Objective.MAKESPAN
        and instance.cpus > 1
        and not instance.is_timed
        and any(task.exec for task in instance.tasks)
    )


def share_evenly(search: Search, solve: Callable[[Search], None]) -> None:
    """Report an even share of the least total penalty as a bound.

    Parameters
    ----------
    search
        Of an instance as :func:`counts_executions` says.
    solve
        Solves the same instance under total-penalty.
    """
    search.enter("least total penalty")
    with search.share(SHARE_OF_TOTALS):
        _report_least_total(search, solve)


def _report_least_total(search: Search, solve: Callable[[Search], None]) -> None:
    """Solve the instance under total-penalty; report the bound and the schedule of that."""
    end = time.process_time() + LONGEST_S * search.instance.task_count

    def stop(progress: Progress) -> StopReason | None:
        return StopReason.TIME_LIMIT if time.process_time() > end else search.stop_reason()

    penalties = replace(search.instance, objective=Objective.TOTAL_PENALTY)
    limits = FirstOf(
        stop, *([TimeLimit(max(0.0, search.time_left))] if search.time_left < inf else [])
    )
    totals = Search(penalties, stop=limits, seed=search.seed, workers=search.workers, is_part=True)
    try:
        with suppress(SearchOver):
            for bound in cheap_bounds(penalties, totals.types, totals.check):
                if bound.certificate is not None:
                    totals.proved(bound.value, bound.certificate)
            if search.schedule is not None:
                totals.found(totals.orders_of(search.schedule))
            solve(totals)
    finally:
        # The bound is kept, whatever ended the search.
        known = totals.end()
        share = even_share(search.instance, known.lower_bound)
        if known.certificate is not None and share >= search.lower_bound:
            search.proved(share, _certificate(known.certificate, known.lower_bound, share))
        if known.schedule is not None:
            search.found(search.orders_of(known.schedule))


def even_share(instance: Instance, total_penalty: int) -> int:
    """Return an m-th of all execution times and a total penalty, rounded up."""
    executions = sum(task.exec * task.multiplicity for task in instance.tasks)
    return -(-(executions + total_penalty) // instance.cpus)


def _certificate(proof: Certificate, total_penalty: int, bound: int) -> Certificate:
    match proof:
        case CompleteSearch(solver=solver):
            return CompleteSearch(threshold=bound - 1, solver=solver)
        case EvenShares():
            raise AssertionError("no proof of a total penalty")
    return EvenShares(threshold=bound - 1, total_penalty=total_penalty, proof=proof)
