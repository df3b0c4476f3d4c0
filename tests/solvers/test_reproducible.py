"""The same seed and one worker give the same schedule."""

import pytest

from dfopt.generate import zipf
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.problem.result import (
    FirstOf,
    GapLimit,
    Progress,
    Status,
    StoppingCriterion,
    StopReason,
    TimeLimit,
)
from dfopt.solvers import METHODS, solve
from tests.solvers.drawn import drawn_instances
from tests.solvers.hard import HARD_ONES


@pytest.mark.parametrize("method", METHODS)
def test_seed_and_one_worker_fix_the_schedule(method: str) -> None:
    for instance in drawn_instances(20, seed=10, most_tasks=7, kinds=("f", "g", "matrix")):
        unknown_order = instance.is_timed or isinstance(instance.penalty, PenaltyMatrix)
        if method in ("dp", "configuration") and unknown_order:
            continue
        one, other = (solve(instance, method=method, seed=5, workers=1) for _ in range(2))
        assert one.schedule == other.schedule
        assert one.seed == 5


@pytest.mark.slow
def test_configurations_of_one_seed_are_the_same() -> None:
    """Dives and branching included: from the first schedule to the proof."""
    medium = zipf(tasks=40, cpus=4, fragments=8, seed=2)
    one, other = (
        solve(medium, method="configuration", seed=5, workers=1, stop=TimeLimit(600))
        for _ in range(2)
    )
    assert one.status is Status.OPTIMAL
    assert one.schedule == other.schedule
    assert one.certificate == other.certificate
    steps = [[(step.lower_bound, step.objective) for step in run.history] for run in (one, other)]
    assert steps[0] == steps[1]


def test_seeds_lead_to_different_schedules() -> None:
    medium = zipf(tasks=40, cpus=4, fragments=8, seed=2)
    gap = FirstOf(GapLimit(0.3), TimeLimit(600))
    schedules = {solve(medium, seed=seed, stop=gap, workers=1).schedule for seed in range(4)}
    assert len(schedules) > 1


@pytest.mark.parametrize("instance", HARD_ONES.values(), ids=HARD_ONES)
def test_first_schedules_are_reproducible(instance: Instance) -> None:
    """The heuristics alone, ended after a number of schedules instead of a time."""

    def second_schedule() -> StoppingCriterion:
        seen: set[int | None] = set()

        def criterion(progress: Progress) -> StopReason | None:
            seen.add(progress.objective)
            return StopReason.INTERRUPT if len(seen) >= 3 else None

        return criterion

    results = [solve(instance, seed=3, stop=second_schedule(), workers=1) for _ in range(2)]
    assert results[0].schedule == results[1].schedule
