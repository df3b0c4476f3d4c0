"""How tasks were served, computed by hand."""

import io
from collections.abc import Sequence

import pytest
from hypothesis import given

from dfopt import replace
from dfopt.trace.dfopt_trace import read_dfopt_trace
from dfopt.trace.service import WaitFigures, service_of
from dfopt.trace.trace import UNMANAGED
from tests.trace.traces import SMALL
from tests.trace.woken import ENDS, PREEMPTED, SLEEPS, woken_trace, woken_traces

TWO_ON_ONE_CPU = woken_trace(
    (0, 0, 10, "a", SLEEPS),
    (0, 10, 20, "b", PREEMPTED),
    (0, 20, 30, "a", SLEEPS),
    (1, 25, 35, "b", SLEEPS),
    first_wakeups=((0, None, "a"), (0, None, "b")),
    wakeups=((14, None, "a"),),
)
"""a is woken at 14 and waits for 6; b waits for 10, is preempted at 20, and waits for 5 more."""


def test_waits_by_hand() -> None:
    found = service_of(TWO_ON_ONE_CPU)
    assert found.wakeup_latency == WaitFigures(
        count=3, mean=round(16 / 3, 6), p50=6, p99=10, longest=10
    )
    assert found.wait == WaitFigures(count=4, mean=21 / 4, p50=5, p99=10, longest=10)
    assert (found.unknown, found.still_waiting, found.migrations) == (0, 0, 1)


def test_responses_by_hand() -> None:
    # a responds after 10 and 16; b after 35, its preemption included
    found = service_of(TWO_ON_ONE_CPU)
    assert found.response == WaitFigures(count=3, mean=round(61 / 3, 6), p50=16, p99=35, longest=35)


def test_a_burst_that_goes_on_after_the_trace_has_no_response() -> None:
    found = service_of(woken_trace((0, 3, 9, "a", PREEMPTED), first_wakeups=((0, None, "a"),)))
    assert found.wait is not None
    assert found.response is None


def test_a_burst_may_end_with_its_task() -> None:
    found = service_of(woken_trace((0, 3, 9, "a", ENDS), first_wakeups=((1, None, "a"),)))
    assert found.response == WaitFigures(count=1, mean=8, p50=8, p99=8, longest=8)


def test_a_burst_of_which_a_part_does_not_count_has_no_response() -> None:
    """Its second dispatch has no fragment."""
    rows = [(0, 3, 9, "a", PREEMPTED), (0, 20, 30, "a", SLEEPS, None)]
    found = service_of(woken_trace(*rows, first_wakeups=((1, None, "a"),)))
    assert found.wait == WaitFigures(count=1, mean=2, p50=2, p99=2, longest=2)
    assert found.response is None


def test_fairness_is_jains_index_of_the_shares() -> None:
    # a runs for 20 and waits for 6, b runs for 20 and waits for 15
    a, b = 20 / 26, 20 / 35
    assert service_of(TWO_ON_ONE_CPU).fairness == pytest.approx((a + b) ** 2 / 2 / (a**2 + b**2))


def test_who_gets_nothing_counts_for_fairness() -> None:
    """Of four tasks one runs all the time: Jain's index is a quarter."""
    born = tuple((0, None, task) for task in "abcd")
    found = service_of(woken_trace((0, 0, 100, "a", PREEMPTED), first_wakeups=born, cpus=1))
    assert (found.fairness, found.still_waiting) == (0.25, 3)
    assert found.wakeup_latency == WaitFigures(count=1, mean=0, p50=0, p99=0, longest=0)


def test_who_may_have_run_in_a_gap_is_not_said_to_wait() -> None:
    found = service_of(
        woken_trace(
            (0, 0, 10, "a", PREEMPTED),
            (0, 40, 50, "b", SLEEPS),
            first_wakeups=((0, None, "a"), (5, None, "b"), (45, None, "c")),
            gaps=((0, 10, 40),),
        )
    )
    assert found.still_waiting == 1  # c


