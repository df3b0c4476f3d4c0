"""Schedules under g are packed and proven at sizes where one model of all parts stands still."""

from collections.abc import Callable
from statistics import median

import pytest

from dfopt import Instance, Objective, PenaltyG, Status, TimeLimit, replace, solve
from dfopt.generate import tight, zipf
from dfopt.problem.result import Result
from dfopt.verify import verify
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed

G = PenaltyG(fill=40, write_back=20)
COMMAND = "python -m pytest tests/benchmarks/test_parts_at_scale.py"

FAMILIES: dict[str, tuple[str, Callable[[int], Instance], int, float]] = {
    "zipf-1000": (
        "zipf, n = 1,000, m = 50, d = 200",
        lambda seed: zipf(tasks=1000, cpus=50, fragments=200, penalty=G, seed=seed),
        10,
        10,
    ),
    "zipf-100000": (
        "zipf, n = 100,000, m = 256, d = 5,000",
        lambda seed: zipf(tasks=100_000, cpus=256, fragments=5000, penalty=G, seed=seed),
        10,
        60,
    ),
    "tight-740": (
        "tight, n = 740, m = 20, d = 28",
        lambda seed: tight(cpus=20, per_cpu=37, fragments=28, seed=seed),
        5,
        120,
    ),
    "tight-3030": (
        "tight, n = 3,030, m = 30, d = 40",
        lambda seed: tight(cpus=30, per_cpu=101, fragments=40, seed=seed),
        5,
        120,
    ),
    "total-1000": (
        "zipf, n = 1,000, m = 50, d = 200, total-penalty",
        lambda seed: replace(
            zipf(tasks=1000, cpus=50, fragments=200, penalty=G, seed=seed),
            objective=Objective.TOTAL_PENALTY,
        ),
        5,
        60,
    ),
}
"""What is measured, how many of ten seeds must be proven, and the limit in seconds."""


def proven(instance: Instance, limit: float) -> tuple[Result, float]:
    """Return the result, and the seconds that the checker takes for it."""
    result = solve(instance, stop=TimeLimit(limit))
    checking_s, verification = timed(lambda: verify(instance, result))
    assert verification.ok, verification.problems
    return result, checking_s


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_at_scale(family: str, report: Callable[[Table], None]) -> None:
    title, instance_of, least, limit = FAMILIES[family]
    rows: list[list[object]] = []
    for seed in range(10):
        instance = instance_of(seed)
        result, checking_s = proven(instance, limit)
        certificate = type(result.certificate).__name__
        rows.append(
            [
                seed,
                str(result.status),
                result.wall_time_s,
                result.lower_bound,
                result.objective,
                certificate,
                checking_s,
            ]
        )
        times = [row[2] for row in rows]
        report(
            Table(
                name=f"parts-{family}",
                title=f"Packing parts under g: {title}",
                command=f"{COMMAND} -k {family}",
                columns=[
                    "seed", "status", "time, s", "lower bound", "objective", "certificate",
                    "checking, s",
                ],
                rows=list(rows),
                notes=[
                    f"limit {limit} s each; median {median(times):.2f} s, "
                    f"largest {max(times):.2f} s",
                ],
            )
        )  # fmt: skip
    assert sum(row[1] == str(Status.OPTIMAL) for row in rows) >= least
