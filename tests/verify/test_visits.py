"""The bound by visits alone is never less than the largest value that a CPU can hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import Instance, Objective, PenaltyG, Task
from dfopt.bounds import cheap_bound
from dfopt.costs.task_types import task_types
from dfopt.files import fingerprint
from dfopt.generate import zipf
from dfopt.problem.result import Result, Status, StopReason
from dfopt.verify import verify
from dfopt.verify.prices import OrderPrices
from dfopt.verify.visits import most_by_visits
from dfopt.verify.weights import largest_values
from tests.strategies import instances


@pytest.mark.slow
@settings(max_examples=200)
@given(instances(kinds=["g"], min_tasks=1), st.integers(0, 12), st.data())
def test_never_less_than_the_largest_value(
    instance: Instance, threshold: int, data: st.DataObject
) -> None:
    numbers = st.lists(
        st.integers(-3, 9), min_size=len(instance.tasks), max_size=len(instance.tasks)
    )
    weights, charges = data.draw(numbers), [abs(one) for one in data.draw(numbers)]
    prices = OrderPrices(weights=weights, charges=charges)
    most = most_by_visits(instance, prices, threshold)
    assert isinstance(instance.penalty, PenaltyG)
    if instance.penalty.fill + instance.penalty.write_back == 0:
        assert most is None
        return
    assert most is not None
    largest = largest_values(instance, prices, threshold)
    assert all(one >= other for one, other in zip(most, largest, strict=True))


@pytest.mark.slow
def test_a_large_proof_is_checked() -> None:
    """More tasks than the dynamic program takes."""
    instance = zipf(
        tasks=60_000, cpus=32, fragments=300, penalty=PenaltyG(fill=2, write_back=1), seed=0
    )
    bound = cheap_bound(instance, task_types(instance))
    result = Result(
        instance_name=instance.name,
        instance_sha256=fingerprint(instance),
        status=Status.UNKNOWN,
        stop_reason=StopReason.GIVEN,
        lower_bound=bound.value,
        certificate=bound.certificate,
    )
    verification = verify(instance, result)
    assert verification.ok, verification.problems
    assert verification.bound_checked


def test_visits_say_nothing_where_they_are_free() -> None:
    tasks = (Task(id="a", df="A"),)
    prices = OrderPrices(weights=[1], charges=[0])
    free = Instance(cpus=1, penalty=PenaltyG(fill=0, write_back=0), tasks=tasks)
    assert most_by_visits(free, prices, 5) is None
    total = Instance(
        cpus=1,
        penalty=PenaltyG(fill=1, write_back=0),
        tasks=tasks,
        objective=Objective.TOTAL_PENALTY,
    )
    assert most_by_visits(total, prices, None) == [1]
