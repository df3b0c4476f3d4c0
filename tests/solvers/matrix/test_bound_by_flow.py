"""Instances with a matrix: what flows say about them."""

import random
from contextlib import suppress
from statistics import median

import pytest
from hypothesis import given, settings

from dfopt import solve
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.problem.result import TimeLimit
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.matrix import bound_by_flow
from dfopt.solvers.search import Search, SearchOver
from tests.patience import PATIENCE_S
from tests.strategies import instances


@given(instances(kinds=("matrix",), min_tasks=1))
@settings(deadline=None)
def test_bound_and_schedule_hold_the_optimum_between_them(instance: Instance) -> None:
    search, exact = Search(instance), Search(instance)
    with suppress(SearchOver):
        bound_by_flow(search)
    with suppress(SearchOver):
        solve_exhaustively(exact)
    assert search.objective is not None
    assert exact.objective is not None
    assert search.lower_bound <= exact.objective <= search.objective


def hundred_tasks(seed: int, objective: Objective) -> Instance:
    """Return 100 tasks of 6 types on 8 CPUs; a switch costs 1 to 50."""
    source = random.Random(seed)
    types = tuple("abcdef")
    switch = tuple(tuple(source.randint(1, 50) for _ in types) for _ in types)
    return Instance(
        cpus=8,
        penalty=PenaltyMatrix(types=types, switch=switch),
        objective=objective,
        tasks=tuple(Task(id=str(number), type=source.choice(types)) for number in range(100)),
    )


def test_most_bounds_of_a_hundred_tasks_are_near_their_schedules() -> None:
    ratios = []
    for seed in range(12):
        search = Search(hundred_tasks(seed, Objective.TOTAL_PENALTY))
        with suppress(SearchOver):
            bound_by_flow(search)
        assert search.objective is not None
        assert 0 < search.lower_bound <= search.objective
        ratios.append(search.objective / search.lower_bound)
    # Equally cheap flows lead to schedules of different quality, so single seeds say little.
    assert median(ratios) <= 1.15


@pytest.mark.slow
def test_solve_reports_the_bound_of_the_flow() -> None:
    result = solve(
        hundred_tasks(0, Objective.TOTAL_PENALTY), stop=TimeLimit(PATIENCE_S / 10), workers=1
    )
    assert result.lower_bound is not None
    assert result.lower_bound > 1_100


def test_an_even_share_bounds_the_cpu_that_pays_most() -> None:
    total = Search(hundred_tasks(0, Objective.TOTAL_PENALTY))
    largest = Search(hundred_tasks(0, Objective.MAX_PENALTY))
    bound_by_flow(total)
    bound_by_flow(largest)
    assert largest.lower_bound == -(-total.lower_bound // 8)
