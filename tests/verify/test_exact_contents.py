"""The largest values by weights are those found by trying, and costs may be large."""

import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given

from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyF
from dfopt.problem.schedule import order_cost
from tests.weighted import largest_by_weights, order_value, task, values_by_trying, weighted


@pytest.mark.slow
@given(weighted())
def test_largest_values_are_those_found_by_trying(
    case: tuple[Instance, list[int], list[int], int | None],
) -> None:
    assert largest_by_weights(*case) == values_by_trying(*case)


@pytest.mark.slow
def test_largest_values_of_instances_with_dear_write_backs() -> None:
    draw = random.Random(1)
    for _ in range(250):
        states = [None, *(CacheState(df=df, leaves=leaves) for df in "AB" for leaves in Leaves)]
        tasks = tuple(
            Task(
                id=f"t{number}",
                df=draw.choice("AABC"),
                lines=draw.choice((0, 1, 2, 50)),
                leaves=draw.choice(list(Leaves)),
            )
            for number in range(5)
        )
        instance = Instance(
            cpus=2,
            capacity=draw.choice((4, 5)),
            penalty=PenaltyF(read_line=1, write_back=20),
            initial=(draw.choice(states), draw.choice(states)),
            tasks=tasks,
        )
        weights = [draw.randint(-1, 9) for _ in tasks]
        charges = [draw.choice((0, 0, 2, 5)) for _ in tasks]
        threshold = draw.choice((2, 3, 22, 45))
        case = (instance, weights, charges, threshold)
        assert largest_by_weights(*case) == values_by_trying(*case)


def on_one_cpu(*tasks: Task, **options: Any) -> Instance:
    return Instance(cpus=1, penalty=PenaltyF(read_line=1, write_back=20), tasks=tasks, **options)


# Instance, weights, charges, threshold; the largest value; and the only orders of that value.
ODD_CASES: dict[str, tuple[tuple[Instance, list[int], list[int], int], int, set[str]]] = {
    "the first and the last block share a fragment": (
        (
            on_one_cpu(task("a1", 50), task("a2", 1, "invalidated"), task("b", 1)),
            [1, 1, 1],
            [0, 0, 0],
            2,
        ),
        3,
        {"a1 b a2"},
    ),
    "and then need three tasks with roles": (
        (
            on_one_cpu(
                task("a1", 50),
                task("a2", 1, "dirty"),
                task("a3", 50, "invalidated"),
                task("b", 1),
                initial=(CacheState(df="A", leaves=Leaves.DIRTY),),
            ),
            [1, 1, 1, 1],
            [0, 0, 0, 0],
            2,
        ),
        4,
        {"a1 b a2 a3"},
    ),
    "it is better to start elsewhere": (
        (
            on_one_cpu(
                task("a", 1, "dirty"),
                task("b", 1),
                initial=(CacheState(df="A", leaves=Leaves.INVALIDATED),),
            ),
            [1, 1],
            [0, 0],
            22,
        ),
        2,
        {"b a"},
    ),
    "the dearer task enters, for its charge": (
        (on_one_cpu(task("a1", 1), task("a2", 3), cold_start=True), [5, 5], [8, 0], 3),
        10,
        {"a2 a1"},
    ),
    "a task of negative weight enters": (
        (on_one_cpu(task("a1", 1), task("a2", 50), cold_start=True), [-2, 9], [0, 0], 1),
        7,
        {"a1 a2"},
    ),
    "the first one enters free, so that its charge does not matter": (
        (on_one_cpu(task("a", 9), task("b", 9)), [5, 5], [8, 1], 9),
        9,
        {"a b"},
    ),
}


@pytest.mark.parametrize("case", ODD_CASES)
def test_odd_cases(case: str) -> None:
    claim, largest, best = ODD_CASES[case]
    instance, weights, charges, threshold = claim
    found = set()
    for size in range(1, len(weights) + 1):
        for order in permutations(range(len(weights)), size):
            tasks = [instance.tasks[number] for number in order]
            value = order_value(instance, 0, order, weights, charges)
            if value == largest and order_cost(instance, 0, tasks) <= threshold:
                found.add(" ".join(task.id for task in tasks))
    assert found == best
    assert largest_by_weights(*claim) == values_by_trying(*claim) == [largest]


def test_weights_may_exceed_64_bits() -> None:
    instance, weights, charges, threshold = ODD_CASES["the dearer task enters, for its charge"][0]
    huge = 2**62
    weights, charges = [huge * weight for weight in weights], [huge * charge for charge in charges]
    assert largest_by_weights(instance, weights, charges, threshold) == [10 * huge]
    assert largest_by_weights(instance, weights, charges, None) == [10 * huge - 3]


def test_costs_may_be_as_large_as_instances_allow() -> None:
    lines = 2**60
    instance = on_one_cpu(task("a", lines), task("b", lines), task("c", lines), cold_start=True)
    for threshold, value in ((lines - 1, 0), (3 * lines - 1, 2), (3 * lines, 3), (2**70, 3)):
        assert largest_by_weights(instance, [1, 1, 1], [0, 0, 0], threshold) == [value]
    assert largest_by_weights(instance, [lines + 1, 0, lines + 2], [0, 0, 0], None) == [3]
