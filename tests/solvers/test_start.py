"""A search may begin with a schedule of the user's own."""

import pytest

from dfopt import (
    CpuSchedule,
    Instance,
    PenaltyG,
    Schedule,
    Task,
    TimeLimit,
    evaluate,
    replace,
    solve,
)
from dfopt.errors import DfoptError
from dfopt.generate import zipf
from tests.solvers.drawn import drawn_instances

SMALL = Instance(
    cpus=2,
    capacity=3,
    penalty=PenaltyG(fill=3, write_back=1),
    tasks=(Task(id="a", df="X", count=2), Task(id="b", df="Y"), Task(id="c", df="Z")),
)


def scheduled(*orders: str) -> Schedule:
    return Schedule(cpus=tuple(CpuSchedule(tasks=tuple(order.split()), cost=0) for order in orders))


def test_a_search_that_ends_at_once_keeps_what_it_began_with() -> None:
    instance = zipf(tasks=60, cpus=4, fragments=20, seed=3)
    earlier = solve(instance, time_limit=2, workers=1)
    assert earlier.schedule is not None
    again = solve(instance, start=earlier.schedule, stop=TimeLimit(0))
    assert again.schedule == earlier.schedule
    assert again.history[0].objective == earlier.objective


def test_costs_and_times_of_a_start_do_not_count() -> None:
    result = solve(SMALL, start=scheduled("a#1 b a#2", "c"), stop=TimeLimit(0))
    assert result.history[0].objective == evaluate(SMALL, [["a#1", "b", "a#2"], ["c"]]).value(
        SMALL.objective
    )


def test_every_method_ends_with_the_optimum_from_any_start() -> None:
    instances = drawn_instances(40, seed=11)
    for instance in instances:
        optimum = solve(instance, workers=1)
        if optimum.schedule is None:
            continue
        orders = [list(reversed(cpu.tasks)) for cpu in optimum.schedule.cpus]
        if instance.has_precedence:
            continue  # turned round, tasks would wait for each other
        again = solve(instance, start=evaluate(instance, orders), workers=1)
        assert again.objective == optimum.objective


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (scheduled("a#1 a#2 b c"), "start: orders 1 for 2 CPUs"),
        (scheduled("a#1 a#2", "b"), "start: orders lack the task 'c'"),
        (scheduled("a#1 a#2 d", "b c"), r"start: orders\[0\] 'd' is no task of the instance"),
        (scheduled("a#1 a#2 b c", ""), "start: gives CPU 0 more tasks than it has room for"),
    ],
)
def test_what_is_no_schedule_of_the_instance_is_refused(start: Schedule, message: str) -> None:
    with pytest.raises(DfoptError, match=message):
        solve(SMALL, start=start)


def test_sizes_count() -> None:
    sized = replace(SMALL, tasks=(*SMALL.tasks, Task(id="d", df="Z", size=3)), capacity=4)
    with pytest.raises(DfoptError, match="start: gives CPU 1 more tasks than it has room for"):
        solve(sized, start=scheduled("a#1 a#2", "b c d"))
