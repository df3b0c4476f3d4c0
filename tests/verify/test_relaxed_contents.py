"""No relaxation is less than the largest value that a CPU can hold."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfopt.verify.exact_contents as weights_module
from dfopt import Instance, Objective, PenaltyF, PenaltyG, Task, replace
from dfopt.costs.cheap_bounds import cheap_bound
from dfopt.costs.task_types import task_types
from dfopt.files import fingerprint
from dfopt.generate import zipf
from dfopt.problem.certificate import Proof
from dfopt.problem.penalties import Penalty
from dfopt.problem.result import InstanceName, Result, Status, StopReason
from dfopt.verify import verify
from dfopt.verify.exact_contents import largest_values
from dfopt.verify.relaxed_contents import OrderPrices, relaxed_values
from tests.strategies import instances
from tests.verify.test_bound import certified


@pytest.mark.slow
@settings(max_examples=200)
@given(instances(kinds=["f", "g"], min_tasks=1), st.integers(0, 24), st.data())
def test_never_less_than_the_largest_value(
    instance: Instance, threshold: int, data: st.DataObject
) -> None:
    numbers = st.lists(
        st.integers(-3, 9), min_size=len(instance.tasks), max_size=len(instance.tasks)
    )
    weights, charges = data.draw(numbers), [abs(one) for one in data.draw(numbers)]
    fragments = sorted({str(task.df) for task in instance.tasks})
    visits = {df: data.draw(st.integers(-3, 9)) for df in fragments}
    prices = OrderPrices(
        weights=weights, charges=charges, visits=visits, scale=data.draw(st.integers(1, 3))
    )
    limit = None if instance.objective is Objective.TOTAL_PENALTY else threshold
    largest = largest_values(instance, prices, limit)
    relaxations = list(relaxed_values(instance, prices, limit))
    assert relaxations
    for most in relaxations:
        assert all(one >= other for one, other in zip(most, largest, strict=True))


@pytest.mark.slow
def test_a_large_proof_is_checked() -> None:
    """More tasks than the dynamic program takes."""
    instance = zipf(
        tasks=60_000, cpus=32, fragments=300, penalty=PenaltyG(fill=2, write_back=1), seed=0
    )
    bound = cheap_bound(instance, task_types(instance))
    result = Result(
        instance=InstanceName(name=instance.name, sha256=fingerprint(instance)),
        status=Status.UNKNOWN,
        stop_reason=StopReason.GIVEN,
        lower_bound=bound.value,
        certificate=bound.certificate,
    )
    verification = verify(instance, result)
    assert verification.ok, verification.problems
    assert verification.bound_checked


@pytest.mark.parametrize(
    "penalty", [PenaltyF(read_line=0, write_back=0), PenaltyG(fill=0, write_back=0)]
)
def test_an_even_share_of_execution_times_is_checked_at_once(
    penalty: Penalty, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(1)
    instance = Instance(
        cpus=25,
        objective=Objective.MAKESPAN,
        penalty=penalty,
        tasks=tuple(
            Task(id=f"t{number}", df="A", lines=1, exec=source.randint(1000, 9999))
            for number in range(1000)
        ),
    )
    bound = cheap_bound(instance, task_types(instance))
    assert isinstance(bound.certificate, Proof)
    monkeypatch.setattr(weights_module, "LARGEST_TABLE", 0)
    found = certified(instance, bound.certificate, bound.value)
    assert found.bound_checked
    (leaf,) = bound.certificate.nodes
    more = replace(leaf, bin_weights=(bound.value,))  # type: ignore[type-var]
    dearer = replace(bound.certificate, threshold=bound.value, nodes=(more,))
    assert certified(instance, dearer, bound.value + 1).problems
