"""Windows under a matrix: flows bound all schedules, and walks are some of them."""

import random

import pytest
from hypothesis import given, settings

from dfopt.compare.matrix import ATTEMPTS, TypeSchedule
from dfopt.compare.problem import FREE
from dfopt.compare.type_costs import TypeCosts
from dfopt.compare.type_flow import TypeWindow, least_flow
from dfopt.compare.type_instance import improved, is_solvable
from dfopt.compare.walks import inserted_walks, walks_of
from tests.compare.type_windows import assert_real, least_cost, problems


@given(problems())
@settings(max_examples=300, deadline=None)
def test_flows_bound_all_schedules_and_walks_are_some(problem) -> None:
    window, costs = problem
    flow = least_flow(window, costs)
    least = least_cost(window, costs)
    assert (-(-flow.cost // len(window.states)) if window.by_worst else flow.cost) <= least
    for walks in (walks_of(window, costs, flow), *(one(window, costs, flow) for one in ATTEMPTS)):
        assert_real(window, costs, walks)
        paid = [walk.cost for walk in walks]
        assert least <= (max(paid) if window.by_worst else sum(paid))


@pytest.mark.parametrize("cpus", [1, 2, 4])
@pytest.mark.parametrize("types", [2, 3, 5, 8])
def test_walks_of_long_windows_are_real(types: int, cpus: int) -> None:
    source = random.Random(types * cpus)
    for room in (1.0, 1.02, 2.0):
        costs = TypeCosts(
            switch=tuple(tuple(source.choices(range(99), k=types)) for _ in range(types)),
            start=(0,) * types,
            finish=tuple(source.choices(range(99), k=types)),
        )
        sizes = tuple(source.choices(range(1, 200), k=types))
        window = TypeWindow(
            capacity=int(-(-sum(sizes) // cpus) * room),
            types=tuple(range(types)),
            sizes=sizes,
            states=tuple(sorted(source.choices(range(FREE, types), k=cpus))),
            final=True,
            by_worst=source.random() < 0.5,
        )
        flow = least_flow(window, costs)
        for make in (walks_of, *ATTEMPTS):
            walks = make(window, costs, flow)
            assert_real(window, costs, walks)
            assert flow.cost <= sum(walk.cost for walk in walks)


def test_circles_that_no_cpu_comes_by_are_entered() -> None:
    # 0 stays 0 for nothing; 1 and 2 follow each other for nothing. One CPU has to go across.
    far = 50
    costs = TypeCosts(
        switch=((0, far, far + 7), (far, 9, 0), (far, 0, 9)), start=(0,) * 3, finish=(0,) * 3
    )
    window = TypeWindow(capacity=10, types=(0, 1, 2), sizes=(4, 3, 3), states=(FREE,))
    flow = least_flow(window, costs)
    assert (flow.cost, flow.is_complete) == (far, True)
    assert sum(walk.cost for walk in walks_of(window, costs, flow)) == far


def test_types_that_go_together_need_as_many_cpus_as_their_dispatches() -> None:
    # 0 and 1 take turns for nothing, 7 of them where a CPU has room for 3: three CPUs at least.
    far = 50
    costs = TypeCosts(
        switch=((9, 0, far), (0, 9, far), (far, far, 0)), start=(0,) * 3, finish=(0,) * 3
    )
    window = TypeWindow(
        capacity=3, types=(0, 1, 2), sizes=(4, 3, 4), states=(FREE,) * 4, final=False
    )
    assert least_cost(window, costs) == far
    flow = least_flow(window, costs)
    assert flow.cost == far
    assert sum(walk.cost for walk in walks_of(window, costs, flow)) == far


def test_a_search_that_ends_early_still_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt.compare.type_flow.MOST_BRANCHES", 1)
    far = 50
    costs = TypeCosts(
        switch=((0, far, far), (far, 9, 0), (far, 0, 9)), start=(0,) * 3, finish=(0,) * 3
    )
    window = TypeWindow(capacity=10, types=(0, 1, 2), sizes=(4, 3, 3), states=(FREE,))
    flow = least_flow(window, costs)
    assert (flow.cost, flow.is_complete) == (0, False)
    assert_real(window, costs, walks_of(window, costs, flow))


@given(problems(most=5))
@settings(max_examples=25, deadline=None)
def test_solvers_close_what_flows_leave_open(problem) -> None:
    window, costs = problem
    if not is_solvable(window):
        return
    walks = inserted_walks(window, costs)
    paid = [walk.cost for walk in walks]
    cost = max(paid) if window.by_worst else sum(paid)
    known = TypeSchedule(walks=tuple(walks), cost=cost, lower_bound=0)
    found = improved(window, costs, known, 1000.0)
    assert found.is_closed
    assert found.cost == least_cost(window, costs)
    assert_real(window, costs, list(found.walks))
