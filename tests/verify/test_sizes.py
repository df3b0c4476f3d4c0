"""Proofs over sizes: right ones pass, wrong ones do not."""

import random
from itertools import product

import pytest

from dfopt import replace
from dfopt.errors import MethodError
from dfopt.files import fingerprint
from dfopt.problem.certificate import CompleteSearch, Counting, Fork, Leaf, TaskClass, VisitCount
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import InstanceName, Result, Status, StopReason
from dfopt.problem.schedule import CpuSchedule, Schedule
from dfopt.verify import verify
from dfopt.verify.checker import check_bound
from dfopt.verify.sizes import LARGEST_TABLE, has_heavier
from dfopt.verify.tree import least_visits
from tests.proofs import by_sizes

TASKS = (Task(id="a", df="A", size=4, count=3), Task(id="b", df="A", size=1))
INSTANCE = Instance(cpus=2, capacity=7, penalty=PenaltyG(fill=1, write_back=0), tasks=TASKS)
TRUE = by_sizes({4: 60}, 60)
(LEAF,) = TRUE.nodes
assert isinstance(LEAF, Leaf)


def claimed(certificate: object, instance: Instance = INSTANCE) -> Result:
    return Result(
        instance=InstanceName(sha256=fingerprint(instance)),
        status=Status.INFEASIBLE,
        stop_reason=StopReason.PROOF,
        lower_bound=None,
        certificate=certificate,
    )


def test_true_weights_pass() -> None:
    for proof in (TRUE, replace(TRUE, nodes=(replace(LEAF, bin_weights=()),))):
        found = verify(INSTANCE, claimed(proof), require_certificate=True)
        assert found.ok
        assert found.bound_checked
        assert found.certificate_kind == "proof"


@pytest.mark.parametrize(
    ("certificate", "problem"),
    [
        (by_sizes({4: 60}, 59), "the CPU can hold 60"),
        (by_sizes({4: 60}, 90), "no more than"),
        (by_sizes({5: 60}, 60), "no task"),
        (by_sizes({4: 60, 1: -1}, 60), "negative"),
        (replace(TRUE, counts=(VisitCount(classes=(0,)),)), "nothing to count in sizes"),
        (replace(TRUE, nodes=(Fork(count=0, at_most=1), LEAF, LEAF)), "not there"),
        (replace(TRUE, threshold=3), "threshold"),
        (replace(TRUE, classes=(TaskClass(df="B"),)), "no task"),
        (Counting(argument="arrivals"), "does not show"),
    ],
)
def test_wrong_weights_do_not(certificate: object, problem: str) -> None:
    found = verify(INSTANCE, claimed(certificate))
    assert not found.ok
    assert problem in found.problems[0]


def test_what_is_not_proven_is_said() -> None:
    for certificate in (None, CompleteSearch(solver="cp-sat")):
        found = verify(INSTANCE, claimed(certificate))
        assert found.ok
        assert found.unchecked
        assert not verify(INSTANCE, claimed(certificate), require_certificate=True).ok


def test_without_sizes_counting_is_all() -> None:
    instance = replace(INSTANCE, tasks=(Task(id="a", df="A", count=9),), capacity=5)
    assert not verify(instance, claimed(None, instance)).ok


def test_where_sizes_do_not_count_their_weights_prove_nothing() -> None:
    instance = replace(INSTANCE, capacity="unlimited")
    assert check_bound(instance, claimed(by_sizes({4: 60}, 0), instance)).problems == [
        "certificate.kind: does not show that the tasks do not fit"
    ]


def test_weights_of_sizes_prove_no_bound() -> None:
    instance = replace(INSTANCE, capacity=8)
    result = replace(
        claimed(TRUE, instance), status=Status.UNKNOWN, lower_bound=1,
        stop_reason=StopReason.TIME_LIMIT,
    )  # fmt: skip
    assert not verify(instance, result).ok


def test_heavier_items_are_found_as_by_enumeration() -> None:
    source = random.Random(1)
    for _ in range(300):
        items = [
            (source.randint(1, 6), source.randint(1, 3), source.randint(0, 5))
            for _ in range(source.randint(1, 4))
        ]
        room, weight = source.randint(0, 15), source.randint(0, 12)
        truth = any(
            sum(size * held for (size, _, _), held in zip(items, numbers, strict=True)) <= room
            and sum(own * held for (_, _, own), held in zip(items, numbers, strict=True)) > weight
            for numbers in product(*(range(count + 1) for _, count, _ in items))
        )
        assert has_heavier(items, weight, room) is truth


def test_large_tables_are_refused() -> None:
    with pytest.raises(MethodError):
        has_heavier([(1, 1, 1)], LARGEST_TABLE, 5)


def test_visits_are_counted_by_number_and_by_size() -> None:
    # Room for two tasks on a CPU: one of size 4 and that of size 1.
    assert least_visits(INSTANCE, 0, 0) == 0
    assert least_visits(INSTANCE, 3, 12) == 2
    assert least_visits(INSTANCE, 4, 8) == 2


def test_a_schedule_must_keep_the_room() -> None:
    instance = replace(INSTANCE, capacity=8)
    rows = (("a#1", "a#2"), ("a#3", "b"))
    for orders, fits in ((rows, True), ((("a#1", "a#2", "b"), ("a#3",)), False)):
        schedule = Schedule(cpus=tuple(CpuSchedule(tasks=order, cost=0) for order in orders))
        result = Result(
            instance=InstanceName(sha256=fingerprint(instance)),
            status=Status.OPTIMAL,
            stop_reason=StopReason.PROOF,
            objective=0,
            gap=0.0,
            schedule=schedule,
        )
        found = verify(instance, result)
        assert found.ok is fits
        if not fits:
            assert "a size of 9" in found.problems[0]
