"""Placements of windows, against all there are."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.compare.windows.as_instance import uniform_instance
from dfopt.compare.windows.uniform import (
    Placement,
    UniformWindows,
    lower_bound,
    lowest_entries,
)
from dfopt.compare.windows.window import EMPTY, UNKNOWN, DispatchClass, WindowProblem
from dfopt.compare.windows.window_solver import WindowSolver
from dfopt.problem.switch_costs import order_cost as instance_order_cost
from tests.compare.drawn import window_problems
from tests.compare.naive import least_cost, window_of
from tests.compare.naive import order_cost as naive_order_cost

pack = UniformWindows().solve


def assert_sound(window: WindowProblem, placement: Placement, least: int) -> None:
    assert placement.lower_bound <= least <= placement.cost
    if placement.is_closed:
        assert placement.cost == least
    assert placement.cost == window.value(placement.costs)
    for state, visits, spared in zip(
        window.states, placement.visits, placement.spared, strict=True
    ):
        fragments = [fragment for fragment, _ in visits]
        assert len(set(fragments)) == len(fragments)
        assert sum(count for _, count in visits) <= window.capacity
        assert not spared or state == UNKNOWN or state.fragment == fragments[0]
    for fragment, size in enumerate(window.sizes):
        assert sum(dict(visits).get(fragment, 0) for visits in placement.visits) == size


@given(window_problems(uniform=True))
def test_the_optimum_lies_between_bound_and_placement(window: WindowProblem) -> None:
    least = least_cost(window_of(window))
    assert lower_bound(window, lowest_entries(window)) <= least
    assert_sound(window, pack(window), least)


@given(window_problems(uniform=True))
def test_orders_run_every_dispatch_for_what_the_placement_costs(window: WindowProblem) -> None:
    placement = pack(window)
    one_by_one = window_of(window)
    orders = placement.orders()
    numbers = sorted(number for order in orders for number in order)
    assert numbers == sorted(
        number for number, (_, one) in enumerate(window.classes()) for _ in range(one.copies)
    )
    if window.evicting:
        return
    examples = {task.id.partition(".")[0]: task for task in one_by_one.tasks}
    costs = [
        naive_order_cost(one_by_one, state, [examples[str(number)] for number in order])
        for state, order in zip(one_by_one.states, orders, strict=True)
    ]
    assert sum(costs) == sum(placement.costs)


@given(window_problems(uniform=True, evicts=False))
@settings(max_examples=40)
def test_solvers_find_no_more_than_there_is(window: WindowProblem) -> None:
    least = least_cost(window_of(window))
    solver = WindowSolver(leaves_differ=False, seconds=1000.0, thorough=True)
    found = solver.solve(window, (0,) * window.cpus).schedule
    assert isinstance(found, Placement)
    assert found.is_closed
    assert found.cost == least


@pytest.mark.slow
@given(window_problems(uniform=True, evicts=False), st.data())
def test_the_instance_says_the_same(window: WindowProblem, data: st.DataObject) -> None:
    instance = uniform_instance(window)
    one_by_one = window_of(window)
    assert instance.tasks_per_cpu == window.capacity
    order = data.draw(st.permutations(list(instance.tasks_by_name().values())))
    cpu = data.draw(st.integers(0, window.cpus - 1))
    cut = data.draw(st.integers(0, window.capacity))
    own = tuple(order[:cut])
    assert instance_order_cost(instance, cpu, own) == naive_order_cost(
        one_by_one, one_by_one.states[cpu], own
    )


def test_quick_bounds_that_are_attained() -> None:
    def fragment(count: int, entry: int) -> tuple[DispatchClass, ...]:
        return (DispatchClass(entry, 1, count),)

    whole = WindowProblem(
        capacity=4,
        fragments=(fragment(3, 2), fragment(1, 7)),
        write_back=5,
        states=(UNKNOWN, UNKNOWN),
        final=True,
    )
    # Both on one CPU: 5 + 2 for the switch to the cheaper one, and 5 in the end.
    # One on each CPU: twice 5 in the end.
    placement = pack(whole)
    assert (placement.cost, placement.lower_bound) == (10, 10)
    # Room for one dispatch a CPU: the fragment of three is visited three times.
    split = replace(whole, capacity=1, states=(UNKNOWN,) * 3 + (EMPTY,), final=False)
    placement = pack(split)
    assert (placement.cost, placement.lower_bound) == (2, 2)
    # A free cache is better left to a visit than to what evicts.
    evicting = replace(
        split,
        capacity=4,
        states=(UNKNOWN, UNKNOWN, UNKNOWN),
        evicting=((), (), fragment(2, 1)),
    )
    placement = pack(evicting)
    assert (placement.cost, placement.lower_bound) == (6, 6)
