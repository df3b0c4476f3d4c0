"""Replaying a million dispatches under the patient rule, beside choosing CPUs without foresight."""

from collections.abc import Callable

from dfopt.compare import CostModel
from dfopt.compare.attainable.patience import run_patiently
from dfopt.compare.attainable.placement import least_recently_used
from dfopt.compare.dispatches import movable_dispatches
from dfopt.compare.paid import cost_of
from dfopt.simulate import POLICIES, read_scenario, simulate_once
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed

UNTIL = 110_000_000_000
"""The time for which the web server runs on 8 CPUs, in nanoseconds: a million dispatches."""

PATIENCES = (0, 100_000, 1_000_000)

TARGET_S = 30
"""Seconds that all replays may take together."""


def test_a_million_dispatches(report: Callable[[Table], None]) -> None:
    scenario = read_scenario("web-server", {"until": UNTIL, "machine.cpus": 8})
    trace = simulate_once(scenario, POLICIES["fcfs"]).trace
    model = CostModel(penalty=scenario.penalty, cold_start=scenario.cold_start)
    arrivals = movable_dispatches(trace, model)
    # The first calls compile, or load machine code.
    least_recently_used(arrivals)
    run_patiently(arrivals, 0)
    yardstick_s, placed = timed(lambda: least_recently_used(arrivals))
    rows: list[list[object]] = []
    for name, schedule in (("recorded", arrivals), ("same timeline", placed)):
        seconds = yardstick_s if schedule is placed else 0.0
        wait = schedule.waits.mean() / 1e6
        rows.append([name, cost_of(schedule) / 1e6, wait, seconds, seconds / yardstick_s])
    total = 0.0
    for patience in PATIENCES:
        seconds, schedule = timed(lambda patience=patience: run_patiently(arrivals, patience))
        total += seconds
        wait = schedule.waits.mean() / 1e6
        name = f"patience {patience // 1000} µs"
        rows.append([name, cost_of(schedule) / 1e6, wait, seconds, seconds / yardstick_s])
    report(
        Table(
            name="patience",
            title=f"{len(arrivals):,} dispatches of the web server on 8 CPUs",
            command="python -m pytest tests/benchmarks/test_patience.py",
            columns=["schedule", "cost, ms", "mean wait, ms", "seconds", "× same timeline"],
            rows=rows,
        )
    )
    assert total < TARGET_S
