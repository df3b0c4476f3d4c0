"""Laws of proofs, whatever they are over: what says the same proves the same."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.problem.certificate import Fork, Leaf, Node, Over, Proof
from dfopt.problem.instance import Instance, Objective
from dfopt.verify import verify
from tests.solvers.optimum import optimum
from tests.verify.test_bound import certified
from tests.verify.test_forged import SOUND
from tests.verify.test_sizes import INSTANCE, TRUE, claimed
from tests.verify.test_supports import THREE_TYPES

PROOFS = [(instance, proof) for instance, proof in SOUND if isinstance(proof, Proof)]
PROOFS.append((INSTANCE, TRUE))

pytestmark = pytest.mark.slow

each_proof = pytest.mark.parametrize(("instance", "proof"), PROOFS)


def proven(instance: Instance, proof: Proof) -> int:
    """Return the largest bound that a proof proves; for tasks that do not fit 1."""
    if proof.over is Over.SIZES:
        return int(verify(instance, claimed(proof, instance)).bound_checked)
    best = 2 if instance is THREE_TYPES else optimum(instance)
    return max(
        bound
        for bound in range(best + 1)
        if certified(instance, replace(proof, threshold=bound - 1), bound).bound_checked
    )


@each_proof
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_fork_leaves_nothing_out(instance: Instance, proof: Proof, data: st.DataObject) -> None:
    """Where a leaf holds, it holds in both cases of any fork."""
    nodes: list[Node] = []
    for node in proof.nodes:
        if proof.counts and isinstance(node, Leaf) and data.draw(st.booleans()):
            count = data.draw(st.integers(0, len(proof.counts) - 1))
            nodes += [Fork(count=count, at_most=data.draw(st.integers(-1, 4))), node]
        nodes.append(node)
    assert proven(instance, replace(proof, nodes=tuple(nodes))) >= proven(instance, proof)


@each_proof
@settings(max_examples=10, deadline=None)
@given(factor=st.integers(2, 1000))
def test_multiples_prove_the_same(instance: Instance, proof: Proof, factor: int) -> None:
    has_threshold = instance.objective is not Objective.TOTAL_PENALTY

    def times(rows: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        return tuple((number, factor * value) for number, value in rows)

    def larger(node: Node) -> Node:
        if isinstance(node, Fork):
            return node
        is_fixed = proof.over is Over.CONTENTS and has_threshold
        return replace(
            node,
            weights=times(node.weights),
            leaving=times(node.leaving),
            prices=times(node.prices),
            bin_weights=tuple(factor * value for value in node.bin_weights),
            scale=node.scale if is_fixed else factor * node.scale,
        )

    other = replace(proof, nodes=tuple(map(larger, proof.nodes)))
    assert proven(instance, other) == proven(instance, proof)


@each_proof
@settings(max_examples=10, deadline=None)
@given(source=st.randoms(use_true_random=False))
def test_the_order_of_classes_and_counts_does_not_matter(
    instance: Instance, proof: Proof, source: random.Random
) -> None:
    # In proofs over orders the first class is the start of the order.
    kept = 1 if proof.over is Over.ORDERS else 0
    some = range(kept, len(proof.classes))
    classes = [*range(kept), *source.sample(some, len(some))]
    counts = source.sample(range(len(proof.counts)), len(proof.counts))

    def renamed(value: object) -> object:
        names = {"classes", "within", "last_of", "first_of"}
        changes = {
            key: tuple(map(classes.index, getattr(value, key)))
            for key in names
            if hasattr(value, key)
        }
        changes |= {
            key: classes.index(getattr(value, key))
            for key in ("before", "after")
            if hasattr(value, key)
        }
        return replace(value, **changes)  # type: ignore[type-var]

    def moved(node: Node) -> Node:
        if isinstance(node, Fork):
            return replace(node, count=counts.index(node.count))
        return replace(
            node,
            weights=tuple((classes.index(number), value) for number, value in node.weights),
            leaving=tuple((classes.index(number), value) for number, value in node.leaving),
            prices=tuple((counts.index(number), value) for number, value in node.prices),
        )

    other = replace(
        proof,
        classes=tuple(proof.classes[number] for number in classes),
        counts=tuple(renamed(proof.counts[number]) for number in counts),
        nodes=tuple(map(moved, proof.nodes)),
    )
    assert proven(instance, other) == proven(instance, proof)
