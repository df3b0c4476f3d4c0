"""Supports under a matrix: true bounds, checked proofs, and schedules that attain them."""

import random
from collections import Counter
from contextlib import suppress
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.problem.cache import CacheState
from dfopt.problem.certificate import Over
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.facade import solve
from dfopt.solvers.matrix import choose_supports
from dfopt.solvers.matrix.dealing import dealt
from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.solvers.matrix.support_list import UNREACHED, SupportList
from dfopt.solvers.search import Search, SearchOver
from tests.proofs import is_tree, over_of
from tests.solvers.matrix.claims_of_supports import assert_optimum_lies_between, assert_proven
from tests.solvers.matrix.problems import problems
from tests.strategies import instances


def chosen(instance: Instance) -> Search:
    """Return the search after the program over contents."""
    search = Search(instance)
    with suppress(SearchOver):
        choose_supports(search)
    return search


def drawn(  # noqa: PLR0913
    seed: int, *, tasks: int, types: int, cpus: int, own: int = 0, warm: bool = False
) -> Instance:
    """Return tasks of few types; a switch costs 1 to 40, within a type 0 to ``own``."""
    source = random.Random(seed)
    names = tuple(f"T{number}" for number in range(types))
    switch = tuple(
        tuple(
            source.randint(0, own) if row == column else source.randint(1, 40)
            for column in range(types)
        )
        for row in range(types)
    )
    return Instance(
        cpus=cpus,
        penalty=PenaltyMatrix(types=names, switch=switch),
        objective=Objective.TOTAL_PENALTY if seed % 2 else Objective.MAX_PENALTY,
        tasks=tuple(
            Task(id=name, type=name, count=source.randint(1, 2 * tasks // types)) for name in names
        ),
        initial=tuple(
            CacheState(type=source.choice(names)) if warm and source.random() < 0.7 else None
            for _ in range(cpus)
        ),
        cold_start=warm,
    )


@given(instances(kinds=("matrix",), min_tasks=1))
@settings(deadline=None)
def test_bound_and_schedule_hold_the_optimum_between_them(instance: Instance) -> None:
    assert_optimum_lies_between(instance, chosen)


@pytest.mark.parametrize("seed", range(8))
def test_a_hundred_tasks_of_six_types_are_proven(seed: int) -> None:
    instance = drawn(seed, tasks=100, types=6, cpus=8)
    search = chosen(instance)
    assert search.is_closed
    assert over_of(search.certificate) is Over.SUPPORTS
    assert_proven(instance, search)


@pytest.mark.parametrize(("types", "cpus", "seed"), [(7, 3, 30), (7, 4, 28), (10, 8, 38)])
def test_an_integral_solution_is_a_plan_though_few_visits_find_none(
    types: int, cpus: int, seed: int
) -> None:
    instance = drawn(seed, tasks=3 * cpus * types, types=types, cpus=cpus)
    search = chosen(instance)
    assert search.is_closed
    assert_proven(instance, search)


@pytest.mark.parametrize("seed", range(6))
def test_warm_caches_and_first_loads_are_proven(seed: int) -> None:
    instance = drawn(seed, tasks=200, types=5, cpus=6, warm=True)
    search = chosen(instance)
    assert search.is_closed
    assert_proven(instance, search)


@pytest.mark.parametrize("seed", [1, 3, 5, 7])
def test_the_sum_is_proven_where_own_types_cost(seed: int) -> None:
    # In these draws no ring of switches undercuts the switches within types.
    instance = drawn(seed, tasks=300, types=4, cpus=6, own=2)
    search = chosen(instance)
    assert search.is_closed
    assert_proven(instance, search)


@pytest.mark.parametrize("seed", range(2))
def test_the_largest_has_a_bound_where_own_types_cost(seed: int) -> None:
    instance = drawn(2 * seed, tasks=60, types=4, cpus=4, own=4)
    search = chosen(instance)
    assert search.lower_bound > 0
    assert search.objective is not None
    assert_proven(instance, search)


def with_detours(each: int) -> Instance:
    """Return tasks of which b is near to a, c and d; e and its CPU are far from all of them."""
    far = 50
    rows = ((0, 1, far, far), (1, 0, 1, 1), (far, 1, 0, far), (far, 1, far, 0))
    return Instance(
        cpus=2,
        penalty=PenaltyMatrix(
            types=("a", "b", "c", "d", "e"),
            switch=(*((*row, far) for row in rows), (far, far, far, far, 0)),
        ),
        objective=Objective.TOTAL_PENALTY,
        tasks=(
            *(Task(id=name, type=name, count=each) for name in "abcd"),
            Task(id="e", type="e", count=4 * each),
        ),
    )


def test_a_detour_through_a_type_of_the_support_is_followed() -> None:
    search = chosen(with_detours(20))
    # a b c b d, which visits b twice
    assert (search.lower_bound, search.objective) == (4, 4)


def test_with_too_few_tasks_for_detours_the_bound_is_still_true() -> None:
    search = chosen(with_detours(1))
    assert (search.lower_bound, search.objective) == (4, None)
    assert solve(with_detours(1)).objective == 52


@pytest.mark.slow
def test_cases_are_told_apart_where_the_relaxation_is_fractional() -> None:
    split = 0
    for seed in range(1, 40, 2):
        instance = drawn(seed, tasks=5_000, types=12, cpus=64)
        search = chosen(instance)
        assert search.is_closed
        assert over_of(search.certificate) is Over.SUPPORTS
        assert_proven(instance, search)
        split += is_tree(search.certificate)
        if split:
            return
    raise AssertionError("no instance has a fractional relaxation")


@pytest.mark.slow
def test_a_hundred_thousand_tasks_are_proven() -> None:
    for seed in range(2):
        instance = drawn(seed, tasks=100_000, types=12, cpus=64)
        search = chosen(instance)
        assert search.is_closed
        assert_proven(instance, search)


def test_more_types_than_can_be_listed_are_left_alone() -> None:
    search = chosen(drawn(0, tasks=200, types=61, cpus=4))
    # A flow bounds them.
    assert over_of(search.certificate) is not Over.SUPPORTS


def test_names_and_cpus_may_be_exchanged() -> None:
    instance = drawn(3, tasks=100, types=5, cpus=4, warm=True)
    source = random.Random(1)
    tasks, states = list(instance.tasks), list(instance.initial)
    source.shuffle(tasks)
    source.shuffle(states)
    other = Instance(
        cpus=4,
        penalty=instance.penalty,
        objective=instance.objective,
        tasks=tuple(tasks),
        initial=tuple(states),
        cold_start=True,
    )
    assert chosen(instance).objective == chosen(other).objective


@pytest.mark.slow
@given(problems(), st.data())
@settings(max_examples=300, deadline=None)
def test_tasks_are_dealt_to_any_supports_that_have_walks(
    problem: MatrixProblem, data: st.DataObject
) -> None:
    """All tasks run, none beyond the capacity, whatever the supports leave room for."""
    listing = SupportList(problem, [0] * len(problem.sizes), most=100)
    plan: Counter[tuple[int, int]] = Counter()
    for start in problem.starts:
        reached = listing.supports[listing.rest[start] < UNREACHED // 2].tolist()
        plan[start, data.draw(st.sampled_from(reached))] += 1
    orders = dealt(problem, listing, plan, lambda: None)
    if orders is not None:
        ran = Counter(chain.from_iterable(orders))
        assert tuple(ran[task_type] for task_type in range(len(problem.sizes))) == problem.sizes
        assert max(map(len, orders)) <= problem.capacity
