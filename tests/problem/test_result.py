"""What a result says of itself as tables."""

from dfopt import replace
from dfopt.files import fingerprint
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import InstanceName, Result, Status, StopReason
from dfopt.problem.schedule import evaluate
from tests.plot.worked_example import DATA_AFFINITY, INSTANCE

GIVEN = Result(
    instance=InstanceName(name=INSTANCE.name, sha256=fingerprint(INSTANCE)),
    status=Status.FEASIBLE,
    stop_reason=StopReason.GIVEN,
    objective=15,
    gap=1.0,
    schedule=DATA_AFFINITY,
)


def test_a_schedule_and_what_is_proven_are_tables() -> None:
    schedule, proven = GIVEN.tables(INSTANCE)
    assert [column.name for column in schedule.columns] == [
        "CPU", "tasks", "cost", "fragments in order ×tasks"
    ]  # fmt: skip
    assert sum(row[1] for row in schedule.rows) == 5  # type: ignore[misc]
    assert dict(proven.rows) == {  # type: ignore[call-overload]
        "objective": "15 (makespan)",
        "lower bound": "0",
        "gap": "100.00%",
        "status": "feasible, given",
        "proof": "none needed: no schedule costs less than 0",
    }


def test_what_took_time_says_how_long_and_by_which_method() -> None:
    solved = replace(GIVEN, stop_reason=StopReason.TIME_LIMIT, wall_time_s=0.25, method="dp")
    rows = dict(solved.tables(INSTANCE)[1].rows)  # type: ignore[call-overload]
    assert rows["time"] == "0.25 s, method dp"
    assert rows["status"] == "feasible, stopped at the time limit"


def test_idle_cpus_are_a_note() -> None:
    instance = Instance(
        cpus=3, penalty=PenaltyG(fill=1, write_back=0), tasks=(Task(id="a", df="X"),)
    )
    schedule = evaluate(instance, [["a"], [], []])
    table = schedule.visits(instance)
    assert table.rows == [(0, 1, 0, "X")]
    assert table.notes == ["2 CPUs idle"]


def test_an_infeasible_instance_says_what_finds_no_room() -> None:
    tasks = tuple(Task(id=name, df="X") for name in "abc")
    instance = Instance(cpus=2, capacity=1, penalty=PenaltyG(fill=1, write_back=0), tasks=tasks)
    result = replace(GIVEN, status=Status.INFEASIBLE, objective=None, schedule=None)
    (table,) = result.tables(instance)
    assert table.title == (
        "infeasible: 3 tasks, but 2 CPUs hold 1 each; there is no room for 1 task"
    )
