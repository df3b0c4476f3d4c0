"""Results that are right pass, and whatever is changed in them is noticed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dfopt.errors
from dfopt.certificate import CompleteSearch, Exhaustive
from dfopt.errors import DfoptError
from dfopt.files import fingerprint, result_from_document
from dfopt.instance import Instance, Objective, Task
from dfopt.machine import Leaves, PenaltyF, PenaltyG
from dfopt.result import Progress, Result, Status, StopReason, relative_gap
from dfopt.schedule import CpuSchedule, Schedule, evaluate
from dfopt.verify import Verification, verify
from tests.strategies import instances, orders

WORKED_EXAMPLE = Instance(
    name="worked example",
    cpus=2,
    objective=Objective.MAKESPAN,
    penalty=PenaltyF(read_line=1, write_back=4),
    cold_start=True,
    final_write_back=True,
    tasks=(
        Task(id="v0", df="DF1", lines=4, exec=1),
        Task(id="v1", df="DF2", lines=4, exec=1, leaves=Leaves.DIRTY, after=("v0",)),
        Task(id="v2", df="DF1", lines=4, exec=1, leaves=Leaves.DIRTY, after=("v0",)),
        Task(id="v3", df="DF1", lines=4, exec=1, leaves=Leaves.DIRTY, after=("v0",)),
        Task(id="v4", df="DF2", lines=4, exec=1, leaves=Leaves.DIRTY, after=("v0",)),
    ),
)

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
        "instance_name": instance.name,
        "instance_sha256": fingerprint(instance),
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
        "format": "dfopt-result/1",
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
            "kind": "dual-weights",
            "threshold": 7,
            "bin_weights": [20, 20],
            "weights": [
                {"df": "A", "weight": 10},
                {"df": "B", "leaves": "dirty", "weight": 10},
                {"df": "C", "weight": 10},
            ],
            "entry_charges": [{"df": "C", "lines": 5, "charge": 1}],
        },
        "history": [
            {"time_s": 0.0, "lower_bound": 4, "objective": None},
            {"time_s": 0.5, "lower_bound": 8, "objective": 12},
            {"time_s": 1.0, "lower_bound": 8, "objective": 8},
        ],
    }


def tampered(path: str, value: object) -> dict[str, Any]:
    """Return the same document with another value in one place."""
    document = optimal_document()
    *parents, key = [int(part) if part.isdigit() else part for part in path.split(".")]
    holder: Any = document
    for part in parents:
        holder = holder[part]
    assert not isinstance(holder, dict) or key not in holder or holder[key] != value
    holder[key] = value
    return document


def check(document: dict[str, Any], *, require_certificate: bool = True) -> Verification:
    result = result_from_document(document)
    return verify(THREE_FRAGMENTS, result, require_certificate=require_certificate)


def test_optimal_result_passes() -> None:
    found = check(optimal_document())
    assert found == Verification(
        ok=True,
        objective=8,
        lower_bound=8,
        bound_checked=True,
        certificate_kind="dual-weights",
        problems=(),
        unchecked=(),
    )
    assert found.to_document() == {
        "format": "dfopt-verification/1",
        "ok": True,
        "objective": 8,
        "lower_bound": 8,
        "bound_checked": True,
        "problems": [],
    }


TAMPERED: list[tuple[str, object]] = [
    ("instance.name", "other"),
    ("instance.sha256", "0" * 64),
    ("status", "feasible"),
    ("status", "infeasible"),
    ("status", "unknown"),
    ("stop_reason", "gap-limit"),
    ("stop_reason", "time-limit"),
    ("stop_reason", "interrupt"),
    ("objective", 7),
    ("objective", 9),
    ("objective", None),
    ("lower_bound", 7),
    ("lower_bound", 9),
    ("lower_bound", 0),
    ("lower_bound", None),
    ("gap", 0.1),
    ("gap", None),
    ("schedule", None),
    ("schedule.cpus", []),
    ("schedule.cpus.1", {"tasks": [], "cost": 0}),
    ("schedule.cpus.0.tasks", ["c", "a#1", "a#2", "d"]),  # a moved
    ("schedule.cpus.0.tasks", ["c", "a#1", "d"]),
    ("schedule.cpus.0.tasks", ["a#1", "c"]),
    ("schedule.cpus.0.tasks", ["a#1", "c", "d", "d"]),
    ("schedule.cpus.0.tasks.0", "a#2"),
    ("schedule.cpus.0.tasks.0", "a"),
    ("schedule.cpus.0.tasks.0", "a#3"),
    ("schedule.cpus.0.cost", 7),
    ("schedule.cpus.1.cost", 9),
    ("schedule.cpus.0.starts", [0, 3, 8]),
    ("certificate", None),
    ("certificate", {"kind": "search", "threshold": 7, "solver": "x"}),
    ("certificate", {"kind": "exhaustive", "threshold": 6}),
    ("certificate.threshold", 6),
    ("certificate.threshold", 8),
    ("certificate.bin_weights", [20]),
    ("certificate.bin_weights", [20, 20, 0]),
    ("certificate.bin_weights.0", 19),
    ("certificate.bin_weights.1", 39),
    ("certificate.bin_weights.1", -1),
    ("certificate.weights", []),
    ("certificate.weights.0.weight", 11),
    ("certificate.weights.0.weight", -10),
    ("certificate.weights.0.df", "B"),
    ("certificate.weights.0.df", "Z"),
    ("certificate.weights.0.lines", 5),
    ("certificate.weights.0.exec", 0),
    ("certificate.weights.1.leaves", "clean"),
    ("certificate.weights.1", {"df": "A", "lines": 4, "weight": 10}),  # overlaps
    ("certificate.weights.2", {"df": "C", "lines": 4, "weight": 30}),
    ("certificate.entry_charges.0.charge", 20),
    ("certificate.entry_charges.0.charge", -1),
    ("certificate.entry_charges.0.lines", 6),
    ("certificate.entry_charges.0.exec", 0),
    ("certificate.entry_charges.0.df", "Z"),
    ("history.0.time_s", 0.7),
    ("history.0.time_s", -1.0),
    ("history.0.lower_bound", 9),
    ("history.1.lower_bound", 3),
    ("history.2.lower_bound", 9),
    ("history.1.objective", 7),
    ("history.2.objective", 7),
    ("history.2.objective", 13),
    ("history.2.objective", None),
]


@pytest.mark.parametrize(("path", "value"), TAMPERED)
def test_tampering_is_noticed(path: str, value: object) -> None:
    try:
        found = check(tampered(path, value))
    except DfoptError:
        return  # it is not even a result
    assert not found.ok
    assert found.problems
    assert not found.to_document()["ok"]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("certificate.bin_weights", [19, 20], "the CPU can hold 20"),
        ("certificate.bin_weights", [20, 39], "no more than the bin weights, 59"),
        ("schedule", None, "schedule: must not be null where the status is 'optimal'"),
        ("objective", 9, "objective: is 9, but the schedule's is 8"),
        ("lower_bound", 9, "lower_bound: is 9, more than the objective 8"),
        ("certificate", None, "no certificate says why the lower bound is 8"),
    ],
)
def test_problems_say_what_is_wrong(path: str, value: object, problem: str) -> None:
    assert any(problem in found for found in check(tampered(path, value)).problems)


def test_many_wrong_names_make_one_short_problem() -> None:
    names = [f"x{number}" for number in range(9)]
    problems = check(tampered("schedule.cpus.0.tasks", names)).problems
    assert "schedule: has tasks that the instance has not: 'x0', 'x1', 'x2' and 6 more" in problems


# What may be missing, and what it then means.


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


# Schedules in time: the worked example of Pinter and Zalmanovici, section 2.2.


@pytest.mark.parametrize(
    ("orders", "finish"),
    [([["v0", "v1", "v2"], ["v3", "v4"]], 23), ([["v0", "v2", "v3"], ["v1", "v4"]], 15)],
)
@pytest.mark.parametrize("timed", [True, False])
def test_published_schedules(orders: list[list[str]], finish: int, timed: bool) -> None:
    schedule = evaluate(WORKED_EXAMPLE, orders)
    if not timed:
        cpus = [CpuSchedule(tasks=cpu.tasks, cost=cpu.cost) for cpu in schedule.cpus]
        schedule = Schedule(cpus=tuple(cpus))
    found = verify(WORKED_EXAMPLE, result_of(WORKED_EXAMPLE, schedule))
    assert found.ok
    assert found.objective == finish


@pytest.mark.parametrize("bound", [14, 15])
def test_optimum_of_the_worked_example(bound: int) -> None:
    schedule = evaluate(WORKED_EXAMPLE, [["v0", "v2", "v3"], ["v1", "v4"]])
    result = result_of(
        WORKED_EXAMPLE, schedule, lower_bound=bound, certificate=Exhaustive(threshold=bound - 1)
    )
    assert verify(WORKED_EXAMPLE, result, require_certificate=True).bound_checked
    second = evaluate(WORKED_EXAMPLE, [["v0", "v1", "v2"], ["v3", "v4"]])
    result = result_of(WORKED_EXAMPLE, second, lower_bound=16, certificate=Exhaustive())
    assert verify(WORKED_EXAMPLE, result).problems == (
        "lower_bound: is 16, but some schedule is better",
    )


@pytest.mark.parametrize(
    ("first", "second", "finish", "ok"),
    [
        ((0, 5, 6), (5, 10), 15, True),  # as early as possible
        ((0, 5, 6), (6, 11), 16, True),  # later
        ((0, 5, 6), (6, 11), 15, False),
        ((0, 4, 6), (5, 10), 15, False),  # before v0 has finished, on its CPU
        ((0, 5, 6), (4, 10), 15, False),  # and on the other
        ((0, 5, 6), (5, 9), 15, False),  # before the task before it
        ((0, 5, 6), (5,), 15, False),
    ],
)
def test_starts(first: tuple[int, ...], second: tuple[int, ...], finish: int, ok: bool) -> None:
    schedule = Schedule(
        cpus=(
            CpuSchedule(tasks=("v0", "v2", "v3"), starts=first, cost=11),
            CpuSchedule(tasks=("v1", "v4"), starts=second, cost=finish),
        )
    )
    assert verify(WORKED_EXAMPLE, result_of(WORKED_EXAMPLE, schedule)).ok is ok


def test_tasks_that_wait_for_each_other_are_a_problem() -> None:
    schedule = Schedule(
        cpus=(
            CpuSchedule(tasks=("v2", "v0", "v3"), cost=11),
            CpuSchedule(tasks=("v1", "v4"), cost=15),
        )
    )
    found = verify(WORKED_EXAMPLE, result_of(WORKED_EXAMPLE, schedule))
    assert found.objective is None
    assert any("waits for ever" in problem for problem in found.problems)


@pytest.mark.parametrize(
    ("first", "second", "ok"),
    [
        ({"a#1": 3, "b": 7}, {"a#2": 5}, True),
        ({"a#1": 2, "b": 7}, {"a#2": 5}, False),  # before the release
        ({"a#1": 3, "b": 6}, {"a#2": 5}, False),  # before the second copy has finished
        ({"a#1": 5}, {"a#2": 3, "b": 7}, True),
        ({"a#1": 5}, {"a#2": 3, "b": 6}, False),  # before the first copy has
    ],
)
def test_release_and_copies_are_waited_for(
    first: dict[str, int], second: dict[str, int], ok: bool
) -> None:
    lengths = {"a#1": 2, "a#2": 2, "b": 1}
    instance = Instance(
        cpus=2,
        capacity="unlimited",
        objective=Objective.MAKESPAN,
        penalty=PenaltyG(fill=0, write_back=0),
        tasks=(
            Task(id="a", df="A", exec=2, release=3, count=2),
            Task(id="b", df="A", exec=1, after=("a",)),
        ),
    )
    cpus = [
        CpuSchedule(
            tasks=tuple(starts),
            starts=tuple(starts.values()),
            cost=max(start + lengths[name] for name, start in starts.items()),
        )
        for starts in (first, second)
    ]
    assert verify(instance, result_of(instance, Schedule(cpus=tuple(cpus)))).ok is ok


@pytest.mark.parametrize(
    ("orders", "problem"),
    [
        ((("a#1", "a#2"), ()), ""),
        ((("a#1", "a#2", "a#1"), ()), "schedule: runs tasks more than once: 'a#1'"),
        ((("a#1", "a#2"),), "schedule.cpus: has 1 entries for 2 CPUs"),
        ((("a#1", "a#2"), (), ()), "schedule.cpus: has 3 entries for 2 CPUs"),
    ],
)
def test_each_task_runs_once_on_one_of_the_cpus(
    orders: tuple[tuple[str, ...], ...], problem: str
) -> None:
    instance = Instance(
        cpus=2,
        capacity=5,
        penalty=PenaltyG(fill=1, write_back=1),
        tasks=(Task(id="a", df="A", count=2),),
    )
    cpus = tuple(CpuSchedule(tasks=order, cost=0) for order in orders)
    found = verify(instance, result_of(instance, Schedule(cpus=cpus)))
    assert found.problems == ((problem,) if problem else ())
    assert found.objective == (None if problem else 0)


@pytest.mark.parametrize(("start", "ok"), [(5, True), (4, True), (3, False)])
def test_starts_where_nothing_waits_need_only_fit(start: int, ok: bool) -> None:
    instance = Instance(
        cpus=1,
        penalty=PenaltyG(fill=2, write_back=2),
        cold_start=True,
        tasks=(Task(id="a", df="A", exec=9), Task(id="b", df="B", exec=9)),
    )
    cpus = (CpuSchedule(tasks=("a", "b"), starts=(0, start), cost=8),)
    assert verify(instance, result_of(instance, Schedule(cpus=cpus))).ok is ok


@given(st.data())
def test_schedules_cost_what_they_are_said_to(data: st.DataObject) -> None:
    instance = data.draw(instances(timed=data.draw(st.booleans())))
    schedule = evaluate(instance, data.draw(orders(instance)))
    result = result_of(instance, schedule)
    found = verify(instance, result, require_certificate=True)
    assert found.problems == ()
    assert found.objective == result.objective
    cpu = data.draw(st.integers(0, instance.cpus - 1))
    wrong = [
        CpuSchedule(tasks=claim.tasks, cost=claim.cost + (number == cpu), starts=claim.starts)
        for number, claim in enumerate(schedule.cpus)
    ]
    assert not verify(instance, result_of(instance, Schedule(cpus=tuple(wrong)))).ok


def test_checker_imports_no_solver() -> None:
    # The package's own __init__ offers the solvers too, so that a bare one stands in for it.
    program = """
import sys, types
bare = types.ModuleType("dfopt")
bare.__path__ = [sys.argv[1]]
sys.modules["dfopt"] = bare
import dfopt.verify, dfopt.verify.weights
print(*sys.modules)
"""
    folder = Path(dfopt.errors.__file__).parent
    run = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True
    )
    parts = {name.split(".")[1] for name in run.stdout.split() if name.startswith("dfopt.")}
    assert parts == {
        "certificate",
        "checks",
        "errors",
        "files",
        "instance",
        "machine",
        "penalty",
        "result",
        "schedule",
        "verify",
    }
    assert "ortools" not in run.stdout.split()
