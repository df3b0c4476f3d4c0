"""Groups of CPUs share their tasks anew: schedules stay real and become better."""

from contextlib import suppress

import pytest
from hypothesis import given, settings

from dfopt.problem.instance import Instance, Objective
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.matrix import bound_by_flow, cpu_groups
from dfopt.solvers.matrix.cpu_groups import share_tasks_anew
from dfopt.solvers.search import Search, SearchOver
from tests.solvers.matrix.test_by_supports import drawn
from tests.solvers.optimum import badly_started
from tests.strategies import instances


@given(instances(kinds=("matrix",), min_tasks=1))
@settings(deadline=None, max_examples=30)
def test_schedules_are_real(instance: Instance) -> None:
    if instance.is_timed:
        return
    search, exact = badly_started(instance), Search(instance)
    with suppress(SearchOver):
        share_tasks_anew(search)
    with suppress(SearchOver):
        solve_exhaustively(exact)
    # `found` refuses what is no schedule, and evaluates it by definition.
    assert search.objective is not None
    assert exact.objective is not None
    assert exact.objective <= search.objective


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_many_types_get_better_schedules(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_groups, "FAILURES", 1)
    monkeypatch.setattr(cpu_groups, "MOST_TYPES", 10)
    instance = drawn(seed, tasks=120, types=20, cpus=6)
    search = Search(instance)
    bound_by_flow(search)
    before = search.objective
    assert before is not None
    with suppress(SearchOver):
        share_tasks_anew(search)
    assert search.objective is not None
    assert search.objective < before
    assert instance.objective is (Objective.TOTAL_PENALTY if seed else Objective.MAX_PENALTY)
