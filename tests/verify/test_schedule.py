"""Schedules in time are laid out anew: the worked example of Pinter and Zalmanovici, and others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.problem.cache import Leaves
from dfopt.problem.certificate import Exhaustive
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.problem.schedule import CpuSchedule, Schedule, evaluate
from dfopt.verify import verify
from tests.claims import result_of
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
