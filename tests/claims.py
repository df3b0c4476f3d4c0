"""Results and what the checker says to them."""

from typing import Any

from dfopt.files import fingerprint, result_from_document
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.problem.result import InstanceName, Result, Status, StopReason, relative_gap
from dfopt.problem.schedule import Schedule
from dfopt.verify import Verification, verify

THREE_FRAGMENTS = Instance(
    name="three fragments",
    cpus=2,
    penalty=PenaltyF(read_line=1, write_back=0),
    cold_start=True,
    tasks=(
        Task(id="a", df="A", lines=4, count=2),
        Task(id="b", df="B", lines=4, leaves=Leaves.DIRTY, count=2),
        Task(id="c", df="C", lines=4),
        Task(id="d", df="C", lines=5),
    ),
)
"""Two CPUs hold three tasks each, so that one of them, in fact each, needs two fragments."""


def result_of(instance: Instance, schedule: Schedule | None, **claims: Any) -> Result:
    """Return a given schedule's result, with other claims if there are any."""
    objective = schedule.value(instance.objective) if schedule else None
    fields: dict[str, Any] = {
        "instance": InstanceName(name=instance.name, sha256=fingerprint(instance)),
        "status": Status.FEASIBLE,
        "stop_reason": StopReason.GIVEN,
        "objective": objective,
        "schedule": schedule,
    } | claims
    fields.setdefault("gap", relative_gap(fields["objective"], fields.get("lower_bound", 0)))
    return Result(**fields)


def optimal_document() -> dict[str, Any]:
    """Return an optimal result of ``THREE_FRAGMENTS`` with a proof by dual weights."""
    return {
        "format": "dfopt-result/2",
        "instance": {"name": "three fragments", "sha256": fingerprint(THREE_FRAGMENTS)},
        "status": "optimal",
        "stop_reason": "proof",
        "objective": 8,
        "lower_bound": 8,
        "gap": 0.0,
        "schedule": {
            "cpus": [
                {"tasks": ["a#1", "c", "d"], "cost": 8},
                {"tasks": ["a#2", "b#1", "b#2"], "cost": 8},
            ]
        },
        "certificate": {
            "kind": "proof",
            "over": "contents",
            "threshold": 7,
            "classes": [
                {"df": "A"},
                {"df": "B", "leaves": "dirty"},
                {"df": "C"},
                {"df": "C", "lines": 5},
            ],
            "counts": [{"kind": "entries", "classes": [3]}],
            "nodes": [
                {
                    "weights": [[0, 10], [1, 10], [2, 10]],
                    "prices": [[0, -1]],
                    "bin_weights": [20, 20],
                }
            ],
        },
        "history": [
            {"time_s": 0.0, "lower_bound": 4, "objective": None},
            {"time_s": 0.5, "lower_bound": 8, "objective": 12},
            {"time_s": 1.0, "lower_bound": 8, "objective": 8},
        ],
    }


def check(document: dict[str, Any], *, require_certificate: bool = True) -> Verification:
    result = result_from_document(document)
    return verify(THREE_FRAGMENTS, result, require_certificate=require_certificate)


def crowded(**changes: Any) -> tuple[Instance, Result]:
    instance = Instance(
        cpus=2,
        capacity=changes.pop("capacity", 1),
        penalty=PenaltyG(fill=1, write_back=1),
        tasks=(Task(id="t", df="A", count=3),),
    )
    claims = {
        "status": Status.INFEASIBLE,
        "stop_reason": StopReason.PROOF,
        "lower_bound": None,
        "gap": None,
    }
    schedule = changes.pop("schedule", None)
    return instance, result_of(instance, schedule, **(claims | changes))
