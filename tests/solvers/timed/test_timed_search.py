"""Annealing and layers of partial schedules, for tasks that wait, against enumeration."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import Instance, TimeLimit, replace, solve
from dfopt.problem.instance import Objective, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import Status
from dfopt.solvers.search import Search, SearchOver
from dfopt.solvers.timed.annealing import TimedAnnealing
from dfopt.solvers.timed.dispatch_rules import dispatch_by_score
from dfopt.solvers.timed.solve import TimedSearch
from dfopt.solvers.timed.tables import timed_tables
from dfopt.verify import verify
from dfopt.verify.counting import counted_bound
from dfopt.verify.energy import energy_bound
from dfopt.verify.layers import Dispatching
from tests.benchmarks.timed_instances import WAITS, timed_instance
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import badly_started, optimum, run


def waiting_instances(number: int, seed: int) -> Iterator[Instance]:
    """Yield tiny instances with releases or precedence."""
    for instance in drawn_instances(number, seed=seed, most_tasks=6):
        if instance.is_timed:
            yield instance


def solve_by_layers(instance: Instance) -> int:
    """Return the optimum from a bad schedule, without bounds from elsewhere."""
    search = badly_started(instance)
    run(lambda search: None if TimedSearch(search).solve() else pytest.fail("open"), search)
    assert search.objective is not None
    return search.objective


def test_layers_agree_with_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimedAnnealing, "run", lambda self: None)  # the layers find the schedules
    for instance in waiting_instances(600, seed=7):
        assert solve_by_layers(instance) == optimum(instance), instance


def test_the_checker_agrees_with_enumeration() -> None:
    for instance in waiting_instances(600, seed=8):
        least = optimum(instance)
        assert not Dispatching(instance, least, lambda: None).has_schedule(), instance
        assert Dispatching(instance, least + 1, lambda: None).has_schedule(), instance


def test_no_energy_bound_is_above_the_optimum() -> None:
    reached = 0
    for instance in waiting_instances(600, seed=10):
        bound = energy_bound(instance)
        assert bound <= optimum(instance), instance
        reached += bound == optimum(instance)
    assert reached > 0


def test_energy_proves_more_than_the_critical_path() -> None:
    # Two CPUs need 8 units at least for three tasks of 5, and in fact 10, before and after "join".
    tasks = (
        *(Task(id=f"early{number}", df="A", exec=5) for number in range(3)),
        Task(id="join", df="A", exec=1, after=("early0", "early1", "early2")),
        *(Task(id=f"late{number}", df="A", exec=5, after=("join",)) for number in range(3)),
    )
    instance = Instance(
        cpus=2,
        penalty=PenaltyG(fill=0, write_back=0),
        tasks=tasks,
        capacity="unlimited",
        objective=Objective.MAKESPAN,
    )
    assert 8 + 1 + 8 <= energy_bound(instance) <= 10 + 1 + 10
    assert counted_bound(instance, "critical-path") == 5 + 1 + 5
    assert counted_bound(instance, "energy") == energy_bound(instance)


def test_rules_dispatch_every_task() -> None:
    for instance in waiting_instances(150, seed=11):
        if not instance.has_sizes:
            search = Search(instance)
            with contextlib.suppress(SearchOver):
                dispatch_by_score(search, timed_tables(search))
            assert search.objective is not None
            assert search.objective >= optimum(instance)


def test_annealing_finds_optima() -> None:
    found, tried = 0, 0
    for instance in waiting_instances(150, seed=9):
        search = badly_started(instance)
        with contextlib.suppress(SearchOver):
            TimedAnnealing(search, timed_tables(search)).walk(3_000)
        found += search.objective == optimum(instance)
        tried += 1
    assert found >= 0.9 * tried


@pytest.mark.parametrize("waits", WAITS)
def test_fifteen_tasks_are_proven_with_a_certificate(waits: str) -> None:
    instance = timed_instance(15, 2, 4, waits, 0)
    result = solve(instance, stop=TimeLimit(60), workers=1)
    assert result.status is Status.OPTIMAL
    assert verify(instance, result, require_certificate=True).ok


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_names_and_scale_do_not_matter(data: st.DataObject) -> None:
    source = [
        instance
        for instance in waiting_instances(60, seed=data.draw(st.integers(0, 99)))
        if instance.task_count > 1
    ]
    instance = data.draw(st.sampled_from(source))
    tasks = tuple(data.draw(st.permutations(instance.tasks)))
    order = data.draw(st.permutations(range(instance.cpus)))
    initial = tuple(instance.initial[cpu] for cpu in order) if instance.initial else ()
    permuted = replace(instance, tasks=tasks, initial=initial)
    assert solve_by_layers(permuted) == solve_by_layers(instance)
