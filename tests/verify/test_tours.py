"""Proofs by tours: what the checker accepts is true, and what is wrong it names."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.files import result_from_document, result_to_document
from dfopt.problem.certificate import ArcFork, ArcWeights, OrderCut, Tour
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from dfopt.verify.bound import BoundCheck, check_bound
from tests.claims import result_of
from tests.result_strategies import tour_certificates
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

PROOF = Tour(
    threshold=6,
    nodes=("a", "b", "c", "d"),
    cuts=(OrderCut(within=(1, 2), last_of=(1,)), OrderCut(within=(3, 4), last_of=(3,))),
    tree=(
        ArcWeights(
            leaving=(-1, 0, 0, 0, 0), entering=(-4, 1, 1, 1, 1), cuts=((0, 4), (1, 4)), scale=1
        ),
    ),
)
"""Every arc into a type costs 1 at least, but for the first, and each pair is left."""


def checked(proof: Tour, *, instance: Instance = TWO_PAIRS, bound: int = 7) -> BoundCheck:
    certificate = replace(proof, threshold=bound - 1)
    return check_bound(
        instance, result_of(instance, None, lower_bound=bound, certificate=certificate)
    )


def changed(**fields: object) -> Tour:
    """Return the proof with other weights."""
    (weights,) = PROOF.tree
    assert isinstance(weights, ArcWeights)
    return replace(PROOF, tree=(replace(weights, **fields),))  # type: ignore[arg-type]


def test_true_weights_are_accepted() -> None:
    assert optimum(TWO_PAIRS) == 7
    assert checked(PROOF).checked


def test_weights_do_not_prove_more_than_they_add_up_to() -> None:
    assert checked(PROOF, bound=8).problems == [
        "certificate.tree[0]: the weights are 7, no more than orders may cost, 7"
    ]


def test_it_survives_a_document() -> None:
    result = result_of(TWO_PAIRS, None, lower_bound=7, certificate=PROOF)
    assert result_from_document(result_to_document(result)).certificate == PROOF


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"leaving": (0, 0, 0, 0)}, ": needs 5 weights for leaving, and as many for entering"),
        ({"scale": 0}, ".scale: is 0, but must be at least 1"),
        ({"cuts": ((0, 4), (2, 4))}, ".cuts: there is no cut 2"),
        ({"cuts": ((0, 4), (1, -1))}, ".cuts: the weight -1 is negative"),
        ({"entering": (-4, 1, 1, 2, 1)}, ": the weights are 5, no more than orders may cost, 6"),
    ],
)
def test_wrong_weights_are_named(fields: dict[str, object], problem: str) -> None:
    assert checked(changed(**fields)).problems == [f"certificate.tree[0]{problem}"]


@pytest.mark.parametrize(
    ("cut", "problem"),
    [
        (OrderCut(within=(1, 5)), ": names a node that is none of 1 to 4"),
        (OrderCut(within=(1,), last_of=(2,)), ".last_of: must lie within the nodes that are left"),
        (
            OrderCut(within=(1,), first_of=(1,)),
            ".first_of: must lie outside the nodes that are left",
        ),
        (
            OrderCut(within=(1,), last_of=(1,), first_of=(2,)),
            ".first_of: has a node that need not come after all of last_of",
        ),
    ],
)
def test_wrong_cuts_are_named(cut: OrderCut, problem: str) -> None:
    assert checked(replace(PROOF, cuts=(cut,))).problems == [f"certificate.cuts[0]{problem}"]


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        ((), "certificate.tree: ends before all cases have weights"),
        (PROOF.tree * 2, "certificate.tree[1]: the tree is complete without this node"),
        (
            (ArcFork(before=5, after=1, at_most=0),),
            "certificate.tree: a fork names a node that is none of 0 to 4",
        ),
        (
            (ArcFork(before=1, after=2, at_most=0), *PROOF.tree),
            "certificate.tree: ends before all cases have weights",
        ),
    ],
)
def test_wrong_trees_are_named(tree: tuple[ArcFork | ArcWeights, ...], problem: str) -> None:
    assert checked(replace(PROOF, tree=tree)).problems == [problem]


def test_a_fork_has_two_cases() -> None:
    fork = ArcFork(before=1, after=2, at_most=0)
    assert checked(replace(PROOF, tree=(fork, *PROOF.tree, *PROOF.tree))).checked


def test_nodes_are_the_types() -> None:
    problem = "certificate.nodes: must name the 4 types of the tasks, each of them once"
    assert checked(replace(PROOF, nodes=("a", "b", "c", "c"))).problems == [problem]


def test_it_is_for_one_cpu_and_a_matrix() -> None:
    two = replace(TWO_PAIRS, cpus=2)
    assert checked(PROOF, instance=two).problems == [
        "certificate.kind: 'tour' is for one CPU, and there are 2"
    ]
    g = Instance(cpus=1, penalty=PenaltyG(fill=1, write_back=1), tasks=(Task(id="a", df="a"),))
    assert checked(PROOF, instance=g).problems == [
        "certificate.kind: 'tour' is for the penalty matrix"
    ]


def test_it_proves_nothing_without_tasks() -> None:
    proof = Tour(nodes=(), cuts=(), tree=(ArcWeights(leaving=(9,), entering=(9,)),))
    assert checked(proof, instance=replace(TWO_PAIRS, tasks=())).problems == [
        "certificate.kind: 'tour' is for the order of tasks, and there are none"
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
    drawn = data.draw(tour_certificates(threshold=None))
    weights = st.lists(small, min_size=len(names) + 1, max_size=len(names) + 1).map(tuple)
    tree = tuple(
        node
        if isinstance(node, ArcFork)
        else ArcWeights(
            leaving=data.draw(weights),
            entering=data.draw(weights),
            cuts=tuple((number, data.draw(st.integers(0, 4))) for number in range(len(drawn.cuts))),
        )
        for node in drawn.tree
    )
    proof = replace(drawn, nodes=tuple(names), tree=tree)
    bound = data.draw(st.integers(1, best + 3))
    if checked(proof, instance=instance, bound=bound).checked:
        assert bound <= best
