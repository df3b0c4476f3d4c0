"""First schedules are schedules, and mostly good ones."""

import contextlib

import pytest

from dfopt.generate import matrix, zipf
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.schedule import evaluate
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.heuristics.constructive import any_orders
from dfopt.solvers.search import Search, SearchOver
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import optimum


def first_objective(instance: Instance, effort: float = 1.0) -> int:
    search = Search(instance)
    with contextlib.suppress(SearchOver):  # a schedule that costs nothing needs no proof
        first_schedule.improve(search, effort)
    assert search.schedule is not None
    orders = [cpu.tasks for cpu in search.schedule.cpus]
    assert max(map(len, orders)) <= instance.tasks_per_cpu
    assert sorted(name for order in orders for name in order) == sorted(instance.tasks_by_name())
    assert search.schedule == evaluate(instance, orders)
    assert search.objective == search.schedule.value(instance.objective)
    return search.objective


@pytest.mark.slow
def test_small_instances_are_mostly_solved() -> None:
    attained = number = 0
    for instance in drawn_instances(150, seed=12):
        found, least = first_objective(instance), optimum(instance)
        assert found >= least
        attained += found == least
        number += 1
    assert attained >= 0.95 * number


@pytest.mark.slow
@pytest.mark.parametrize(
    "instance",
    [
        zipf(tasks=60, cpus=5, fragments=15, seed=1),
        zipf(tasks=60, cpus=5, fragments=15, seed=1, penalty=PenaltyG(fill=4, write_back=2)),
        zipf(tasks=60, cpus=5, fragments=15, seed=1, objective=Objective.TOTAL_PENALTY),
        zipf(tasks=30, cpus=40, fragments=15, seed=1, objective=Objective.MAKESPAN),
        matrix(tasks=25, cpus=3, types=8, seed=1),
    ],
)
def test_larger_instances_have_the_same_schedule_every_time(instance: Instance) -> None:
    assert first_objective(instance, effort=0.1) == first_objective(instance, effort=0.1)


def test_a_search_that_ends_at_once_still_has_a_schedule() -> None:
    for instance in drawn_instances(60, seed=9):
        search = Search(instance)
        if instance.missing_capacity:
            continue
        search.found(any_orders(search))
        assert search.schedule is not None
