"""The count model against the naive one, a circuit per CPU, from the same start."""

import math
from collections.abc import Callable
from statistics import median

from dfopt.generate import zipf
from dfopt.solvers.cp_sat.circuit_model import CircuitModel
from dfopt.solvers.cp_sat.count_model import CountModel
from dfopt.solvers.facade import available_processors
from tests.benchmarks.models import solved_by, start_of
from tests.benchmarks.report import Table

LIMIT_S = 25
SIZES = [(10, 2, 4), (12, 3, 5)]
SEEDS = range(5)


def test_counts_against_circuits(report: Callable[[Table], None]) -> None:
    workers = available_processors()
    rows: list[list[object]] = []
    ratios: list[float] = []
    for tasks, cpus, fragments in SIZES:
        for seed in SEEDS:
            instance = zipf(tasks=tasks, cpus=cpus, fragments=fragments, seed=seed)
            if start_of(instance, LIMIT_S, workers).is_closed:
                continue
            outcomes = []
            for model in (CircuitModel, CountModel):
                search = solved_by(model, instance, LIMIT_S, workers)
                outcomes.append((search.elapsed, search.is_closed, search.objective))
            (circuit_s, circuit_done, circuit), (count_s, count_done, count) = outcomes
            assert count_done
            assert circuit == count if circuit_done else circuit >= count
            ratios.append(circuit_s / count_s)
            rows.append(
                [
                    tasks,
                    cpus,
                    seed,
                    count,
                    f"{circuit_s:.2f}" if circuit_done else f"> {LIMIT_S}",
                    count_s,
                    f"{'' if circuit_done else '> '}{ratios[-1]:.1f}",
                ]
            )
    report(
        Table(
            name="naive-model",
            title="Count model against one circuit per CPU, zipf under f",
            command="python -m pytest tests/benchmarks/test_naive_model.py",
            columns=["n", "m", "seed", "optimum", "circuits, s", "counts, s", "ratio"],
            rows=rows,
            notes=[
                f"median ratio {median(ratios):.1f}, geometric mean "
                f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.1f}; where the circuits "
                f"reached the limit of {LIMIT_S} s the ratio is a lower bound",
                "both from the cheap bound and the same plain schedule, same solver settings; "
                "seeds that these already close are left out",
            ],
        )
    )
    assert median(ratios) > 1
