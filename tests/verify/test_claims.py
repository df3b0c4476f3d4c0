"""Results with missing keys, their claims, and results that contradict themselves."""

from typing import Any

import pytest

from dfopt.problem.certificate import CompleteSearch, Exhaustive
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import Progress, Status, StopReason
from dfopt.problem.schedule import Schedule, evaluate
from dfopt.verify import verify
from tests.claims import THREE_FRAGMENTS, check, crowded, optimal_document, result_of


def test_result_written_by_hand_passes() -> None:
    document = optimal_document()
    short = {key: document[key] for key in ("format", "instance", "objective", "schedule")}
    del short["instance"]["name"]
    found = check(short | {"status": "feasible"})
    assert found.ok
    assert found.bound_checked  # 0 needs no proof


@pytest.mark.parametrize(
    "certificate", [None, CompleteSearch(threshold=7, solver="cp-sat"), CompleteSearch()]
)
def test_bound_that_nobody_can_check_is_no_problem_unless_asked(
    certificate: CompleteSearch | None,
) -> None:
    schedule = evaluate(THREE_FRAGMENTS, [["a#1", "c", "d"], ["a#2", "b#1", "b#2"]])
    result = result_of(
        THREE_FRAGMENTS,
        schedule,
        status=Status.OPTIMAL,
        stop_reason=StopReason.PROOF,
        lower_bound=8,
        certificate=certificate,
    )
    lax, strict = (
        verify(THREE_FRAGMENTS, result, require_certificate=strict) for strict in (False, True)
    )
    assert lax.ok
    assert not lax.bound_checked
    assert len(lax.unchecked) == 1
    assert not strict.ok
    assert strict.problems == lax.unchecked


def test_bound_without_schedule_can_be_proven() -> None:
    document = optimal_document() | {
        "status": "unknown",
        "stop_reason": "time-limit",
        "objective": None,
        "gap": None,
        "schedule": None,
    }
    document["history"] = [{"time_s": 0.0, "lower_bound": 8, "objective": None}]
    found = check(document)
    assert found.ok
    assert found.bound_checked
    assert found.objective is None
    document["stop_reason"] = "gap-limit"
    assert not check(document).ok


@pytest.mark.parametrize("tasks", [0, 4])
def test_certificate_for_nothing_is_refused(tasks: int) -> None:
    instance = Instance(
        cpus=2,
        penalty=PenaltyG(fill=1, write_back=1),
        tasks=tuple(Task(id=f"t{number}", df="A") for number in range(tasks)),
    )
    names = [task.id for task in instance.tasks]
    schedule = evaluate(instance, [names[:2], names[2:]])
    claims = {"status": Status.OPTIMAL, "stop_reason": StopReason.PROOF}
    assert verify(instance, result_of(instance, schedule, **claims), require_certificate=True).ok
    result = result_of(instance, schedule, certificate=Exhaustive(threshold=-1), **claims)
    assert not verify(instance, result).ok


def test_infeasible_instance_is_recognised() -> None:
    found = verify(*crowded(), require_certificate=True)
    assert found.ok
    assert found.bound_checked
    assert found.lower_bound is None


@pytest.mark.parametrize(
    "changes",
    [
        {"capacity": 2},
        {"objective": 1},
        {"lower_bound": 0},
        {"gap": 0.0},
        {"certificate": Exhaustive()},
        {"schedule": Schedule(cpus=())},
        {"stop_reason": StopReason.TIME_LIMIT},
        {"history": (Progress(time_s=0.0, lower_bound=0, objective=None),)},
    ],
)
def test_infeasible_result_holds_nothing_else(changes: dict[str, Any]) -> None:
    assert not verify(*crowded(**changes)).ok


def test_overfull_cpu_is_noticed() -> None:
    instance, _ = crowded()
    schedule = evaluate(instance, [["t#1", "t#2"], ["t#3"]])
    (problem,) = verify(instance, result_of(instance, schedule)).problems
    assert problem == "schedule.cpus[0].tasks: are 2, but a CPU may hold 1 at most"


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.OPTIMAL},
        {"status": Status.OPTIMAL, "lower_bound": 7},
        {"stop_reason": StopReason.PROOF, "lower_bound": 7},
        {"lower_bound": 8, "stop_reason": StopReason.TIME_LIMIT},
        {"lower_bound": -1},
        {"gap": float("nan")},
    ],
)
def test_contradictory_claims_are_noticed(changes: dict[str, Any]) -> None:
    schedule = evaluate(THREE_FRAGMENTS, [["a#1", "c", "d"], ["a#2", "b#1", "b#2"]])
    result = result_of(THREE_FRAGMENTS, schedule, **changes)
    assert not verify(THREE_FRAGMENTS, result).ok


def test_given_schedule_may_meet_its_bound() -> None:
    document = optimal_document() | {"status": "feasible", "stop_reason": "given"}
    assert check(document).ok
    assert check(document | {"status": "optimal"}).ok
