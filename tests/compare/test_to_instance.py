"""Traces as instances: the same tasks, the same optimum."""

from pathlib import Path

import pytest

from dfopt import replace
from dfopt.compare.cost_model import CostModel
from dfopt.compare.paid import realised_costs
from dfopt.compare.to_instance import trace_instance, trace_window
from dfopt.compare.written_times import parse_window
from dfopt.errors import DfoptError, MethodError
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.problem.schedule import evaluate
from dfopt.trace import Trace
from dfopt.trace.formats import read_trace
from tests.compare.examples import write_trace

F = CostModel(penalty=PenaltyF(read_line=1, write_back=5), lines=12, lines_by_run_time=True)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return read_trace(write_trace(tmp_path / "a.jsonl", name="small", time_unit="ns"))


def test_equal_dispatches_are_counted(trace: Trace) -> None:
    instance = trace_instance(trace, CostModel())
    assert [(task.id, task.df, task.count) for task in instance.tasks] == [
        ("A", "A", 4), ("B", "B", 3),
    ]  # fmt: skip
    assert (instance.name, instance.time_unit, instance.cpus) == ("small", None, 2)
    assert instance.capacity == 4
    assert instance.objective is Objective.TOTAL_PENALTY


def test_dispatches_one_by_one_cost_what_the_trace_paid(trace: Trace) -> None:
    model = CostModel(penalty=PenaltyG(fill=2, write_back=1), cold_start=True)
    instance = trace_instance(trace, model, each=True)
    orders = [["a#1", "c#1", "a#2", "a#3"], ["b#1", "d#1", "b#2"]]
    assert set(instance.tasks_by_name()) == {name for order in orders for name in order}
    schedule = evaluate(instance, orders)
    paid = realised_costs(trace, model)
    assert sum(cpu.cost for cpu in schedule.cpus) == paid.sum() == 18
    assert paid.tolist() == [3, 3, 3, 3, 3, 3, 0, 0]


def test_lines_come_from_the_run_time(trace: Trace) -> None:
    (a, b) = trace_instance(trace, F).tasks
    assert (a.lines, b.lines, a.leaves) == (10, 10, Leaves.DIRTY)


def test_classes_of_a_fragment_differ_in_their_names(trace: Trace) -> None:
    lines = trace.end - trace.start
    lines[0] = 3
    trace = replace(trace, lines=lines, fragments=("A", "A/1"))
    tasks = trace_instance(trace, replace(F, lines=None)).tasks
    assert {task.id: (task.df, task.lines, task.count) for task in tasks} == {
        "A/2": ("A", 3, 1),
        "A/3": ("A", 10, 3),
        "A/1": ("A/1", 10, 3),
    }


def test_run_times_count_under_makespan_only(trace: Trace) -> None:
    timed = trace_instance(trace, CostModel(), objective=Objective.MAKESPAN)
    assert (timed.objective, timed.time_unit) == (Objective.MAKESPAN, "ns")
    assert {task.exec for task in timed.tasks} == {10}
    assert {task.exec for task in trace_instance(trace, CostModel()).tasks} == {0}


def test_run_times_are_sizes(trace: Trace) -> None:
    instance = trace_instance(trace, CostModel(), by_run_time=True, each=True)
    busy = [0] * trace.cpus
    run_times = (trace.end - trace.start).tolist()
    for cpu, length, fragment in zip(
        trace.cpu.tolist(), run_times, trace.fragment.tolist(), strict=True
    ):
        busy[cpu] += length if fragment >= 0 else 0
    assert instance.capacity == max(busy)
    assert sum(task.size for task in instance.tasks) == sum(busy)
    assert trace_instance(trace, CostModel(), by_run_time=True).task_count == 7


def test_one_window(trace: Trace) -> None:
    model = CostModel(cold_start=True, final_write_back=True)
    window = parse_window("3")
    found = [trace_window(trace, model, window, number) for number in (1, 2, 3)]
    assert [len(part) for part, _ in found] == [3, 3, 1]
    assert [(one.cold_start, one.final_write_back) for _, one in found] == [
        (True, False), (False, False), (False, True),
    ]  # fmt: skip
    part, costs = found[1]
    assert [(task.df, task.count) for task in trace_instance(part, costs).tasks] == [
        ("A", 2), ("B", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("number", [0, 4])
def test_a_window_that_is_not_there(trace: Trace, number: int) -> None:
    with pytest.raises(DfoptError, match=f"has no window {number} of length 3; it has 3"):
        trace_window(trace, CostModel(), parse_window("3"), number)


def test_nothing_managed_is_refused(trace: Trace) -> None:
    with pytest.raises(DfoptError, match="has no managed dispatch"):
        trace_instance(replace(trace, fragment=trace.fragment * 0 - 1), CostModel())


def test_evicting_tasks_fit_no_instance(trace: Trace) -> None:
    with pytest.raises(DfoptError, match="treat these as transparent"):
        trace_instance(trace, CostModel(unmanaged="evict"))


def test_a_window_of_time_is_in_the_unit_of_the_trace(tmp_path: Path) -> None:
    slow = read_trace(write_trace(tmp_path / "slow.jsonl", time_unit="us"))
    fast = read_trace(write_trace(tmp_path / "fast.jsonl", time_unit="ns"))
    for number in (1, 2):
        (few, _), (same, _) = (
            trace_window(trace, CostModel(), parse_window(length), number)
            for trace, length in ((slow, "20us"), (fast, "20ns"))
        )
        assert 0 < len(few) == len(same) < len(slow)
    with pytest.raises(MethodError, match="whole us; give a multiple of 1us"):
        trace_window(slow, CostModel(), parse_window("20ns"), 1)
