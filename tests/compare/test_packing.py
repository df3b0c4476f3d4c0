"""Placements of windows, against all there are."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.compare.exact import improved, instance_of, is_solvable
from dfopt.compare.packing import lower_bound, pack
from dfopt.compare.problem import EMPTY, FREE, Placement, WindowProblem
from dfopt.problem.switch_costs import order_cost as instance_order_cost
from tests.compare.drawn import problems
from tests.compare.naive import least_cost, window_of
from tests.compare.naive import order_cost as naive_order_cost

SECONDS = 1000.0


def assert_sound(problem: WindowProblem, placement: Placement, least: int) -> None:
    assert placement.lower_bound <= least <= placement.cost
    if placement.is_closed:
        assert placement.cost == least
    costs = placement.costs
    assert placement.cost == (max(costs) if problem.by_worst else sum(costs))
    for state, visits, spared in zip(
        problem.states, placement.visits, placement.spared, strict=True
    ):
        assert len(set(visits)) == len(visits)
        assert not spared or state in (FREE, visits[0])


@given(problems())
def test_the_optimum_lies_between_bound_and_placement(problem: WindowProblem) -> None:
    least = least_cost(window_of(problem))
    assert lower_bound(problem) <= least
    assert_sound(problem, pack(problem), least)


@given(problems(simple=True))
@settings(max_examples=40)
def test_solvers_find_no_more_than_there_is(problem: WindowProblem) -> None:
    assert is_solvable(problem)
    least = least_cost(window_of(problem))
    bad = Placement(
        visits=((),) * len(problem.states),
        spared=(False,) * len(problem.states),
        costs=(10**6,) * len(problem.states),
        cost=10**6,
        lower_bound=0,
    )
    found = improved(problem, bad, SECONDS, thorough=True)
    assert_sound(problem, found, least)
    assert found.is_closed


@given(problems(simple=True), st.data())
def test_the_instance_says_the_same(problem: WindowProblem, data: st.DataObject) -> None:
    instance = instance_of(problem)
    window = window_of(problem)
    assert instance.tasks_per_cpu == problem.capacity
    order = data.draw(st.permutations(list(instance.tasks_by_name().values())))
    cpu = data.draw(st.integers(0, len(problem.states) - 1))
    cut = data.draw(st.integers(1, problem.capacity))
    own = tuple(order[:cut])
    assert instance_order_cost(instance, cpu, own) == naive_order_cost(
        window, window.states[cpu], own
    )


def test_quick_bounds_that_are_attained() -> None:
    whole = WindowProblem(
        capacity=4, sizes=(3, 1), entries=((2,), (7,)), exit=5, states=(FREE, FREE), final=True
    )
    # Both on one CPU: 5 + 2 for the switch to the cheaper one, and 5 in the end.
    # One on each CPU: twice 5 in the end.
    placement = pack(whole)
    assert (placement.cost, placement.lower_bound) == (10, 10)
    # Room for one dispatch a CPU: the fragment of three is visited three times.
    split = replace(whole, capacity=1, states=(FREE,) * 3 + (EMPTY,), final=False)
    placement = pack(split)
    assert (placement.cost, placement.lower_bound) == (2, 2)
    # A free cache is better left to a visit than to what evicts.
    evicting = replace(split, capacity=4, states=(FREE, FREE, FREE), fixed=((), (), (1, 1)))
    placement = pack(evicting)
    assert (placement.cost, placement.lower_bound) == (6, 6)
