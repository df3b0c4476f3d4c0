"""Proofs over orders: what the checker accepts is true, and what is wrong it names."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.files import result_from_document, result_to_document
from dfopt.problem.certificate import ArcCount, CrossingCount, Fork, Leaf, Node, Proof
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from dfopt.verify.checker import BoundCheck, check_bound
from tests.claims import result_of
from tests.proofs import by_orders
from tests.result_strategies import order_proofs
from tests.solvers.optimum import optimum
from tests.strategies import instances

TWO_PAIRS = Instance(
    cpus=1,
    penalty=PenaltyMatrix(
        types=("a", "b", "c", "d"),
        switch=((9, 1, 5, 6), (1, 9, 6, 5), (5, 6, 9, 1), (6, 5, 1, 9)),
    ),
    objective=Objective.TOTAL_PENALTY,
    tasks=tuple(Task(id=name, type=name) for name in "abcd"),
)
"""a and b are near each other, c and d too; the best order a b d c costs 1 + 5 + 1."""

PROOF = by_orders(
    "abcd",
    [CrossingCount(within=(1, 2), last_of=(1,)), CrossingCount(within=(3, 4), last_of=(3,))],
    [
        Leaf(
            leaving=((0, -1),),
            weights=((0, -4), (1, 1), (2, 1), (3, 1), (4, 1)),
            prices=((0, 4), (1, 4)),
        )
    ],
)
"""Every arc into a type costs 1 at least, but for the first, and each pair is left."""


def checked(proof: Proof, *, instance: Instance = TWO_PAIRS, bound: int = 7) -> BoundCheck:
    certificate = replace(proof, threshold=bound - 1)
    return check_bound(
        instance, result_of(instance, None, lower_bound=bound, certificate=certificate)
    )


def changed(**fields: object) -> Proof:
    """Return the proof with other weights."""
    (weights,) = PROOF.nodes
    return replace(PROOF, nodes=(replace(weights, **fields),))  # type: ignore[type-var]


def with_fork(fork: ArcCount, nodes: tuple[Node, ...], at_most: int = 0) -> Proof:
    """Return the proof with a fork at the uses of an arc."""
    return replace(
        PROOF, counts=(*PROOF.counts, fork), nodes=(Fork(count=2, at_most=at_most), *nodes)
    )


def test_true_weights_are_accepted() -> None:
    assert optimum(TWO_PAIRS) == 7
    assert checked(PROOF).checked


def test_weights_do_not_prove_more_than_they_add_up_to() -> None:
    assert checked(PROOF, bound=8).problems == [
        "certificate.nodes[0]: the weights are 7, no more than orders may cost, 7"
    ]


def test_it_survives_a_document() -> None:
    result = result_of(TWO_PAIRS, None, lower_bound=7, certificate=PROOF)
    assert result_from_document(result_to_document(result)).certificate == PROOF


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"leaving": ((5, 1),)}, ".leaving: 5 is not there"),
        ({"scale": 0}, ".scale: is 0, but must be at least 1"),
        ({"prices": ((0, 4), (2, 4))}, ".prices: 2 is not there"),
        ({"prices": ((0, 4), (1, -1))}, ".prices: -1 is negative, or that of an arc"),
        (
            {"weights": ((0, -4), (1, 1), (2, 1), (3, 2), (4, 1))},
            ": the weights are 5, no more than orders may cost, 6",
        ),
    ],
)
def test_wrong_weights_are_named(fields: dict[str, object], problem: str) -> None:
    assert checked(changed(**fields)).problems == [f"certificate.nodes[0]{problem}"]


@pytest.mark.parametrize(
    ("cut", "problem"),
    [
        (CrossingCount(within=(1, 5)), "names a class that is none of 1 to 4"),
        (
            CrossingCount(within=(1,), last_of=(2,)),
            "last_of must lie within the classes that are left",
        ),
        (
            CrossingCount(within=(1,), first_of=(1,)),
            "first_of must lie outside the classes that are left",
        ),
        (
            CrossingCount(within=(1,), last_of=(1,), first_of=(2,)),
            "first_of has a class that need not come after all of last_of",
        ),
        (ArcCount(before=5, after=1), "names a class that is not there"),
    ],
)
def test_wrong_counts_are_named(cut: CrossingCount | ArcCount, problem: str) -> None:
    assert checked(replace(PROOF, counts=(cut,))).problems == [f"certificate.counts[0]: {problem}"]


def test_a_fork_has_two_cases() -> None:
    arc = ArcCount(before=1, after=2)
    assert checked(with_fork(arc, PROOF.nodes * 2)).checked
    assert checked(with_fork(arc, PROOF.nodes)).problems == [
        "certificate.nodes: ends before all cases have weights"
    ]
    # Where b follows a, this arc costs its reduced cost of 1 - 4 no more than once.
    never = Leaf(weights=((2, 99),))
    assert checked(with_fork(arc, (*PROOF.nodes, never))).problems
    assert checked(with_fork(arc, (*PROOF.nodes, never), at_most=1)).checked


def test_classes_are_the_types() -> None:
    problem = (
        "certificate.classes: must be one without keys, and then name the 4 types of the tasks, "
        "each of them once"
    )
    wrong = by_orders("abcc", PROOF.counts, PROOF.nodes)  # type: ignore[arg-type]
    assert checked(wrong).problems == [problem]
    assert checked(replace(PROOF, classes=PROOF.classes[1:])).problems == [problem]


def test_it_is_for_one_cpu_and_a_matrix() -> None:
    two = replace(TWO_PAIRS, cpus=2)
    assert checked(PROOF, instance=two).problems == [
        "certificate.over: orders are for tasks on one CPU"
    ]
    g = Instance(cpus=1, penalty=PenaltyG(fill=1, write_back=1), tasks=(Task(id="a", df="a"),))
    assert checked(PROOF, instance=g).problems == [
        "certificate.over: orders are for the penalty matrix"
    ]


def test_it_proves_nothing_without_tasks() -> None:
    proof = by_orders("", [], [Leaf(leaving=((0, 9),), weights=((0, 9),))])
    assert checked(proof, instance=replace(TWO_PAIRS, tasks=())).problems == [
        "certificate.over: orders are for tasks on one CPU"
    ]


@given(data=st.data())
@settings(deadline=None)
def test_what_it_accepts_is_true(data: st.DataObject) -> None:
    """Whatever a certificate says: if the checker accepts it, the bound holds."""
    instance = data.draw(instances(kinds=("matrix",), min_tasks=1, max_tasks=4, max_cpus=1))
    best = optimum(instance)
    small = st.integers(-3, 3)
    names = sorted(
        {
            name
            for task in instance.tasks
            for name in (task.names if instance.has_precedence else (str(task.type),))
        }
    )
    proof = data.draw(order_proofs(names, small, st.integers(0, 4)))
    bound = data.draw(st.integers(1, best + 3))
    if checked(proof, instance=instance, bound=bound).checked:
        assert bound <= best
