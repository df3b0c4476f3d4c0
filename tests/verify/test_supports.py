"""Proofs by supports: what the checker accepts is true, and what is wrong it names."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfopt.verify.support_orders as orders_module
import dfopt.verify.support_worth as limited_costs_module
from dfopt import replace
from dfopt.errors import MethodError
from dfopt.problem.certificate import Fork, Leaf, Proof, TaskClass, VisitCount
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.verify.checker import BoundCheck, check_bound
from dfopt.verify.enumeration import has_schedule_below
from dfopt.verify.supports import SupportArgument
from dfopt.verify.tree import flaws
from tests.claims import result_of
from tests.proofs import by_supports
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


SETS = "abc"
LEAF = Leaf(prices=((0, 4), (1, 4), (2, 2)), bin_weights=(4, 4, 4))
TRUE = by_supports("abc", SETS, [LEAF])


def checked(proof: Proof, *, instance: Instance = THREE_TYPES, bound: int = 2) -> BoundCheck:
    certificate = replace(proof, threshold=bound - 1)
    return check_bound(
        instance, result_of(instance, None, lower_bound=bound, certificate=certificate)
    )


def test_true_weights_are_accepted() -> None:
    assert checked(TRUE).checked
    assert checked(by_supports("abc", SETS, [replace(LEAF, bin_weights=())])).checked
    assert checked(by_supports("abc", SETS, [replace(LEAF, bin_weights=(4,))])).checked


def test_weights_do_not_prove_more_than_they_add_up_to() -> None:
    assert checked(TRUE, bound=3).problems == [
        "certificate.nodes[0]: everything is worth 12, no more than the bin weights, 12"
    ]


def test_too_small_bin_weights_are_named() -> None:
    small = by_supports("abc", SETS, [replace(LEAF, bin_weights=(4, 3, 4))])
    assert checked(small).problems == [
        "certificate.nodes[0].bin_weights[1]: is 3, but the CPU can hold 4"
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
    proof = by_supports("a", "", [Leaf(bin_weights=(-10, -10, -10))])
    assert checked(proof, instance=instance, bound=30).problems == [
        "certificate.nodes[0].bin_weights[0]: is -10, but the CPU can hold 0"
    ]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"nodes": (replace(LEAF, bin_weights=(4, 4)),)},
            "certificate.nodes[0].bin_weights: has 2 entries for 3 CPUs",
        ),
        (
            {"nodes": (replace(LEAF, scale=-1),)},
            "certificate.nodes[0]: the scale is -1, but must not be negative",
        ),
        (
            {"counts": (VisitCount(classes=()),)},
            "certificate.counts[0]: must be of CPUs that run a task of some types",
        ),
        (
            {"counts": (VisitCount(classes=(0,), tasks=2),)},
            "certificate.counts[0]: must be of CPUs that run a task of some types",
        ),
        (
            {"counts": (VisitCount(classes=(0, 3)),)},
            "certificate.counts[0]: names a class that is not there",
        ),
        (
            {"classes": (TaskClass(type="d"),)},
            "certificate.classes[0]: is no type of a task",
        ),
        (
            {"classes": (TaskClass(type="a"), TaskClass(type="a"))},
            "certificate.classes[1]: is there already",
        ),
    ],
)
def test_errors_are_named(changes: dict[str, object], problem: str) -> None:
    assert problem in checked(replace(TRUE, **changes)).problems  # type: ignore[arg-type]


def test_a_case_may_use_what_it_assumes_and_no_more() -> None:
    # If three CPUs run a, one b and one c, they are worth 10, and pay at least 10 - 6 = 4.
    even = Leaf(prices=((0, 2), (1, 2), (2, 2)), bin_weights=(2, 2, 2))
    fork = Fork(count=0, at_most=2)
    assert checked(by_supports("abc", SETS, [fork, LEAF, even])).checked

    # Two CPUs have room for all of a.
    never = Leaf(prices=((0, 10), (0, -10)), bin_weights=(0, 0, 0))

    def errors_at_4(most: int, below: Leaf) -> list[str]:
        split = by_supports("abc", SETS, [Fork(count=0, at_most=most), below, even])
        return [problem.split(":")[0] for problem in checked(split, bound=4).problems]

    assert errors_at_4(2, LEAF) == ["certificate.nodes[1]"]
    assert errors_at_4(1, never) == ["certificate.nodes[2]"]


def test_tasks_that_are_taken_to_cost_more_than_a_ring_prove_nothing() -> None:
    check = checked(by_supports("abc", SETS, [LEAF], costs={"a": 1}))
    assert check.problems == ["certificate.nodes[0]: more tasks are worth ever more"]


def test_too_many_supports_cannot_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders_module, "MOST_SUPPORTS", 2)
    assert "too many to check" in checked(TRUE).unchecked[0]


@st.composite
def proofs(draw: st.DrawFn, types: tuple[str, ...], cpus: int) -> Proof:
    small = st.integers(-3, 6)
    numbers = range(len(types))
    some = st.lists(st.sampled_from(numbers), min_size=1, unique=True).map(tuple)
    counts = draw(st.lists(st.builds(VisitCount, classes=some), min_size=1, max_size=4))
    costs_are_limits = draw(st.booleans())

    def nodes(depth: int) -> list[Fork | Leaf]:
        if depth and draw(st.booleans()):
            fork = Fork(
                count=draw(st.sampled_from(range(len(counts)))), at_most=draw(st.integers(0, cpus))
            )
            return [fork, *nodes(depth - 1), *nodes(depth - 1)]
        claims = st.tuples(*(st.integers(-4, 12) for _ in range(cpus)))
        return [
            Leaf(
                scale=0 if costs_are_limits else draw(st.integers(0, 2)),
                bin_weights=draw(st.just(()) | claims),
                prices=tuple((number, draw(small)) for number in range(len(counts))),
                weights=tuple((number, draw(small)) for number in numbers if draw(st.booleans())),
            )
        ]

    least = st.integers(0 if costs_are_limits else -1, 3)
    return Proof(
        over="supports",  # type: ignore[arg-type]
        classes=tuple(TaskClass(type=name, least_cost=draw(least)) for name in types),
        counts=tuple(counts),
        nodes=tuple(nodes(1)),
    )


@settings(max_examples=150, deadline=None)
@given(st.data(), instances(kinds=("matrix",), min_tasks=1, max_tasks=5))
def test_what_is_accepted_is_true(data: st.DataObject, instance: Instance) -> None:
    types = tuple(dict.fromkeys(str(task.type) for task in instance.tasks))
    certificate = data.draw(proofs(types, instance.cpus))
    with suppress(MethodError):
        for bound in range(1, 40):
            if flaws(SupportArgument(instance, certificate, bound, lambda: None)):
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
    leaf = Leaf(scale=0, weights=((0, 1),), prices=((0, 1),), bin_weights=(0, 0))
    weights = by_supports("ab", "a", [leaf], costs={"a": 1, "b": 1})
    check = checked(weights, instance=instance, bound=1000)
    assert not check.checked
    assert "too many to check" in check.unchecked[0]
