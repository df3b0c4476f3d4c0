"""What ``auto`` proves under f: random instances at scale, kernel traces, and the naive model.

``DFOPT_BENCH_SEEDS=0,1,2`` takes other seeds than those of each group; ``-k 100-tasks``,
``-k traces`` and so on choose groups.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from dfopt import Instance, Result, Status, TimeLimit, read_instance, replace, solve
from dfopt.generate import zipf
from dfopt.problem.certificate import kind_of
from dfopt.solvers.cp_sat.circuit_model import CircuitModel
from dfopt.verify import verify
from tests.benchmarks.models import solved_by, start_of
from tests.benchmarks.own_process import in_own_process
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed

FOLDER = Path(__file__).parents[2] / "instances"
COMMAND = "python -m pytest tests/benchmarks/test_configuration.py"
WORKERS = 2
COLUMNS = [
    "status", "objective", "lower bound", "time, s", "certificate", "checking, s", "memory, GiB",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Size:
    """Instances of one size, the limit for each, and what must come of it.

    ``gap`` is the largest difference of objective and bound that passes, ``proven`` the least
    share of the instances with none; both leave room for a busy machine.
    """

    tasks: int
    cpus: int
    fragments: int
    limit_s: float
    gap: int
    proven: float
    seeds: Sequence[int] = range(10)
    memory_gib: float = 4

    def instance(self, seed: int) -> Instance:
        """Return the instance of a seed."""
        return zipf(tasks=self.tasks, cpus=self.cpus, fragments=self.fragments, seed=seed)


SIZES = {
    "100-tasks": Size(tasks=100, cpus=8, fragments=20, limit_s=30, gap=1, proven=0.8),
    "200-tasks": Size(tasks=200, cpus=16, fragments=40, limit_s=60, gap=1, proven=0.7),
    "500-tasks": Size(tasks=500, cpus=32, fragments=100, limit_s=60, gap=8, proven=0.4),
    "1000-tasks": Size(tasks=1000, cpus=64, fragments=200, limit_s=60, gap=6, proven=0.2),
}

TRACES = sorted([*FOLDER.glob("df-workers-*.json"), *FOLDER.glob("hackbench-*.json")])
TRACE_CPUS = (None, 4, 8)
TRACE_LIMIT_S = 30
TRACES_PROVEN = 12
TRACE_GAP = 0.01

NAIVE_LIMIT_S = 60
LEAST_RATIO = 10


def chosen_seeds(default: Sequence[int]) -> Sequence[int]:
    """Return the seeds that the environment names, else the default."""
    named = os.environ.get("DFOPT_BENCH_SEEDS")
    return [int(seed) for seed in named.split(",")] if named else default


def outcome(instance: Instance, limit_s: float) -> tuple[Result, float]:
    """Return what ``auto`` finds, verified, and the seconds that the checker takes."""
    result = solve(instance, stop=TimeLimit(limit_s), workers=WORKERS)
    checking_s, verification = timed(lambda: verify(instance, result))
    assert verification.ok, verification.problems
    return result, checking_s


def measured(instance: Instance, limit_s: float) -> tuple[Result, list[object], float | None]:
    """Return the outcome in a fresh process, its row, and the peak memory in GiB."""
    (result, checking_s), memory_gib = in_own_process(outcome, instance, limit_s)
    certificate = result.certificate
    row = [
        str(result.status),
        result.objective,
        result.lower_bound,
        result.wall_time_s,
        None if certificate is None else kind_of(certificate),
        checking_s,
        memory_gib,
    ]
    return result, row, memory_gib


def gap_of(result: Result) -> int:
    """Return how far the objective is above the bound; without a schedule the run has failed."""
    assert result.objective is not None
    assert result.lower_bound is not None
    return result.objective - result.lower_bound


def summary(results: Sequence[Result], limit_s: float) -> str:
    """Say how many are proven, in what time, and how far the others are."""
    seconds = [result.wall_time_s or 0 for result in results]
    proven = [result for result in results if result.status is Status.OPTIMAL]
    quick = sum((result.wall_time_s or 0) <= 10 for result in proven)
    return (
        f"{len(proven)} of {len(results)} proven, {quick} of them within 10 s; "
        f"limit {limit_s} s each; median {median(seconds):.2f} s, largest {max(seconds):.2f} s; "
        f"largest gap {max(map(gap_of, results))}"
    )


@pytest.mark.parametrize("name", SIZES)
def test_scale(name: str, report: Callable[[Table], None]) -> None:
    size = SIZES[name]
    results: list[Result] = []
    rows: list[list[object]] = []
    memory: list[float] = []
    for seed in chosen_seeds(size.seeds):
        result, row, memory_gib = measured(size.instance(seed), size.limit_s)
        results.append(result)
        rows.append([seed, *row])
        memory += [] if memory_gib is None else [memory_gib]
        report(
            Table(
                name=f"configuration-{name}",
                title=(
                    f"auto under f: zipf, n = {size.tasks:,}, m = {size.cpus}, d = {size.fragments}"
                ),
                command=f"{COMMAND} -k {name}",
                columns=["seed", *COLUMNS],
                rows=list(rows),
                notes=[
                    summary(results, size.limit_s),
                    f"each in a fresh process with {WORKERS} workers, loading included",
                ],
            )
        )
    proven = sum(result.status is Status.OPTIMAL for result in results)
    assert max(map(gap_of, results)) <= size.gap
    assert proven >= size.proven * len(results)
    assert all(gib < size.memory_gib for gib in memory)


def test_traces(report: Callable[[Table], None]) -> None:
    results: list[Result] = []
    rows: list[list[object]] = []
    for path in TRACES:
        recorded = read_instance(path)
        for cpus in TRACE_CPUS:
            instance = recorded if cpus is None else replace(recorded, cpus=cpus)
            result, row, _ = measured(instance, TRACE_LIMIT_S)
            results.append(result)
            rows.append([recorded.name, instance.task_count, instance.cpus, *row])
            report(
                Table(
                    name="configuration-traces",
                    title="auto under f: dispatches of kernel traces, as recorded and on more CPUs",
                    command=f"{COMMAND} -k traces",
                    columns=["trace", "n", "m", *COLUMNS],
                    rows=list(rows),
                    notes=[
                        summary(results, TRACE_LIMIT_S),
                        f"each in a fresh process with {WORKERS} workers, loading included",
                    ],
                )
            )
    assert all(result.gap is not None and result.gap <= TRACE_GAP for result in results)
    assert sum(result.status is Status.OPTIMAL for result in results) >= TRACES_PROVEN


def test_against_the_naive_model(report: Callable[[Table], None]) -> None:
    """One circuit per CPU, from the same cheap bound, against ``auto`` in the same process."""
    solve(zipf(tasks=16, cpus=4, fragments=5, seed=1000), workers=WORKERS)  # loads, compiles
    solved_by(CircuitModel, zipf(tasks=6, cpus=2, fragments=3, seed=1), NAIVE_LIMIT_S, WORKERS)
    rows: list[list[object]] = []
    ratios: list[float] = []
    for seed in chosen_seeds(range(10)):
        instance = zipf(tasks=16, cpus=4, fragments=5, seed=seed)
        if start_of(instance, NAIVE_LIMIT_S, WORKERS).is_closed:
            continue
        result, _ = outcome(instance, NAIVE_LIMIT_S)
        auto_s = result.wall_time_s
        assert auto_s is not None
        naive = solved_by(CircuitModel, instance, NAIVE_LIMIT_S, WORKERS)
        assert result.status is Status.OPTIMAL
        assert naive.objective is not None
        assert result.objective is not None
        if naive.is_closed:
            assert naive.objective == result.objective
        else:
            assert naive.lower_bound <= result.objective <= naive.objective
        ratios.append(naive.elapsed / auto_s)
        least = "" if naive.is_closed else "> "
        rows.append(
            [
                seed,
                result.objective,
                f"{least}{naive.elapsed:.2f}",
                auto_s,
                f"{least}{ratios[-1]:.0f}",
            ]
        )
        report(
            Table(
                name="configuration-naive",
                title="auto against one circuit per CPU: zipf under f, n = 16, m = 4, d = 5",
                command=f"{COMMAND} -k naive",
                columns=["seed", "optimum", "circuits, s", "auto, s", "ratio"],
                rows=list(rows),
                notes=[
                    f"median ratio {median(ratios):.0f}, smallest {min(ratios):.1f}",
                    f"where the circuits reached the limit of {NAIVE_LIMIT_S} s (>), the ratio "
                    "is a lower bound; so is then a median of such ratios",
                    f"one process, loaded before, {WORKERS} workers each; "
                    "instances that the cheap bound and a plain schedule close are left out",
                ],
            )
        )
    assert median(ratios) > LEAST_RATIO
