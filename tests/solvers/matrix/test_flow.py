"""Flows bound all schedules under a matrix, and walks along them are some."""

import random
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given, settings

from dfopt.solvers.matrix.flow import least_flow
from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.solvers.matrix.walks import walks_along
from tests.solvers.matrix.problems import least_cost, order_cost, problems


def assert_runs_all(problem: MatrixProblem, orders: list[list[int]]) -> int:
    """Assert that orders run all tasks within the capacity; return what they cost together."""
    ran = Counter(chain.from_iterable(orders))
    assert tuple(ran[task_type] for task_type in range(len(problem.sizes))) == problem.sizes
    assert max(map(len, orders)) <= problem.capacity
    pairs = zip(problem.starts, orders, strict=True)
    return sum(order_cost(problem, start, tuple(order)) for start, order in pairs)


@pytest.mark.slow
@given(problems())
@settings(max_examples=300, deadline=None)
def test_flows_bound_all_schedules_and_walks_along_them_are_some(problem: MatrixProblem) -> None:
    flow = least_flow(problem)
    least = least_cost(problem)
    assert flow.cost <= least <= assert_runs_all(problem, walks_along(problem, flow))


@pytest.mark.parametrize("cpus", [1, 2, 4])
@pytest.mark.parametrize("types", [2, 3, 5, 8])
def test_walks_of_many_tasks_are_real(types: int, cpus: int) -> None:
    source = random.Random(types * cpus)
    for room in (1.0, 1.02, 2.0):
        switch = tuple(tuple(source.choices(range(99), k=types)) for _ in range(types))
        sizes = tuple(source.choices(range(1, 200), k=types))
        finish = tuple(source.choices(range(99), k=types))
        problem = MatrixProblem(
            capacity=int(-(-sum(sizes) // cpus) * room),
            sizes=sizes,
            starts=tuple(sorted(source.choices(range(types + 1), k=cpus))),
            switch=switch,
            # Nothing is known about a CPU, or it ran a type last.
            start=((0,) * types, *switch),
            finish=finish,
            idle=(0, *finish),
        )
        flow = least_flow(problem)
        assert flow.cost <= assert_runs_all(problem, walks_along(problem, flow))


def free(sizes: tuple[int, ...], *, capacity: int, cpus: int, switch: object) -> MatrixProblem:
    """Return tasks whose CPUs all begin for nothing."""
    nothing = (0,) * len(sizes)
    return MatrixProblem(
        capacity=capacity,
        sizes=sizes,
        starts=(0,) * cpus,
        switch=switch,  # type: ignore[arg-type]
        start=(nothing,),
        finish=nothing,
        idle=(0,),
    )


FAR = 50


def test_circles_that_no_cpu_comes_by_are_entered() -> None:
    # 0 stays 0 for nothing; 1 and 2 follow each other for nothing. One CPU has to go across.
    switch = ((0, FAR, FAR + 7), (FAR, 9, 0), (FAR, 0, 9))
    problem = free((4, 3, 3), capacity=10, cpus=1, switch=switch)
    flow = least_flow(problem)
    assert (flow.cost, flow.is_complete) == (FAR, True)
    assert assert_runs_all(problem, walks_along(problem, flow)) == FAR


def test_types_that_go_together_need_as_many_cpus_as_their_tasks() -> None:
    # 0 and 1 take turns for nothing, 7 of them where a CPU has room for 3: three CPUs at least.
    switch = ((9, 0, FAR), (0, 9, FAR), (FAR, FAR, 0))
    problem = free((4, 3, 4), capacity=3, cpus=4, switch=switch)
    assert least_cost(problem) == FAR
    flow = least_flow(problem)
    assert flow.cost == FAR
    assert assert_runs_all(problem, walks_along(problem, flow)) == FAR


def test_a_search_that_ends_early_still_bounds() -> None:
    switch = ((0, FAR, FAR), (FAR, 9, 0), (FAR, 0, 9))
    problem = free((4, 3, 3), capacity=10, cpus=1, switch=switch)
    flow = least_flow(problem, most_branches=1)
    assert (flow.cost, flow.is_complete) == (0, False)
    assert_runs_all(problem, walks_along(problem, flow))


class OutOfTimeError(Exception):
    """The end of the search."""


def test_a_search_can_be_ended_anywhere() -> None:
    def end() -> None:
        raise OutOfTimeError

    switch = ((0, FAR, FAR), (FAR, 9, 0), (FAR, 0, 9))
    problem = free((4, 3, 3), capacity=5, cpus=2, switch=switch)
    flow = least_flow(problem)
    with pytest.raises(OutOfTimeError):
        least_flow(problem, end)
    with pytest.raises(OutOfTimeError):
        walks_along(problem, flow, end)
