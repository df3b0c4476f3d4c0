"""Searching schedules in which nobody waits longer, beside replaying the patient rule."""

from collections.abc import Callable

from dfopt.compare import CostModel
from dfopt.compare.attainable.check import WaitingLimit
from dfopt.compare.attainable.patience import run_patiently
from dfopt.compare.attainable.schedule_within import schedule_within
from dfopt.compare.dispatches import Dispatches, movable_dispatches
from dfopt.compare.paid import cost_of
from dfopt.simulate import POLICIES, read_scenario, simulate_once
from tests.benchmarks.own_process import in_own_process
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed

UNTIL = {"10,000": 1_100_000_000, "100,000": 11_000_000_000}
"""The time for which the web server runs on 8 CPUs, in nanoseconds, for a number of dispatches."""

TARGETS_S = {"10,000": 30, "100,000": 120}


def recorded(until: int) -> Dispatches:
    """Return what the web server does until a time, on 8 CPUs."""
    scenario = read_scenario("web-server", {"until": until, "machine.cpus": 8})
    trace = simulate_once(scenario, POLICIES["fcfs"]).trace
    model = CostModel(penalty=scenario.penalty, cold_start=scenario.cold_start)
    return movable_dispatches(trace, model)


def measured(until: int) -> tuple[int, int, int, float, float]:
    """Return the number of dispatches, costs before and after, and the seconds of both."""
    few = recorded(10_000_000)
    # The first calls compile, or load machine code.
    run_patiently(few, 0)
    schedule_within(few, WaitingLimit(each=0), effort=0.01)
    arrivals = recorded(until)
    rule_s, _ = timed(lambda: run_patiently(arrivals, 0))
    search_s, found = timed(lambda: schedule_within(arrivals, WaitingLimit(each=0)))
    before, after = cost_of(arrivals), cost_of(found)
    return len(arrivals), before, after, rule_s, search_s


def test_nobody_later(report: Callable[[Table], None]) -> None:
    rows: list[list[object]] = []
    slow = []
    for name, until in UNTIL.items():
        (dispatches, before, after, rule_s, search_s), peak = in_own_process(measured, until)
        assert after <= before
        rows.append([dispatches, after / before, search_s, search_s / rule_s, peak])
        if search_s > TARGETS_S[name]:
            slow.append(name)
    report(
        Table(
            name="beam-search",
            title="Schedules of the web server on 8 CPUs in which nobody waits longer",
            command="python -m pytest tests/benchmarks/test_beam_search.py",
            columns=["dispatches", "cost / recorded", "seconds", "× patient rule", "peak, GiB"],
            rows=rows,
            notes=[
                "the patient rule is the yardstick: it looks at each dispatch once",
                f"targets in seconds: {TARGETS_S}",
            ],
        )
    )
    assert not slow
