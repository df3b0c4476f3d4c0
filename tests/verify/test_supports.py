"""Proofs by supports: what the checker accepts is true, and what is wrong it names."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfopt.verify.limited_costs as limited_costs_module
import dfopt.verify.support_orders as orders_module
from dfopt import replace
from dfopt.errors import MethodError
from dfopt.files import result_from_document, result_to_document
from dfopt.problem.certificate import (
    SetWeight,
    SupportProof,
    Supports,
    SupportSplit,
    SupportWeights,
    TypeCost,
    TypeWeight,
)
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from dfopt.verify import verify
from dfopt.verify.bound import BoundCheck, check_bound
from dfopt.verify.enumeration import has_schedule_below
from dfopt.verify.supports import false_supports
from tests.claims import result_of
from tests.strategies import instances

THREE_TYPES = Instance(
    cpus=3,
    penalty=PenaltyMatrix(types=("a", "b", "c"), switch=((0, 4, 9), (5, 0, 7), (2, 6, 0))),
    objective=Objective.TOTAL_PENALTY,
    tasks=(
        Task(id="x", type="a", count=40),
        Task(id="y", type="b", count=30),
        Task(id="z", type="c", count=20),
    ),
)
"""Each CPU has room for 30 tasks; one has to run a after c, and pays 2."""


def sets(**weights: int) -> tuple[SetWeight, ...]:
    """Return the weights of sets; each letter of a name is a type."""
    return tuple(SetWeight(types=tuple(types), weight=weight) for types, weight in weights.items())


def each(**weights: int) -> tuple[TypeWeight, ...]:
    """Return what a task of each type weighs."""
    return tuple(TypeWeight(type=name, weight=weight) for name, weight in weights.items())


def at_least(**costs: int) -> tuple[TypeCost, ...]:
    """Return what a task of each type costs at least."""
    return tuple(TypeCost(type=name, cost=cost) for name, cost in costs.items())


WEIGHTS = SupportWeights(unit=1, bin_weights=(4, 4, 4), sets=sets(a=4, b=4, c=2))


def checked(proof: SupportProof, *, instance: Instance = THREE_TYPES, bound: int = 2) -> BoundCheck:
    certificate = Supports(threshold=bound - 1, proof=proof)
    return check_bound(
        instance, result_of(instance, None, lower_bound=bound, certificate=certificate)
    )


def test_true_weights_are_accepted() -> None:
    assert checked(WEIGHTS).checked


def test_weights_do_not_prove_more_than_they_add_up_to() -> None:
    assert checked(WEIGHTS, bound=3).problems == [
        "certificate.proof: the weights are 14, no more than the CPUs can be worth, 14"
    ]


def test_too_small_bin_weights_are_named() -> None:
    assert checked(replace(WEIGHTS, bin_weights=(4, 3, 4))).problems == [
        "certificate.proof.bin_weights[1]: is 3, but an order is worth 4"
    ]


def test_a_cpu_may_be_worth_most_where_it_runs_nothing() -> None:
    # One CPU runs both tasks for 10. The other two run nothing, and are worth 0.
    instance = Instance(
        cpus=3,
        capacity="unlimited",
        cold_start=True,
        penalty=PenaltyMatrix(types=("a",), switch=((0,),), start=(10,)),
        objective=Objective.TOTAL_PENALTY,
        tasks=(Task(id="x", type="a", count=2),),
    )
    proof = SupportWeights(unit=1, bin_weights=(-10, -10, -10), sets=())
    assert checked(proof, instance=instance, bound=30).problems == [
        "certificate.proof.bin_weights[0]: is -10, but an order is worth 0"
    ]


@pytest.mark.parametrize(
    ("proof", "problem"),
    [
        (
            replace(WEIGHTS, bin_weights=(4, 4)),
            "certificate.proof.bin_weights: has 2 entries for 3 CPUs",
        ),
        (replace(WEIGHTS, unit=-1), "certificate.proof.unit: is -1, but must not be negative"),
        (
            replace(WEIGHTS, sets=(SetWeight(types=(), weight=-1),), counted=each(a=1)),
            "certificate.proof.sets[0].types: must name a type",
        ),
        (
            replace(WEIGHTS, sets=sets(ad=4)),
            "certificate.proof.sets[0].types[1]: no task has the type 'd'",
        ),
        (
            replace(WEIGHTS, sets=sets(aa=4)),
            "certificate.proof.sets[0].types[1]: names the type 'a' again",
        ),
        (
            replace(WEIGHTS, tasks=2 * each(a=0)),
            "certificate.proof.tasks[1]: names the type 'a' again",
        ),
        (
            SupportSplit(types=("d",), most=1, below=WEIGHTS, above=WEIGHTS),
            "certificate.proof.types[0]: no task has the type 'd'",
        ),
    ],
)
def test_errors_are_named(proof: SupportProof, problem: str) -> None:
    assert problem in checked(proof).problems


def test_a_case_may_use_what_it_assumes_and_no_more() -> None:
    # If three CPUs run a, one b and one c, they are worth 10, and pay at least 10 - 6 = 4.
    even = SupportWeights(unit=1, bin_weights=(2, 2, 2), sets=sets(a=2, b=2, c=2))
    assert checked(SupportSplit(types=("a",), most=2, below=WEIGHTS, above=even)).checked

    # One CPU has no room for all of a.
    never = SupportWeights(bin_weights=(0, 0, 0), unit=1, sets=(*sets(a=10), *sets(a=-10)))

    def errors_at_4(most: int, below: SupportWeights) -> list[str]:
        split = SupportSplit(types=("a",), most=most, below=below, above=even)
        return [problem.split(":")[0] for problem in checked(split, bound=4).problems]

    assert errors_at_4(2, WEIGHTS) == ["certificate.proof.below"]
    assert errors_at_4(1, never) == ["certificate.proof.above"]


def test_weights_that_grow_with_every_task_prove_nothing() -> None:
    check = checked(replace(WEIGHTS, tasks=each(a=1)))
    assert check.problems == ["certificate.proof: more tasks are worth ever more"]


def test_too_many_supports_cannot_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders_module, "MOST_SUPPORTS", 2)
    assert "too many to check" in checked(WEIGHTS).unchecked[0]


def test_the_kind_belongs_to_the_penalty() -> None:
    instance = Instance(
        cpus=1, penalty=PenaltyG(fill=1, write_back=1), tasks=(Task(id="t", df="A"),)
    )
    assert checked(WEIGHTS, instance=instance).problems == [
        "certificate.kind: 'supports' is for the penalty matrix"
    ]


def test_a_result_goes_through_a_document() -> None:
    split = SupportSplit(types=("a", "c"), most=2, below=WEIGHTS, above=WEIGHTS)
    costs = replace(WEIGHTS, unit=0, least_costs=at_least(a=0, b=3))
    certificate = Supports(threshold=1, proof=replace(split, below=costs))
    result = result_of(THREE_TYPES, None, lower_bound=2, certificate=certificate)
    assert result_from_document(result_to_document(result)).certificate == certificate
    assert verify(THREE_TYPES, result).certificate_kind == "supports"


@st.composite
def proofs(draw: st.DrawFn, types: tuple[str, ...], cpus: int, depth: int = 1) -> SupportProof:
    small = st.integers(-3, 6)
    some = st.lists(st.sampled_from(types), min_size=1, unique=True).map(tuple)
    if depth and draw(st.booleans()):
        return SupportSplit(
            types=draw(some),
            most=draw(st.integers(0, cpus)),
            below=draw(proofs(types, cpus, depth - 1)),
            above=draw(proofs(types, cpus, depth - 1)),
        )
    costs_count = draw(st.booleans())
    return SupportWeights(
        unit=0 if costs_count else draw(st.integers(0, 2)),
        bin_weights=tuple(draw(st.integers(-4, 12)) for _ in range(cpus)),
        sets=tuple(draw(st.lists(st.builds(SetWeight, types=some, weight=small), max_size=4))),
        tasks=() if costs_count else each(**{name: draw(st.integers(-2, 2)) for name in types}),
        least_costs=at_least(**{name: draw(st.integers(0, 3)) for name in types if costs_count}),
        counted=each(**{name: draw(small) for name in draw(st.sets(st.sampled_from(types)))}),
    )


@settings(max_examples=150, deadline=None)
@given(st.data(), instances(kinds=("matrix",), min_tasks=1, max_tasks=5))
def test_what_is_accepted_is_true(data: st.DataObject, instance: Instance) -> None:
    types = tuple(dict.fromkeys(str(task.type) for task in instance.tasks))
    certificate = Supports(proof=data.draw(proofs(types, instance.cpus)))
    with suppress(MethodError):
        for bound in range(1, 40):
            if false_supports(instance, certificate, bound):
                break
            assert not has_schedule_below(instance, bound)


def test_large_tables_of_limited_costs_are_not_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited_costs_module, "MOST_STEPS", 1000)
    instance = Instance(
        cpus=2,
        penalty=PenaltyMatrix(types=("a", "b"), switch=((1, 2), (2, 1))),
        capacity="unlimited",
        tasks=(Task(id="x", type="a", count=1000), Task(id="y", type="b", count=1000)),
    )
    weights = SupportWeights(
        bin_weights=(0, 0),
        sets=sets(a=1),
        counted=each(a=1),
        least_costs=at_least(a=1, b=1),
    )
    check = checked(weights, instance=instance, bound=1000)
    assert not check.checked
    assert "too many to check" in check.unchecked[0]
