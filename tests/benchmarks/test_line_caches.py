"""Simulated dispatches a second when bursts pay for cache lines."""

import time
from collections.abc import Callable
from statistics import median

from dfopt import replace
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workloads.fine_grained import FineGrained
from tests.benchmarks.report import Table

THREADS = 64
STACK_LINES = 2
INTEGERS_OF_A_LINE = 8
CACHE_LINES = 16_384
DISPATCHES = {10: 60_000, 100: 60_000, 1_000: 20_000}
RUNS = 3

LEAST_SHARE = 1 / 3
"""Of the speed under a penalty, at the fewest lines."""


def dispatches_a_second(scenario: Scenario) -> float:
    began = time.process_time()
    done = simulate_once(scenario, FirstComeFirstServed)
    return done.counters.dispatches / (time.process_time() - began)


def test_dispatches_a_second(report: Callable[[Table], None]) -> None:
    rows: list[list[object]] = []
    for lines, dispatches in DISPATCHES.items():
        granularity = (lines - STACK_LINES) * INTEGERS_OF_A_LINE
        penalty = Scenario(
            name="fine-grained",
            workload=FineGrained(
                array_size=THREADS * granularity,
                granularity=granularity,
                process_length=dispatches // THREADS,
                stack_lines=STACK_LINES,
            ),
            machine=Machine(cpus=4),
            penalty=PenaltyF(read_line=100, write_back=100),
        )
        caches = replace(penalty, caches=CacheSizes(lines=CACHE_LINES, miss=100, write_back=100))
        # Compiled, or loaded, before the clock runs.
        misses = simulate_once(caches, FirstComeFirstServed).caches
        assert misses is not None
        # In turn, so that a noisy spell of the machine falls on both alike.
        pairs = [(dispatches_a_second(penalty), dispatches_a_second(caches)) for _ in range(RUNS)]
        yardstick, rate = (median(rates) for rates in zip(*pairs, strict=True))
        share = sum(misses.misses) / sum(misses.touched)
        rows.append([lines, share, rate, rate * lines, yardstick, rate / yardstick])
    report(
        Table(
            name="line_caches",
            title="Dispatches with caches of lines",
            command="python -m pytest tests/benchmarks/test_line_caches.py",
            columns=[
                "lines a burst", "misses a line", "dispatches a second", "lines a second",
                "with a penalty", "ratio",
            ],
            rows=rows,
            notes=[
                f"First come, first served on 4 CPUs with {CACHE_LINES:,} lines each; {THREADS} "
                "threads, which write all their lines in every dispatch and then yield. The "
                "yardstick is the same with penalty f. Processor time of one process, the trace "
                f"included; medians of {RUNS} runs.",
            ],
        )
    )  # fmt: skip
    assert rows[0][-1] >= LEAST_SHARE  # type: ignore[operator]
