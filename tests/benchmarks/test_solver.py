"""What ``auto`` proves of every kind of instance, in one table, beside what else one would take.

``python -m pytest tests/benchmarks/test_solver.py`` takes about two hours. ``-k matrix`` chooses
rows, ``DFOPT_BENCH_SEEDS=0,1,2`` the instances. Peers get the same time on the first instances of
a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from statistics import median

import pytest

from dfopt import Instance, Objective, PenaltyMatrix, Result, Status, TimeLimit, replace, solve
from dfopt.generate import matrix, zipf
from dfopt.verify import Verification, verify
from tests.benchmarks.own_process import in_own_process
from tests.benchmarks.peers import PEERS, Outcome
from tests.benchmarks.report import Table
from tests.benchmarks.test_configuration import chosen_seeds

COMMAND = "python -m pytest tests/benchmarks/test_solver.py"
WORKERS = 2
INSTANCES_OF_PEERS = 3


@dataclass(frozen=True, kw_only=True)
class Row:
    """Instances of one kind and size, the limit for each, and the peers that can solve them.

    ``proven`` is the least number of them that must be proven, ``gap`` the largest relative gap
    of the others; both leave room for a busy machine.
    """

    draw: Callable[..., Instance]
    limit_s: float
    proven: int
    gap: float
    seeds: Sequence[int] = range(10)
    peers: Sequence[str] = ()


def own_type_free(*, objective: Objective = Objective.MAX_PENALTY, **sizes: int) -> Instance:
    """Return a matrix instance in which it costs nothing to follow a task of the same type."""
    drawn = matrix(triangle=True, objective=objective, **sizes)
    penalty = drawn.penalty
    assert isinstance(penalty, PenaltyMatrix)
    free = tuple(
        tuple(0 if before == after else cost for after, cost in enumerate(costs))
        for before, costs in enumerate(penalty.switch)
    )
    return replace(drawn, penalty=replace(penalty, switch=free))


TOTAL = Objective.TOTAL_PENALTY
ROWS = {  # family, tasks, CPUs, fragments or types; "own": following one's own type costs too
    "f-100-8-20": Row(
        draw=partial(zipf, tasks=100, cpus=8, fragments=20),
        limit_s=10, proven=8, gap=0.02, peers=["routing"],
    ),
    "f-200-16-40": Row(
        draw=partial(zipf, tasks=200, cpus=16, fragments=40), limit_s=10, proven=7, gap=0.03
    ),
    "f-500-32-100": Row(
        draw=partial(zipf, tasks=500, cpus=32, fragments=100), limit_s=60, proven=3, gap=0.05
    ),
    "f-1000-64-200": Row(
        draw=partial(zipf, tasks=1000, cpus=64, fragments=200), limit_s=60, proven=0, gap=0.1
    ),
    "matrix-100-8-6-max": Row(
        draw=partial(own_type_free, tasks=100, cpus=8, types=6),
        limit_s=10, proven=10, gap=0, peers=["routing"],
    ),
    "matrix-100-8-6-total": Row(
        draw=partial(own_type_free, tasks=100, cpus=8, types=6, objective=TOTAL),
        limit_s=10, proven=10, gap=0, peers=["routing"],
    ),
    "matrix-100-8-6-own-max": Row(
        draw=partial(matrix, tasks=100, cpus=8, types=6), limit_s=30, proven=8, gap=0.06
    ),
    "matrix-100-8-6-own-total": Row(
        draw=partial(matrix, tasks=100, cpus=8, types=6, objective=TOTAL),
        limit_s=30, proven=8, gap=0.05,
    ),
    "matrix-100000-64-3-max": Row(
        draw=partial(own_type_free, tasks=100_000, cpus=64, types=3), limit_s=20, proven=8, gap=1
    ),
    "matrix-100000-64-12-max": Row(
        draw=partial(own_type_free, tasks=100_000, cpus=64, types=12), limit_s=20, proven=8, gap=1
    ),
    "matrix-100000-64-12-total": Row(
        draw=partial(own_type_free, tasks=100_000, cpus=64, types=12, objective=TOTAL),
        limit_s=20, proven=8, gap=1,
    ),
    "matrix-200-8-30-max": Row(
        draw=partial(own_type_free, tasks=200, cpus=8, types=30),
        limit_s=60, proven=0, gap=1, peers=["routing"],
    ),
    "matrix-200-8-30-total": Row(
        draw=partial(own_type_free, tasks=200, cpus=8, types=30, objective=TOTAL),
        limit_s=60, proven=0, gap=1, peers=["routing"],
    ),
    "makespan-100-8-20": Row(
        draw=partial(
            zipf, tasks=100, cpus=8, fragments=20, exec=100, objective=Objective.MAKESPAN
        ),
        limit_s=30, proven=0, gap=0.006, peers=["routing", "PyJobShop"],
    ),
}  # fmt: skip


def solved(instance: Instance, limit_s: float) -> tuple[Result, Verification]:
    """Return what ``auto`` finds and what the checker says; an optimum must be checkable."""
    result = solve(instance, stop=TimeLimit(limit_s), workers=WORKERS)
    is_optimal = result.status is Status.OPTIMAL
    return result, verify(instance, result, require_certificate=is_optimal)


def peer(name: str, instance: Instance, limit_s: float) -> Outcome:
    """Return what a peer finds, from a fresh process."""
    return PEERS[name](instance, limit_s, WORKERS)


def gap_of(objective: int | None, lower_bound: int | None) -> float:
    """Return how far a schedule is above a bound, relative to the schedule."""
    if objective is None or lower_bound is None:
        return 1
    return (objective - lower_bound) / max(1, objective)


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str, report: Callable[[Table], None]) -> None:
    row = ROWS[name]
    results: list[Result] = []
    findings: list[Verification] = []
    cells: list[list[object]] = []
    peers = [peer for peer in row.peers if peer == "routing" or find_spec(peer.lower())]
    for position, seed in enumerate(chosen_seeds(row.seeds)):
        instance = row.draw(seed=seed)
        (result, found), _ = in_own_process(solved, instance, row.limit_s)
        results.append(result)
        findings.append(found)
        theirs: list[object] = []
        for other in peers:
            if position < INSTANCES_OF_PEERS:
                outcome, _ = in_own_process(peer, other, instance, row.limit_s)
                theirs.append(shown(outcome))
            else:
                theirs.append(None)
        cells.append(
            [
                seed, result.lower_bound, result.objective, result.wall_time_s,
                found.certificate_kind, *theirs,
            ]
        )  # fmt: skip
        report(
            Table(
                name=f"solver-{name}",
                title=f"auto: {name}",
                command=f"{COMMAND} -k {name}",
                columns=["seed", "lower bound", "objective", "time, s", "certificate", *peers],
                rows=list(cells),
                notes=[summary(results, findings, row.limit_s)],
            )
        )
    assert all(found.ok for found in findings), [found.problems for found in findings]
    assert sum(result.status is Status.OPTIMAL for result in results) >= row.proven * len(
        results
    ) / len(row.seeds)
    assert max(gap_of(result.objective, result.lower_bound) for result in results) <= row.gap


def shown(outcome: Outcome) -> str:
    """Write a peer's bound and schedule as ``bound..schedule``."""
    bound = "" if outcome.lower_bound is None else f"{outcome.lower_bound}.."
    return bound + ("–" if outcome.objective is None else str(outcome.objective))


def summary(results: Sequence[Result], findings: Sequence[Verification], limit_s: float) -> str:
    """Say how many are proven, how many of these proofs were checked, and what stays open."""
    seconds = [result.wall_time_s or 0 for result in results]
    proven = [result.status is Status.OPTIMAL for result in results]
    checked = sum(
        found.ok and found.bound_checked and optimal
        for found, optimal in zip(findings, proven, strict=True)
    )
    gap = max(gap_of(result.objective, result.lower_bound) for result in results)
    return (
        f"{sum(proven)} of {len(results)} proven, {checked} of these proofs checked; limit "
        f"{limit_s:g} s; median {median(seconds):.2f} s, largest {max(seconds):.2f} s; "
        f"largest gap {gap:.2%}"
    )
