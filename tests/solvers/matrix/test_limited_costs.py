"""Types that cost something to follow too: true bounds, checked proofs, and schedules."""

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings

from dfopt import replace
from dfopt.generate import matrix
from dfopt.problem.certificate import Over, Proof
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.matrix import bound_by_flow, choose_supports
from dfopt.solvers.search import Search, SearchOver
from dfopt.verify.checker import check_bound
from tests.claims import result_of
from tests.proofs import over_of
from tests.solvers.matrix.claims_of_supports import assert_optimum_lies_between, assert_proven
from tests.solvers.matrix.test_supports import drawn
from tests.strategies import instances


def chosen(instance: Instance) -> Search:
    """Return the search after the program over contents of limited cost."""
    search = Search(instance)
    with suppress(SearchOver):
        bound_by_flow(search, most_branches=1)
        choose_supports(search)
    return search


def costly(seed: int) -> Instance:
    """Return a few tasks of up to three types, whose own-type switches cost as much as others."""
    source = random.Random(seed)
    types = source.randint(1, 3)
    largest = source.choice((3, 9))
    instance = matrix(
        tasks=source.randint(2, 7),
        cpus=source.randint(2, 3),
        types=types,
        largest=largest,
        triangle=seed % 3 == 0,
        seed=seed,
        cold_start=seed % 4 == 0,
        final_write_back=seed % 5 == 0,
    )
    penalty = instance.penalty
    assert isinstance(penalty, PenaltyMatrix)
    switch = tuple(
        tuple(source.randint(0, largest) if a == b else cost for b, cost in enumerate(row))
        for a, row in enumerate(penalty.switch)
    )
    return replace(instance, penalty=replace(penalty, switch=switch))


def servers(objective: Objective = Objective.MAX_PENALTY) -> Instance:
    """Return 100 requests of three types on four CPUs."""
    return Instance(
        cpus=4,
        penalty=PenaltyMatrix(
            types=("http", "short", "long"),
            switch=((4_600, 9_000, 20_000), (14_700, 5_000, 20_000), (203_800, 9_000, 6_000)),
        ),
        objective=objective,
        tasks=(
            Task(id="h", type="http", count=86),
            Task(id="s", type="short", count=9),
            Task(id="l", type="long", count=5),
        ),
    )


@given(instances(kinds=("matrix",), min_tasks=1))
@settings(deadline=None)
def test_bound_and_schedule_hold_the_optimum_between_them(instance: Instance) -> None:
    assert_optimum_lies_between(instance, chosen)


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_costly_own_types_agree_with_enumeration(first: int) -> None:
    for seed in range(first, first + 25):
        assert_optimum_lies_between(costly(seed), chosen)


@pytest.mark.parametrize("seed", [2, 4, 6, 7])
def test_a_hundred_tasks_of_six_types_are_proven(seed: int) -> None:
    instance = matrix(tasks=100, cpus=8, types=6, seed=seed)
    search = chosen(instance)
    assert search.is_closed
    assert over_of(search.certificate) is Over.SUPPORTS
    assert_proven(instance, search)


def test_better_schedules_than_a_flow_has_are_found() -> None:
    # Dealing types one after the other costs 36 here.
    instance = matrix(tasks=50, cpus=5, types=6, seed=4)
    search = chosen(instance)
    assert search.is_closed
    assert search.objective == 25
    assert_proven(instance, search)


@pytest.mark.parametrize("warm", [False, True])
def test_cpus_may_start_differently(warm: bool) -> None:
    instance = drawn(2, tasks=60, types=4, cpus=4, own=4, warm=warm)
    search = chosen(instance)
    assert search.is_closed
    assert_proven(instance, search)


def test_large_costs_of_few_types_are_proven() -> None:
    instance = servers()
    search = Search(instance)
    with suppress(SearchOver):
        first_schedule.build(search)
        choose_supports(search)
    assert search.is_closed
    assert_proven(instance, search)
    # A CPU of 21 requests of the first type pays for 20 of them; four such hold 84 of 86.
    assert search.lower_bound > 20 * 4_600


def test_execution_times_count_under_makespan() -> None:
    instance = replace(drawn(0, tasks=40, types=3, cpus=3, own=3), objective=Objective.MAKESPAN)
    timed = replace(instance, tasks=tuple(replace(task, exec=7) for task in instance.tasks))
    search = chosen(timed)
    assert search.is_closed
    assert_proven(timed, search)


def test_too_small_costs_prove_nothing() -> None:
    # What limits the tasks of a CPU is known by the checker only from these costs.
    instance = matrix(tasks=100, cpus=8, types=6, seed=4)
    search = chosen(instance)
    certificate = search.certificate
    assert isinstance(certificate, Proof)
    row = max(certificate.classes, key=lambda row: row.least_cost)
    assert row.least_cost
    others = tuple(other for other in certificate.classes if other != row)
    for classes in (
        (*others, replace(row, least_cost=0)),
        (*others, replace(row, least_cost=row.least_cost + 1)),
        (*others, replace(row, least_cost=-1)),
        (*others, replace(row, type="unknown")),
        (*others, row, row),
    ):
        forged = replace(certificate, classes=classes)
        result = result_of(
            instance, search.schedule, lower_bound=search.lower_bound, certificate=forged
        )
        check = check_bound(instance, result)
        assert not check.checked or check.problems
