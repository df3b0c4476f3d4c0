"""Forged certificates of every kind are refused: none passes as too large to be checked."""

import random
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from typing import Any, get_args

import pytest

from dfopt import InstanceError, replace
from dfopt.files import result_from_document
from dfopt.problem.certificate import (
    ArcCount,
    Certificate,
    CompleteSearch,
    Count,
    Counting,
    EntryCount,
    EvenShares,
    Exhaustive,
    Fork,
    GroupResource,
    Leaf,
    MeetingCount,
    Over,
    Proof,
    TaskClass,
    UseCount,
    VisitCount,
)
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from dfopt.structs import DocumentPart
from dfopt.verify import Verification, verify
from tests.claims import THREE_FRAGMENTS, optimal_document, result_of
from tests.proofs import by_supports
from tests.solvers.optimum import optimum
from tests.verify.test_bound import certified
from tests.verify.test_orders import PROOF, TWO_PAIRS, with_fork
from tests.verify.test_sizes import INSTANCE as TOO_LARGE
from tests.verify.test_sizes import TRUE as SIZES
from tests.verify.test_sizes import claimed
from tests.verify.test_supports import LEAF as SUPPORTS
from tests.verify.test_supports import SETS, THREE_TYPES

HUGE = 2**61
MOST = 90
"""Of longer certificates, this number of changes are drawn."""

A, B = TaskClass(df="A"), TaskClass(df="B")
C, DEAR_C = TaskClass(df="C"), TaskClass(df="C", lines=5)

DUAL = result_from_document(optimal_document()).certificate

LEAF = Leaf(weights=((0, 10), (1, 10), (2, 10)), prices=((0, 0), (1, -1), (2, 0), (3, 0)))
TREE = Proof(
    over=Over.CONTENTS,
    threshold=7,
    classes=(A, B, C, DEAR_C),
    counts=(
        VisitCount(classes=(0,)),
        EntryCount(classes=(3,)),
        MeetingCount(classes=(0, 1)),
        VisitCount(classes=(0,), tasks=2),
    ),
    nodes=(Fork(count=0, at_most=1), LEAF, Fork(count=2, at_most=0), LEAF, LEAF),
)

GROUPS = Instance(
    cpus=2,
    penalty=PenaltyG(fill=3, write_back=1),
    tasks=tuple(Task(id=df, df=df, count=count) for df, count in (("A", 3), ("B", 3), ("C", 2))),
    cold_start=True,
)

FULL = Proof(
    over=Over.GROUPS,
    classes=(TaskClass(fragment_size=3), TaskClass(fragment_size=2)),
    counts=tuple(UseCount(of=of) for of in GroupResource),
    nodes=(Leaf(weights=((0, 1), (1, 2)), prices=((0, 1), (1, 1), (2, 1))),),
)

ANNOUNCED = Instance(
    cpus=2,
    objective=Objective.MAKESPAN,
    penalty=PenaltyG(fill=1, write_back=1),
    cold_start=True,
    tasks=(
        Task(id="a", df="A", exec=4),
        Task(id="b", df="B", exec=3, release=2),
        Task(id="c", df="A", exec=2, after=("a",)),
        Task(id="d", df="B", exec=5),
    ),
)

ONE_AT_A_TIME = Instance(
    cpus=2,
    objective=Objective.MAKESPAN,
    penalty=PenaltyMatrix(types=("a", "b"), switch=((2, 3), (4, 2))),
    cold_start=True,
    tasks=(Task(id="x", type="a", count=3, exec=2), Task(id="y", type="b", count=2, exec=1)),
)

DETOURS = Instance(
    cpus=1,
    penalty=PenaltyMatrix(types=("a", "b", "c"), switch=((2, 3, 2), (1, 5, 3), (5, 5, 5))),
    tasks=(
        Task(id="x", type="c", count=2),
        Task(id="y", type="a"),
        Task(id="z", type="b", count=3),
    ),
)

SEARCHED = replace(
    PROOF,
    nodes=(
        replace(
            PROOF.nodes[0],  # type: ignore[type-var]
            weights=((0, -5), (1, 1), (2, 1), (3, 1), (4, 1)),
            beginnings=True,
        ),
    ),
)

SOUND: list[tuple[Instance, Certificate]] = [
    (THREE_FRAGMENTS, DUAL),  # type: ignore[list-item]
    (replace(THREE_FRAGMENTS, objective=Objective.TOTAL_PENALTY), TREE),
    (THREE_FRAGMENTS, TREE),
    (THREE_TYPES, by_supports("abc", SETS, [SUPPORTS])),
    (
        THREE_TYPES,
        by_supports("abc", [*SETS, "ab"], [Fork(count=3, at_most=2), SUPPORTS, SUPPORTS]),
    ),
    (THREE_TYPES, by_supports("abc", SETS, [replace(SUPPORTS, bin_weights=())])),
    (TWO_PAIRS, PROOF),
    (TWO_PAIRS, SEARCHED),
    (TWO_PAIRS, with_fork(ArcCount(before=1, after=2), PROOF.nodes * 2)),
    (GROUPS, FULL),
    (ANNOUNCED, Counting(argument="energy")),
    (ONE_AT_A_TIME, Counting(argument="arrivals")),
    (ANNOUNCED, Exhaustive()),
    (GROUPS, Exhaustive()),
    (
        ONE_AT_A_TIME,
        EvenShares(total_penalty=4, proof=Counting(argument="arrivals")),
    ),
    (DETOURS, by_supports("abc", SETS, [replace(SUPPORTS, bin_weights=(9,))])),
]


