"""Schedules of an instance against its optimum."""

import pytest
from jsonschema import Draft202012Validator

from dfopt import replace
from dfopt.compare.compare_schedules import OF_SCHEDULES, compare_schedules
from dfopt.errors import DfoptError
from dfopt.files import fingerprint, schema
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import InstanceName, Result, Status, StopReason, relative_gap
from dfopt.problem.schedule import evaluate

INSTANCE = Instance(
    name="two each",
    cpus=2,
    penalty=PenaltyG(fill=3, write_back=1),
    objective=Objective.TOTAL_PENALTY,
    cold_start=True,
    tasks=(Task(id="a", df="A", count=2), Task(id="b", df="B", count=2)),
)
APART = [["a#1", "a#2"], ["b#1", "b#2"]]
MIXED = [["a#1", "b#1"], ["a#2", "b#2"]]


def result(orders: list[list[str]], **changes: object) -> Result:
    schedule = evaluate(INSTANCE, orders)
    objective = schedule.value(INSTANCE.objective)
    given = Result(
        instance=InstanceName(name=INSTANCE.name, sha256=fingerprint(INSTANCE)),
        status=Status.FEASIBLE,
        stop_reason=StopReason.GIVEN,
        objective=objective,
        gap=relative_gap(objective, 0),
        schedule=schedule,
    )
    return replace(given, **changes)


def test_each_schedule_stands_beside_the_optimum() -> None:
    compared = compare_schedules(INSTANCE, {"good": result(APART), "bad": result(MIXED)})
    assert (compared.lower_bound, compared.best, compared.is_proven) == (8, 8, True)
    assert [(row.name, row.objective, row.worst, row.total) for row in compared.schedules] == [
        ("good", 8, 4, 8), ("bad", 16, 8, 16),
    ]  # fmt: skip
    assert [schedule.ratio for schedule in compared.schedules] == [1, 2]
    Draft202012Validator(schema("comparison")).validate(OF_SCHEDULES.to_document(compared))


def test_a_claim_without_proof_does_not_count() -> None:
    boast = result(
        MIXED,
        lower_bound=16,
        gap=0.0,
        status=Status.OPTIMAL,
        stop_reason=StopReason.PROOF,
        certificate=CompleteSearch(threshold=15, solver="hope"),
    )
    compared = compare_schedules(INSTANCE, {"boast": boast}, time_limit=1000)
    assert (compared.lower_bound, compared.best) == (8, 8)


def test_a_wrong_result_is_refused_by_name() -> None:
    with pytest.raises(DfoptError, match=r"wrong: .*objective") as caught:
        compare_schedules(INSTANCE, {"wrong": result(MIXED, objective=9)})
    assert caught.value.file == "wrong"


def test_a_result_without_schedule_is_refused_by_name() -> None:
    empty = result(MIXED, objective=None, gap=None, schedule=None, status=Status.UNKNOWN)
    with pytest.raises(DfoptError, match="empty: schedule: is null"):
        compare_schedules(INSTANCE, {"empty": empty})
