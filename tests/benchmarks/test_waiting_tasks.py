"""Releases and precedence, in the shape of the paper's worked example, beside textbook CP-SAT."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dfopt import Status, TimeLimit, solve
from dfopt.verify import verify
from tests.benchmarks.report import Table
from tests.benchmarks.textbook_intervals import solve_by_textbook
from tests.benchmarks.timed_instances import twenty

LIMIT_S = 30
WORKERS = 2
RUNS = 5
"""Of the textbook model, whose best schedule counts."""

COLUMNS = [
    "instance", "lower bound", "schedule", "verified", "time, s", "textbook: bound",
    "best schedule of five",
]  # fmt: skip


@pytest.mark.parametrize(("shape", "least_proven"), [((15, 2, 4), 10), ((30, 3, 6), 0)])
def test_waiting_tasks(
    shape: tuple[int, int, int], least_proven: int, report: Callable[[Table], None]
) -> None:
    rows: list[list[object]] = []
    beaten: list[str] = []
    proven = 0
    tasks, cpus, fragments = shape
    for instance in twenty(*shape):
        result = solve(instance, stop=TimeLimit(LIMIT_S), workers=WORKERS)
        checked = verify(instance, result)
        assert checked.ok
        assert result.objective is not None
        assert result.lower_bound is not None
        textbook = [
            solve_by_textbook(instance, LIMIT_S, workers=WORKERS, seed=seed) for seed in range(RUNS)
        ]
        best = min((value for value, _ in textbook if value is not None), default=None)
        bound = max(value for _, value in textbook)
        if result.lower_bound < bound or (best is not None and best < result.objective):
            beaten.append(instance.name)
        proven += result.status is Status.OPTIMAL
        rows.append(
            [
                instance.name, result.lower_bound, result.objective, checked.bound_checked,
                result.wall_time_s, bound, best,
            ]
        )  # fmt: skip
        report(
            Table(
                name=f"waiting-tasks-{tasks}",
                title=f"Waiting tasks, n = {tasks}, m = {cpus}, d = {fragments}",
                command="python -m pytest tests/benchmarks/test_waiting_tasks.py",
                columns=COLUMNS,
                rows=list(rows),
                notes=[
                    f"{proven} of {len(rows)} proven; "
                    f"the textbook model has a better bound or schedule on {len(beaten)}"
                ],
            )
        )
    assert not beaten
    assert proven >= least_proven