def forged(value: Any, *, is_row: bool = False) -> Iterator[Any]:
    """Yield a value with one thing changed somewhere in it; rows keep their length."""
    if isinstance(value, Enum):
        yield from set(type(value)) - {value}
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from {value - 1, value + 1, 2 * value, 0, -value, HUGE, -HUGE} - {value}
    elif isinstance(value, str):
        yield from {"", "A", "a", "idle-cpus", "nobody"} - {value}
    elif value is None:
        yield from (0, 1, HUGE)
    elif isinstance(value, tuple):
        if not is_row or all(isinstance(part, str) for part in value):
            yield from ((), value[1:], value[:-1], value[::-1], value[:1] * 2, value * 3)
        for position, part in enumerate(value):
            for other in forged(part, is_row=True):
                yield (*value[:position], other, *value[position + 1 :])
    elif isinstance(value, DocumentPart):
        for name in value.__struct_fields__:
            for other in forged(getattr(value, name)):
                with suppress(InstanceError):  # some parts contradict themselves
                    yield replace(value, **{name: other})


def claim(instance: Instance, certificate: Certificate, bound: int) -> Verification:
    """Return what the checker says; the certificate claims this bound, unless it is forged."""
    if certificate.threshold not in (HUGE, -HUGE):
        certificate = replace(certificate, threshold=bound - 1)
    return certified(instance, certificate, bound)


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(SOUND)))
def test_no_forged_certificate_proves_more_or_stays_open(case: int) -> None:
    """With one thing changed, and with a few drawn ones."""
    instance, certificate = SOUND[case]
    best = 2 if instance is THREE_TYPES else optimum(instance)
    source = random.Random(case)
    all_singles = list(forged(certificate))
    singles = source.sample(all_singles, min(MOST, len(all_singles)))
    twice = [source.choice(list(forged(one))) for one in singles[: MOST // 3]]
    for one in [certificate, *singles, *twice]:
        for bound in (best + 1, HUGE):
            found = claim(instance, one, bound)
            assert found.problems, (one, bound)
        assert not claim(instance, one, best).unchecked, one


def test_what_is_forged_is_sound_before() -> None:
    for instance, certificate in SOUND:
        best = 2 if instance is THREE_TYPES else optimum(instance)
        proven = max(
            bound for bound in range(best + 1) if claim(instance, certificate, bound).bound_checked
        )
        assert proven > 0, certificate


def test_every_kind_and_every_count_is_forged() -> None:
    certificates = [certificate for _, certificate in SOUND]
    assert {*map(type, certificates)} == {*get_args(Certificate)} - {CompleteSearch}
    proofs = [*(one for one in certificates if isinstance(one, Proof)), SIZES]
    assert {proof.over for proof in proofs} == {*Over}
    counts = {type(count) for proof in proofs for count in proof.counts}
    assert counts == {*get_args(Count)}


def test_forged_weights_of_sizes() -> None:
    fitting = replace(TOO_LARGE, capacity=9)
    for one in (SIZES, *forged(SIZES)):
        assert verify(fitting, claimed(one, fitting)).problems, one
        assert not verify(TOO_LARGE, claimed(one)).unchecked, one


def test_depth_is_no_way_out() -> None:
    forks = (Fork(count=0, at_most=1),) * 20_000
    for instance, tree in ((THREE_FRAGMENTS, TREE), (TWO_PAIRS, PROOF)):
        found = certified(instance, replace(tree, nodes=forks, threshold=8), 9)
        assert found.problems
    left_deep = (*forks, *(SUPPORTS,) * 20_001)
    found = certified(THREE_TYPES, by_supports("abc", SETS, left_deep), 8)
    assert found.problems


def test_a_false_case_is_found_behind_one_that_is_too_large(monkeypatch: Any) -> None:
    monkeypatch.setattr("dfopt.verify.exact_contents.LARGEST_TABLE", 0)
    false = replace(LEAF, weights=())
    nodes = (Fork(count=0, at_most=1), LEAF, false)
    assert claim(THREE_FRAGMENTS, replace(TREE, nodes=(*nodes[:1], LEAF, LEAF)), 8).unchecked
    assert claim(THREE_FRAGMENTS, replace(TREE, nodes=nodes), 8).problems
    assert claim(THREE_FRAGMENTS, replace(TREE, nodes=nodes[:2]), 8).problems


def test_tasks_that_pay_less_than_they_are_taken_to_prove_nothing() -> None:
    leaf = Leaf(weights=((1, 4), (2, 4)), bin_weights=(4,))
    proof = by_supports("abc", [], [leaf], costs={"b": 5, "c": 5})
    found = certified(DETOURS, proof, 16)
    assert found.problems == ("certificate.nodes[0]: more tasks are worth ever more",)


def test_what_takes_too_long_stays_open() -> None:
    result = result_of(
        THREE_FRAGMENTS, None, lower_bound=8, certificate=TREE, status="unknown", gap=None
    )
    found = verify(THREE_FRAGMENTS, result, time_limit=0)
    assert not found.bound_checked
    assert "takes longer than 0 s" in found.unchecked[0]
    assert verify(THREE_FRAGMENTS, result, time_limit=100).bound_checked
