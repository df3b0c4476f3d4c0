"""The layout of a picture, before anything is drawn."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.schedule import CpuSchedule, Schedule, evaluate
from dfopt.problem.timeline import (
    Charge,
    ChargeKind,
    TaskRun,
    is_to_scale,
    nominal_width,
    timeline,
)
from tests.strategies import instances, orders

READING, WRITE_BACK, SWITCH = ChargeKind.READING, ChargeKind.WRITE_BACK, ChargeKind.SWITCH


def test_worked_example(worked_example: Instance, data_affinity: Schedule) -> None:
    first, second = timeline(worked_example, data_affinity)
    assert first.runs == (TaskRun(group="DF1", names=("v0", "v2", "v3"), edges=(4, 5, 6, 7)),)
    assert first.charges == (
        Charge(kind=READING, group="DF1", start=0, amount=4),
        Charge(kind=WRITE_BACK, group="DF1", start=7, amount=4),
    )
    assert (first.cost, first.end) == (11, 11)
    # CPU 1 waits until v0 has finished at 5.
    assert second.runs == (TaskRun(group="DF2", names=("v1", "v4"), edges=(9, 10, 11)),)
    assert [charge.start for charge in second.charges] == [5, 11]
    assert second.cost == 15


def test_a_wait_ends_a_run() -> None:
    instance = Instance(
        cpus=1,
        objective=Objective.MAKESPAN,
        penalty=PenaltyG(fill=1, write_back=0),
        tasks=(Task(id="a", df="A", exec=2), Task(id="b", df="A", exec=1, release=5)),
    )
    (row,) = timeline(instance, evaluate(instance, [["a", "b"]]))
    assert [run.edges for run in row.runs] == [(0, 2), (5, 6)]


def test_a_cpu_without_tasks_writes_back_what_it_held() -> None:
    instance = Instance(
        cpus=2,
        penalty=PenaltyF(read_line=1, write_back=3),
        initial=(CacheState(df="B", leaves=Leaves.DIRTY), "unknown"),
        final_write_back=True,
        tasks=(Task(id="a", df="A", lines=2),),
    )
    idle, busy = timeline(instance, evaluate(instance, [[], ["a"]]), task_width=10)
    assert idle.runs == ()
    assert idle.charges == (Charge(kind=WRITE_BACK, group="B", start=0, amount=3),)
    assert (idle.cost, idle.end) == (3, 3)
    assert (busy.charges, busy.cost) == ((), 0)


def test_write_back_belongs_to_what_was_held() -> None:
    instance = Instance(
        cpus=1,
        penalty=PenaltyG(fill=5, write_back=2),
        initial=(CacheState(df="B"),),
        tasks=(Task(id="a", df="A"), Task(id="c", df="C")),
    )
    (row,) = timeline(instance, evaluate(instance, [["a", "c"]]), task_width=10)
    assert [(charge.kind, charge.group, charge.start) for charge in row.charges] == [
        (WRITE_BACK, "B", 0),
        (READING, "A", 2),
        (WRITE_BACK, "A", 17),
        (READING, "C", 19),
    ]
    assert row.cost == 14


def test_a_table_has_switches_only() -> None:
    instance = Instance(
        cpus=1,
        penalty=PenaltyMatrix(
            types=("S", "T"), switch=((1, 2), (3, 4)), start=(5, 6), finish=(7, 8)
        ),
        cold_start=True,
        final_write_back=True,
        # A fragment does not matter under a table.
        tasks=(Task(id="a", type="S", df="X"), Task(id="b", type="T", df="X")),
    )
    (row,) = timeline(instance, evaluate(instance, [["a", "b"]]), task_width=1)
    assert [(charge.kind, charge.group, charge.amount) for charge in row.charges] == [
        (SWITCH, "S", 5),
        (SWITCH, "T", 2),
        (SWITCH, "T", 8),
    ]
    assert [run.group for run in row.runs] == ["S", "T"]


@pytest.mark.slow
@given(st.data(), st.booleans())
def test_rows_hold_all_tasks_and_costs(data: st.DataObject, timed: bool) -> None:
    instance = data.draw(instances(timed=timed))
    names = data.draw(orders(instance))
    schedule = evaluate(instance, names)
    to_scale = is_to_scale(instance)
    rows = timeline(instance, schedule, task_width=None if to_scale else 3)
    for row, planned, order in zip(rows, schedule.cpus, names, strict=True):
        assert [name for run in row.runs for name in run.names] == order
        bars = [(run.edges[0], run.edges[-1]) for run in row.runs]
        bars += [(charge.start, charge.start + charge.amount) for charge in row.charges]
        # A task without length stands at the end of what comes before it.
        bars.sort()
        assert all(end <= start for (_, end), (start, _) in pairwise(bars))
        assert row.end == (bars[-1][1] if bars else 0)
        assert row.cost == planned.cost
        penalties = sum(charge.amount for charge in row.charges)
        if to_scale:
            assert row.end == planned.cost
        elif instance.objective is not Objective.MAKESPAN:
            assert row.end == penalties + 3 * len(order)
            assert penalties == planned.cost


def test_execution_times_count_under_makespan_only(worked_example: Instance) -> None:
    assert is_to_scale(worked_example)
    free = tuple(replace(task, after=()) for task in worked_example.tasks)
    assert is_to_scale(replace(worked_example, tasks=free))
    assert not is_to_scale(replace(worked_example, tasks=free, objective=Objective.TOTAL_PENALTY))
    idle = tuple(replace(task, exec=0) for task in free)
    assert not is_to_scale(replace(worked_example, tasks=idle))


def planned(cost: int, tasks: int) -> CpuSchedule:
    return CpuSchedule(tasks=tuple(map(str, range(tasks))), cost=cost)


@pytest.mark.parametrize(
    ("cpus", "width"),
    [
        ([(0, 5)], 1),
        ([(0, 0)], 1),
        ([(100, 10), (60, 12)], 10),
        ([(80_000, 750)], 100),
        ([(1, 100)], 0.01),
        ([(999_999_999_999_999, 1)], 1e15),
        ([(2**62, 1)], 5e18),
    ],
)
def test_nominal_width_is_round(cpus: list[tuple[int, int]], width: float) -> None:
    schedule = Schedule(cpus=tuple(planned(cost, tasks) for cost, tasks in cpus))
    assert nominal_width(schedule) == pytest.approx(width)


def test_wrong_schedules_are_refused(worked_example: Instance, data_affinity: Schedule) -> None:
    first, second = data_affinity.cpus
    wrong = [
        ((first,), "schedule.cpus"),
        ((first, replace(second, cost=14)), "schedule.cpus[1].cost"),
        ((first, replace(second, starts=None)), "schedule.cpus[1].starts"),
        ((first, replace(second, starts=(5, 9))), "schedule.cpus[1].starts[1]"),
        ((first, replace(second, tasks=("v1", "v5"))), "schedule.cpus[1].tasks"),
    ]
    for cpus, place in wrong:
        with pytest.raises(DfoptError) as caught:
            timeline(worked_example, Schedule(cpus=cpus))
        assert caught.value.place == place


def test_invalidated_data_is_written_back_within_a_fragment(worked_example: Instance) -> None:
    tasks = tuple(Task(id=name, df="A", lines=1, leaves=Leaves.INVALIDATED) for name in ("a", "b"))
    instance = Instance(cpus=1, penalty=worked_example.penalty, tasks=tasks)
    (row,) = timeline(instance, evaluate(instance, [["a", "b"]]), task_width=1)
    assert row.charges == (Charge(kind=WRITE_BACK, group="A", start=1, amount=4),)
    assert len(row.runs) == 2
