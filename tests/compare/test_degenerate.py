"""Comparisons of traces with nothing, or a single thing, where there usually is more."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import (
    WHOLE,
    Comparison,
    CostModel,
    Window,
    compare_trace,
    dispatches,
    parse_wait,
)
from dfopt.compare.attainable import local_search, schedule_within
from dfopt.compare.attainable.bound import bound
from dfopt.compare.attainable.bound.bound import lower_bound, stretch_bounds
from dfopt.compare.attainable.frontier import Scheduling
from dfopt.compare.comparison import ONE_TRACE
from dfopt.compare.dispatches import movable_dispatches
from dfopt.problem.cache_domains import CacheDomains
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix
from dfopt.trace import Trace
from tests.compare.drawn import models, windows
from tests.trace.woken import FRAGMENTS, PREEMPTED, SLEEPS, woken_trace, woken_traces

MATRIX = PenaltyMatrix(types=FRAGMENTS, switch=((0, 2, 3), (1, 1, 4), (0, 0, 0)))

ALONE = woken_trace((0, 5, 9, "a", SLEEPS, "p"), wakeups=[(5, None, "a")])
NO_TIME = woken_trace((0, 0, 0, "a", SLEEPS, "p"), wakeups=[(0, None, "a")])
ALL_AT_ONCE = woken_trace(
    *((cpu, 3, 4, task, SLEEPS, df) for cpu, (task, df) in enumerate(["ap", "bq", "cp", "dr"])),
    wakeups=[(3, None, task) for task in "abcd"],
)
ALL_EQUAL = woken_trace(
    *((0, start, start + 1, "ab"[start % 2], SLEEPS, "p") for start in range(8)),
    wakeups=[(start, None, "ab"[start % 2]) for start in range(8)],
)
NEVER_WOKEN = woken_trace(
    *((0, 20 * number, 20 * number + 1, "a", SLEEPS, "p") for number in range(5)),
    *((0, 100 + 2 * number, 101 + 2 * number, "b", PREEMPTED, "q") for number in range(20)),
    *((0, 101 + 2 * number, 102 + 2 * number, "c", SLEEPS, None) for number in range(20)),
    *((0, 150 + number, 151 + number, "a", SLEEPS, "p") for number in range(5)),
    (0, 160, 161, "b", SLEEPS, "q"),
    wakeups=[
        *((20 * number, None, "a") for number in range(5)),
        *((101 + 2 * number, None, "c") for number in range(20)),
        *((150 + number, None, "a") for number in range(5)),
    ],
)
"""b may have been ready from the beginning on, and is due much later."""

NEVER_WOKEN_COST = 3


@pytest.fixture(autouse=True)
def _short_stretches() -> Iterator[None]:
    """Divide the work on the smallest traces as that on long ones, and search for moments."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound, "DISPATCHES_A_STRETCH", 2)
        patch.setattr(bound, "SMALLEST_STRETCH", 2)
        patch.setattr(schedule_within, "WORK", 500)
        patch.setattr(schedule_within, "USUAL_STEPS_IN_BUDGET", 100)
        patch.setattr(local_search, "STRETCH", 4)
        patch.setattr(dispatches, "MOST_UNKNOWN", 1.0)
        yield


MODELS = st.builds(
    replace,
    models() | st.builds(CostModel, penalty=st.just(MATRIX), cold_start=st.booleans()),
    lines=st.just(2),
)


def checked(trace: Trace, model: CostModel, **options: Any) -> Comparison:
    """Return a comparison after a look at what must hold of all of them."""
    options = {"windows": [WHOLE], "workers": 1, "time_limit": 1000.0, **options}
    found = compare_trace(trace, model, **options)
    assert found.frontier is not None
    for row in found.frontier.rows:
        for least in (row.bound, row.bound_with_lengths):
            assert least is None or least <= row.cost
    assert ONE_TRACE.to_document(found)["realised"]["total"] == found.realised.total
    return found


@pytest.mark.slow
@pytest.mark.parametrize("trace", [ALONE, NO_TIME, ALL_AT_ONCE, ALL_EQUAL, NEVER_WOKEN])
def test_degenerate_traces(trace: Trace) -> None:
    for model in (
        CostModel(),
        CostModel(penalty=PenaltyF(read_line=1, write_back=3), lines=2, unmanaged="evict"),
        CostModel(penalty=MATRIX, cold_start=True, final_write_back=True),
    ):
        found = checked(trace, model, waits=[parse_wait("1ns")] if trace.run_time > 4 else [])
        assert found.frontier is not None
        assert {row.scheduling for row in found.frontier.rows} >= {
            Scheduling.RECORDED, Scheduling.NOBODY_LATER, Scheduling.SAME_MEAN_WAIT,
        }  # fmt: skip


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(woken_traces(most=8) | woken_traces(most=20, plain=True), MODELS, windows, st.data())
def test_drawn_traces(trace: Trace, model: CostModel, window: Window, data: st.DataObject) -> None:
    parts = range(data.draw(st.integers(0, trace.cpus))), range(trace.cpus)
    first, rest = tuple(parts[0]), tuple(parts[1][len(parts[0]) :])
    domains = CacheDomains(tuple(part for part in (first, rest) if part))
    checked(trace, model, windows=[window, WHOLE], domains=domains, waits=[])


@pytest.mark.slow
def test_several_workers() -> None:
    found = checked(NEVER_WOKEN, CostModel(), waits=[], workers=2)
    assert found.realised.total == NEVER_WOKEN_COST


def test_a_stretch_in_which_nothing_is_due() -> None:
    """Its conditions are empty, and so is its linear program."""
    arrivals = movable_dispatches(NEVER_WOKEN, CostModel())
    found = lower_bound(arrivals, 0, uses_lengths=True)
    assert 0 <= found.value <= NEVER_WOKEN_COST


def test_a_stretch_that_cannot_be_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """All its dispatches begin at once, and its linear program is too hard."""
    arrivals = movable_dispatches(ALL_AT_ONCE, CostModel())
    stretches = stretch_bounds(arrivals, 0, uses_lengths=True)
    monkeypatch.setattr(bound, "condition_prices", lambda *_, **__: None)
    assert [stretch.perform().stretches for stretch in stretches] == [()] * len(stretches)
