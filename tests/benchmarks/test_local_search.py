"""The compiled local search against annealing in plain Python: moves a second, and schedules."""

import time
from collections.abc import Callable
from contextlib import suppress
from statistics import median

import pytest

from dfopt import Instance, PenaltyF, PenaltyG, TimeLimit
from dfopt.generate import uniform, zipf
from dfopt.solvers.heuristics.local_search import LocalSearch
from dfopt.solvers.heuristics.short_annealing import Annealing
from dfopt.solvers.search import Search, SearchOver
from tests.benchmarks.report import Table

F = PenaltyF(read_line=1, write_back=20)
G = PenaltyG(fill=40, write_back=20)
SEEDS = range(3)
LONGER = 5
"""A walk this many times as long shows how near to the best a walk comes."""

CASES: dict[str, tuple[Callable[[int], Instance], int]] = {
    "f-zipf-100": (lambda s: zipf(tasks=100, cpus=8, fragments=20, penalty=F, seed=s), 1_000_000),
    "f-zipf-200": (lambda s: zipf(tasks=200, cpus=16, fragments=40, penalty=F, seed=s), 2_000_000),
    "f-zipf-500": (lambda s: zipf(tasks=500, cpus=32, fragments=100, penalty=F, seed=s), 5_000_000),
    "f-uniform-200": (
        lambda s: uniform(tasks=200, cpus=16, fragments=40, penalty=F, seed=s),
        2_000_000,
    ),
    "g-zipf-1000": (
        lambda s: zipf(tasks=1000, cpus=50, fragments=200, penalty=G, seed=s),
        2_000_000,
    ),
}


class CountingAnnealing(Annealing):
    """Counts its moves, and never gives up."""

    made = 0

    def run(self) -> None:
        while True:
            super().run()

    def _step(self, *args: object) -> bool:
        self.made += 1
        return super()._step(*args)  # type: ignore[arg-type]


def in_python(instance: Instance, seed: int, seconds: float) -> tuple[int, float]:
    """Return the best objective of the Python annealing, and its moves a second."""
    search = Search(instance, seed=seed, stop=TimeLimit(seconds))
    annealing = CountingAnnealing(search)
    with suppress(SearchOver):
        annealing.run()
    assert search.objective is not None
    return search.objective, annealing.made / search.elapsed


def walked(instance: Instance, seed: int, moves: int) -> tuple[int, float]:
    """Return the best objective of one walk of the compiled search, and its seconds."""
    search = Search(instance)
    local = LocalSearch(search, seed)
    began = time.perf_counter()
    local.run(None, moves)
    assert search.objective is not None
    return search.objective, time.perf_counter() - began


@pytest.mark.parametrize("name", CASES)
def test_local_search(name: str, report: Callable[[Table], None]) -> None:
    instance_of, moves = CASES[name]
    walked(instance_of(0), 0, 1)  # loads the kernels
    rows = []
    for seed in SEEDS:
        instance = instance_of(seed)
        found, seconds = walked(instance, seed, moves)
        longer, _ = walked(instance, seed + 1000, LONGER * moves)
        python, rate = in_python(instance, seed, seconds)
        rows.append(
            [seed, found, longer, python, seconds, moves / seconds, rate, moves / seconds / rate]
        )
    report(
        Table(
            name=f"local-search-{name}",
            title=f"Local search: {name}, {moves:,} moves",
            command=f"python -m pytest tests/benchmarks/test_local_search.py -k {name}",
            columns=[
                "seed",
                "objective",
                f"{LONGER} times the moves",
                "Python, same time",
                "time, s",
                "moves/s",
                "Python moves/s",
                "×",
            ],
            rows=rows,
            notes=[f"median of the ratios: {median(row[-1] for row in rows):.0f}"],
        )
    )
    assert median(row[-1] for row in rows) >= 20
    assert all(row[1] <= row[3] for row in rows)
