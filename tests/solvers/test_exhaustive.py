"""Enumeration is the truth that other solvers are held against, so it is held against less."""

import contextlib
from collections.abc import Sequence
from itertools import combinations_with_replacement, pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.errors import MethodError
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import Status, StopReason, TimeLimit
from dfopt.problem.schedule import DeadlockError, evaluate
from dfopt.solvers import solve
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.search import Search
from tests.problem.test_schedule import WORKED_EXAMPLE
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import badly_started, by_orders, run
from tests.strategies import instances


def all_values(instance: Instance, order: Sequence[str]) -> list[int]:
    """Return what the schedules cost that cut this order of all tasks into one per CPU."""
    values = []
    for cuts in combinations_with_replacement(range(len(order) + 1), instance.cpus - 1):
        cpus = [order[a:b] for a, b in pairwise((0, *cuts, len(order)))]
        if max(map(len, cpus)) <= instance.tasks_per_cpu:
            with contextlib.suppress(DeadlockError):
                values.append(evaluate(instance, cpus).value(instance.objective))
    return values


def check(instance: Instance) -> None:
    least = min(
        value
        for order in permutations(instance.tasks_by_name())
        for value in all_values(instance, order)
    )
    search = Search(instance)
    run(solve_exhaustively, search)
    assert search.objective == least
    if instance.has_precedence:
        assert by_orders(search) == least
    if least:
        assert search.certificate == CompleteSearch(threshold=least - 1, solver="exhaustive")


@settings(max_examples=60)
@given(st.data())
def test_it_finds_the_best_of_all_schedules(data: st.DataObject) -> None:
    timed = data.draw(st.booleans())
    check(data.draw(instances(min_tasks=1, max_tasks=4, timed=timed)))


def test_it_finds_the_best_of_all_schedules_of_every_kind() -> None:
    for instance in drawn_instances(144, seed=5, most_tasks=4):
        check(instance)


def test_the_worked_example_is_optimal_at_15() -> None:
    """Pinter and Zalmanovici, figure 3, is a best schedule."""
    result = solve(WORKED_EXAMPLE, method="exhaustive")
    assert (result.status, result.objective) == (Status.OPTIMAL, 15)


def test_tasks_that_wait_for_each_other_are_tried_in_all_orders() -> None:
    waiting = 0
    for instance in drawn_instances(300, seed=21, most_tasks=7):
        if instance.has_precedence:
            search = Search(instance)
            run(solve_exhaustively, search)
            assert search.objective == by_orders(search)
            waiting += 1
    assert waiting >= 20


def test_it_needs_no_schedule_to_improve_on() -> None:
    for instance in drawn_instances(48, seed=6, most_tasks=5):
        fresh, started = Search(instance), badly_started(instance)
        run(solve_exhaustively, fresh)
        if not started.is_closed:
            run(solve_exhaustively, started)
        assert fresh.objective == started.objective


def many(count: int, *, after: tuple[str, ...] = ()) -> Instance:
    tasks = (Task(id="first", df="A"), Task(id="rest", df="B", count=count - 1, after=after))
    return Instance(
        cpus=2,
        penalty=PenaltyG(fill=1, write_back=1),
        objective=Objective.MAKESPAN,
        tasks=tasks,
    )


@pytest.mark.parametrize(("most", "after"), [(12, ()), (8, ("first",))])
def test_too_many_tasks_are_refused(most: int, after: tuple[str, ...]) -> None:
    with pytest.raises(MethodError, match=rf"at most {most} tasks.*there are {most + 1}.*'auto'"):
        solve(many(most + 1, after=after), method="exhaustive")
    if not after:
        assert solve(many(most), method="exhaustive").status is Status.OPTIMAL


def test_it_ends_in_time_with_any_schedule() -> None:
    result = solve(many(12), method="exhaustive", stop=TimeLimit(0))
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.TIME_LIMIT)
    assert result.schedule is not None
    assert result.lower_bound == 0