BY_HAND = b"""{"format": "dfopt-trace/1", "cpus": 1, "time_unit": "us"}
{"first_wakeup": 0, "task": "a"}
{"cpu": 0, "start": 3, "end": 10, "task": "a", "df": "x", "stop": "sleeps"}
{"wakeup": 12, "task": "a"}
{"cpu": 0, "start": 13, "end": 20, "task": "a", "df": "x", "stop": "sleeps"}
"""


def test_a_trace_written_by_hand_has_latencies() -> None:
    found = service_of(read_dfopt_trace(io.BytesIO(BY_HAND)))
    assert found.wakeup_latency == WaitFigures(count=2, mean=2, p50=1, p99=3, longest=3)


def test_a_trace_in_which_nothing_ran() -> None:
    found = service_of(woken_trace(first_wakeups=((0, None, "a"),)))
    assert (found.wakeup_latency, found.fairness, found.still_waiting) == (None, None, 0)


def test_without_wakeups_nothing_is_invented() -> None:
    found = service_of(SMALL)
    assert (found.wakeup_latency, found.wait, found.fairness) == (None, None, None)
    assert "has no wake-ups" in (found.problem or "")
    assert found.migrations == 1


def test_dispatches_without_a_fragment_count_only_if_none_has_one() -> None:
    fragment = TWO_ON_ONE_CPU.fragment.copy()
    fragment[TWO_ON_ONE_CPU.task == 0] = UNMANAGED
    found = service_of(replace(TWO_ON_ONE_CPU, fragment=fragment))
    assert found.wait == WaitFigures(count=2, mean=7.5, p50=5, p99=10, longest=10)
    assert found.fairness == 1
    fragment[:] = UNMANAGED
    alone = replace(TWO_ON_ONE_CPU, fragment=fragment)
    assert service_of(alone) == service_of(TWO_ON_ONE_CPU)


@given(woken_traces())
def test_figures_are_within_their_limits(trace) -> None:
    found = service_of(trace)
    for waits in (found.wakeup_latency, found.wait):
        if waits is not None:
            assert 0 <= waits.p50 <= waits.p99 <= waits.longest
            assert waits.mean <= waits.longest
    if found.fairness is not None:
        assert 0 < found.fairness <= 1
    assert 0 <= found.migrations < len(trace)


def weighted(*, a: int, b: int, rows: Sequence[tuple[int, int, int, str, int]]) -> float | None:
    """Return the fairness of two tasks that are there from 0, with these weights."""
    trace = woken_trace(*rows, first_wakeups=((0, None, "a"), (0, None, "b")))
    weights = {"a": a, "b": b}
    tasks = tuple(replace(task, weight=weights.get(task.name)) for task in trace.tasks)
    return service_of(replace(trace, tasks=tasks)).fairness


def test_what_is_due_to_a_task_follows_its_weight() -> None:
    """a runs for a third of its time, and b for two thirds."""
    rows = [(0, 0, 10, "b", PREEMPTED), (0, 10, 20, "a", PREEMPTED), (0, 20, 30, "b", PREEMPTED)]
    # a waits at the beginning and at the end, b in the middle.
    third, two_thirds = 1 / 3, 2 / 3
    even = (third + two_thirds) ** 2 / 2 / (third**2 + two_thirds**2)
    assert weighted(a=7, b=7, rows=rows) == pytest.approx(even)
    assert weighted(a=512, b=1024, rows=rows) == 1
    # Due are 1/6 and 5/6, so a got twice its share and b four fifths.
    x, y = 2, 4 / 5
    assert weighted(a=100, b=500, rows=rows) == pytest.approx((x + y) ** 2 / 2 / (x**2 + y**2))


def test_nobody_is_due_more_than_all_of_the_time() -> None:
    rows = [(0, 0, 10, "a", SLEEPS), (1, 0, 30, "b", SLEEPS)]
    assert weighted(a=100, b=1, rows=rows) == 1
    # Of the 30 that they run, all its 10 are due to b, and to a the other 20 of 30.
    rows = [(0, 0, 10, "b", SLEEPS), (0, 10, 30, "a", SLEEPS)]
    assert weighted(a=1, b=9, rows=rows) == 1
