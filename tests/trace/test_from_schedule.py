"""Schedules as traces."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import DfoptError
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.schedule import CpuSchedule, Schedule, evaluate
from dfopt.trace.from_schedule import schedule_costs, trace_from_schedule
from dfopt.trace.stretches import first_disorder
from dfopt.trace.trace import Lengths
from tests.strategies import instances

TASKS = (
    Task(id="a", df="A", lines=3, leaves=Leaves.DIRTY, exec=5),
    Task(id="b", df="B", lines=2, exec=0),
    Task(id="c", df="B", lines=2, exec=7),
)
BY_LINES = PenaltyF(read_line=1, write_back=4)


def rows(trace):
    return [
        (int(cpu), int(start), int(end), trace.tasks[task].name, trace.fragments[fragment])
        for cpu, start, end, task, fragment in zip(
            trace.cpu, trace.start, trace.end, trace.task, trace.fragment, strict=True
        )
    ]


def test_switches_take_as_long_as_they_cost():
    instance = Instance(
        cpus=2, penalty=BY_LINES, tasks=TASKS, cold_start=True, final_write_back=True, name="three"
    )
    schedule = evaluate(instance, [["c"], ["b", "a"]])
    trace = trace_from_schedule(instance, schedule, policy="by hand")
    assert rows(trace) == [(0, 2, 9, "c", "B"), (1, 2, 2, "b", "B"), (1, 5, 10, "a", "A")]
    assert trace.lines.tolist() == [2, 2, 3]
    assert trace.leaves.tolist() == [0, 0, 1]
    assert trace.header.policy == "by hand"
    assert (trace.header.penalty, trace.header.name) == (BY_LINES, "three")
    assert trace.header.lengths is Lengths.WITHOUT_SWITCHES
    # The last one also pays for writing A back.
    assert schedule_costs(instance, schedule).tolist() == [2, 2, 3 + 4]


def test_tasks_without_length_take_a_unit():
    tasks = (Task(id="a", df="A"), Task(id="b", df="B"))
    instance = Instance(cpus=1, penalty=PenaltyG(fill=2, write_back=1), tasks=tasks)
    schedule = evaluate(instance, [["a", "b"]])
    trace = trace_from_schedule(instance, schedule)
    assert rows(trace) == [(0, 0, 1, "a", "A"), (0, 4, 5, "b", "B")]
    assert (trace.lines, trace.leaves) == (None, None)
    assert schedule_costs(instance, schedule).tolist() == [0, 3]


def test_waits_stay():
    tasks = (Task(id="a", df="A", exec=2), Task(id="b", df="B", exec=1, release=9))
    instance = Instance(
        cpus=1,
        penalty=PenaltyG(fill=2, write_back=1),
        tasks=tasks,
        objective=Objective.MAKESPAN,
    )
    schedule = evaluate(instance, [["a", "b"]])
    assert rows(trace_from_schedule(instance, schedule))[1] == (0, 12, 13, "b", "B")


def test_types_are_the_fragments_of_a_table():
    penalty = PenaltyMatrix(types=("p", "q"), switch=((1, 2), (3, 4)))
    tasks = (Task(id="a", type="p"), Task(id="b", type="q"))
    instance = Instance(cpus=1, penalty=penalty, tasks=tasks)
    schedule = evaluate(instance, [["b", "a"]])
    assert rows(trace_from_schedule(instance, schedule)) == [
        (0, 0, 1, "b", "q"),
        (0, 4, 5, "a", "p"),
    ]


def test_a_schedule_of_another_instance():
    instance = Instance(cpus=1, penalty=BY_LINES, tasks=TASKS)
    schedule = Schedule(cpus=(CpuSchedule(tasks=("z",), cost=0),))
    with pytest.raises(DfoptError, match="the instance has no task 'z'"):
        trace_from_schedule(instance, schedule)


@pytest.mark.slow
@given(instances() | instances(timed=True), st.data())
def test_costs_and_times_agree(instance, data):
    names = list(instance.tasks_by_name())
    order = names if instance.is_timed else data.draw(st.permutations(names))
    if instance.is_timed:  # in the order of the precedence; any will do
        ready, waiting = [], dict(instance.tasks_by_name())
        while waiting:
            unfinished = {task.id for task in waiting.values()}
            name = next(n for n, t in waiting.items() if not unfinished & set(t.after))
            ready.append(name)
            del waiting[name]
        order = ready
    places = [data.draw(st.integers(0, instance.cpus - 1)) for _ in order]
    orders = [
        [name for name, place in zip(order, places, strict=True) if place == cpu]
        for cpu in range(instance.cpus)
    ]
    schedule = evaluate(instance, orders)
    trace = trace_from_schedule(instance, schedule)
    costs = schedule_costs(instance, schedule)
    assert first_disorder(trace) is None
    assert (np.diff(trace.start) >= 0).all()
    for cpu, planned in enumerate(schedule.cpus):
        mine = trace.cpu == cpu
        assert tuple(trace.tasks[number].name for number in trace.task[mine]) == planned.tasks
        if planned.tasks and instance.objective is not Objective.MAKESPAN:
            assert costs[mine].sum() == planned.cost
        # Every switch has found room before its task.
        spent = list(accumulate(costs[mine][:-1].tolist()))
        assert all(start >= cost for start, cost in zip(trace.start[mine], spent, strict=False))
