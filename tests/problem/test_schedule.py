"""The costs of schedules, and the starts of their tasks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import DfoptError
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.problem.schedule import (
    CpuSchedule,
    DeadlockError,
    Schedule,
    combined_cost,
    evaluate,
    order_cost,
)
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
        *(
            Task(id=f"v{number}", df=df, lines=4, exec=1, leaves=Leaves.DIRTY, after=("v0",))
            for number, df in ((1, "DF2"), (2, "DF1"), (3, "DF1"), (4, "DF2"))
        ),
    ),
)


def test_the_worked_example_with_cpu_affinity_takes_23() -> None:
    """Pinter and Zalmanovici, figure 2."""
    schedule = evaluate(WORKED_EXAMPLE, [["v0", "v1", "v2"], ["v3", "v4"]])
    assert schedule == Schedule(
        cpus=(
            CpuSchedule(tasks=("v0", "v1", "v2"), cost=23, starts=(0, 5, 10)),
            CpuSchedule(tasks=("v3", "v4"), cost=23, starts=(5, 10)),
        )
    )
    assert schedule.value(Objective.MAKESPAN) == 23


def test_the_worked_example_with_data_affinity_takes_15() -> None:
    """Pinter and Zalmanovici, figure 3."""
    schedule = evaluate(WORKED_EXAMPLE, [["v0", "v2", "v3"], ["v1", "v4"]])
    assert schedule == Schedule(
        cpus=(
            CpuSchedule(tasks=("v0", "v2", "v3"), cost=11, starts=(0, 5, 6)),
            CpuSchedule(tasks=("v1", "v4"), cost=15, starts=(5, 10)),
        )
    )
    assert schedule.value(Objective.MAKESPAN) == 15


def test_a_switch_begins_only_at_the_release() -> None:
    instance = Instance(
        cpus=1,
        objective=Objective.MAKESPAN,
        penalty=PenaltyG(fill=2, write_back=1),
        cold_start=True,
        tasks=(Task(id="a", df="A", exec=4, release=5), Task(id="b", df="B", exec=1, release=6)),
    )
    # a: switch at 5, runs from 8 to 12; b: switch at 12, runs from 15 to 16.
    assert evaluate(instance, [["a", "b"]]).cpus[0] == CpuSchedule(
        tasks=("a", "b"), cost=16, starts=(5, 12)
    )
    # b: 6, 9 to 10; a: 10, 13 to 17.
    assert evaluate(instance, [["b", "a"]]).cpus[0].cost == 17


def test_all_copies_must_have_finished() -> None:
    instance = Instance(
        cpus=2,
        objective=Objective.MAKESPAN,
        penalty=PenaltyG(fill=0, write_back=0),
        tasks=(
            Task(id="last", df="A", exec=1, after=("copy",)),
            Task(id="copy", df="A", exec=3, count=2),
        ),
    )
    schedule = evaluate(instance, [["copy#2", "copy#1"], ["last"]])
    assert schedule.cpus[1].starts == (6,)
    assert evaluate(instance, [["copy#2"], ["copy#1", "last"]]).cpus[1].starts == (0, 3)


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ([["v0", "v1"], ["v3"]], "orders: lack the task 'v2' and 1 more; each task must be in one"),
        ([["v0", "v1", "v2"], ["v3"]], "orders: lack the task 'v4'; each task"),
        ([["v0", "v1", "v2"], ["v3", "v4", "v0"]], "orders[1]: 'v0' is there a second time"),
        ([["v0", "v1", "v2", "v9"], ["v3", "v4"]], "orders[0]: 'v9' is no task of the instance"),
        ([["v0", "v1", "v2", "v3", "v4"]], "orders: 1 for 2 CPUs; give one for each, []"),
    ],
)
def test_orders_have_each_task_once(orders: list[list[str]], message: str) -> None:
    with pytest.raises(DfoptError) as caught:
        evaluate(WORKED_EXAMPLE, orders)
    assert str(caught.value).startswith(message)


def test_tasks_that_wait_for_each_other_are_an_error() -> None:
    with pytest.raises(DeadlockError, match=r"schedule\.cpus\[0\]: 'v1' waits for ever"):
        evaluate(WORKED_EXAMPLE, [["v1", "v0", "v2"], ["v3", "v4"]])


def test_empty_cpus_cost_nothing() -> None:
    instance = Instance(
        cpus=2,
        penalty=PenaltyG(fill=2, write_back=1),
        initial=(CacheState(df="B"), None),
        cold_start=True,
        capacity="unlimited",
        tasks=(Task(id="a", df="A"),),
    )
    assert [cpu.cost for cpu in evaluate(instance, [["a"], []]).cpus] == [3, 0]
    assert [cpu.cost for cpu in evaluate(instance, [[], ["a"]]).cpus] == [0, 3]
    assert evaluate(instance, [["a"], []]).cpus[1] == CpuSchedule(tasks=(), cost=0)


def test_objectives_combine_costs() -> None:
    assert combined_cost(Objective.MAX_PENALTY, [3, 5, 1]) == 5
    assert combined_cost(Objective.MAKESPAN, [3, 5, 1]) == 5
    assert combined_cost(Objective.TOTAL_PENALTY, [3, 5, 1]) == 9
    assert combined_cost(Objective.MAX_PENALTY, []) == 0
    assert combined_cost(Objective.TOTAL_PENALTY, []) == 0


@pytest.mark.slow
@given(st.data())
def test_waiting_never_makes_a_cpu_finish_earlier(data: st.DataObject) -> None:
    """And where nothing waits, the cost is that of the order alone."""
    instance = data.draw(instances(timed=data.draw(st.booleans())))
    names = data.draw(orders(instance))
    by_name = instance.tasks_by_name()
    for cpu, one in enumerate(evaluate(instance, names).cpus):
        alone = order_cost(instance, cpu, [by_name[name] for name in names[cpu]])
        if instance.is_timed:
            assert one.cost >= alone
            assert one.starts is not None
            assert all(
                start >= by_name[name].release
                for name, start in zip(one.tasks, one.starts, strict=True)
            )
            assert list(one.starts) == sorted(one.starts)
        else:
            assert (one.cost, one.starts) == (alone, None)
