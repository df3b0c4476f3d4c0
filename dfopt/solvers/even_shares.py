"""Makespan by way of the total penalty, where no task waits.

Some CPU finishes no earlier than an even share of all execution times and the least total
penalty. Execution times do not matter for that penalty, so tasks that differ in nothing else are
alike, and its proof is much easier than one about the makespan. Where tasks are many, the share
is nearly attained: by schedules of a small total penalty whose CPUs are evened out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING

from dfopt.costs.cheap_bounds import cheap_bounds
from dfopt.problem.certificate import Certificate, CompleteSearch, EvenShares
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.problem.result import FirstOf, Progress, StopReason, TimeLimit
from dfopt.solvers.search import Search, SearchOver
from dfopt.structs import replace

if TYPE_CHECKING:
    from dfopt.solvers.heuristics.local_search import LocalSearch

LONGEST_S = 0.2
"""Seconds of processor time for each task that the least total penalty may take."""

SHARE_OF_TOTALS = 0.5
"""The part of the time that the least total penalty may take."""

TASKS_PER_WALK = 5
"""The CPUs are evened out until a walk for every 5 tasks has found nothing better."""

FIRST_FAILURES = 3
"""On one processor, CPUs are evened out before the least total penalty is known, until 3 walks in a
row have found nothing better."""

MOVES_PER_TASK = 10_000
MOST_MOVES = 10_000_000


def counts_executions(instance: Instance) -> bool:
    """Return whether several CPUs run tasks that take time and do not wait."""
    return (
        instance.objective is Objective.MAKESPAN
        and instance.cpus > 1
        and not instance.is_timed
        and any(task.exec for task in instance.tasks)
    )


def share_evenly(search: Search, solve: Callable[[Search], None]) -> None:
    """Report an even share of the least total penalty as a bound, and look for a schedule near it.

    Parameters
    ----------
    search
        Of an instance as :func:`counts_executions` says.
    solve
        Solves the same instance under total-penalty.
    """
    if not _can_be_evened_out(search):
        _share_then_even_out(search, solve, search.workers)
        return
    from dfopt.solvers.heuristics.local_search import Background, Balancing

    search.enter("evening out")
    beside = Balancing(search, seed=search.seed + 1)
    if search.workers == 1:
        _walk(search, beside, FIRST_FAILURES)
        _share_then_even_out(search, solve, 1)
        return
    with Background(beside, _moves(search)):
        _share_then_even_out(search, solve, search.workers - 1)


def _can_be_evened_out(search: Search) -> bool:
    """Return whether the local search that evens out CPUs is made for the instance."""
    instance = search.instance
    return not isinstance(instance.penalty, PenaltyMatrix) and not instance.has_sizes


def _share_then_even_out(search: Search, solve: Callable[[Search], None], workers: int) -> None:
    """Bound the makespan, then even out the schedule of the least total penalty."""
    search.enter("least total penalty")
    with search.share(SHARE_OF_TOTALS):
        totals = _least_total(search, solve, workers)
    search.check()
    if totals.schedule is None or not _can_be_evened_out(search):
        return
    from dfopt.solvers.heuristics.local_search import Balancing

    search.enter("evening out")
    balancing = Balancing(search, seed=search.seed)
    balancing.start_from([Counter(order) for order in search.orders_of(totals.schedule)])
    _walk(search, balancing, search.instance.task_count // TASKS_PER_WALK)


def _walk(search: Search, balancing: LocalSearch, most_failures: int) -> None:
    """Walk until that many walks in a row have found nothing better."""
    failures = 0
    while failures < most_failures:
        failures = 0 if balancing.run(None, _moves(search)) else failures + 1
        search.check()


def _moves(search: Search) -> int:
    return min(MOST_MOVES, MOVES_PER_TASK * search.instance.task_count)


def _least_total(search: Search, solve: Callable[[Search], None], workers: int) -> Search:
    """Return an ended search for the least total penalty; report the bound that it proves."""
    end = time.process_time() + LONGEST_S * search.instance.task_count

    def stop(progress: Progress) -> StopReason | None:
        return StopReason.TIME_LIMIT if time.process_time() > end else search.stop_reason()

    penalties = replace(search.instance, objective=Objective.TOTAL_PENALTY)
    limits = FirstOf(
        stop, *([TimeLimit(max(0.0, search.time_left))] if search.time_left < inf else [])
    )
    totals = Search(penalties, stop=limits, seed=search.seed, workers=workers, is_part=True)
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
    return totals


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
