"""The managed dispatches of a trace, and the schedule that was recorded."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.compare import CostModel
from dfopt.compare.dispatches import (
    ALWAYS,
    NONE,
    TRANSPARENT,
    dispatches_of,
    movable_dispatches,
)
from dfopt.compare.paid import cost_of, realised_costs
from dfopt.errors import DfoptError
from dfopt.trace import read_trace
from dfopt.trace.labels import label
from tests.compare.drawn import labelled_traces, models
from tests.compare.test_matrix import models as matrix_models
from tests.trace.woken import NOT_GIVEN, PREEMPTED, SLEEPS, woken_trace, woken_traces

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

COUNTING = CostModel()


@given(labelled_traces(), models(), st.integers(0, 10))
def test_parts_of_a_table_join_again(trace, model, first):
    whole = dispatches_of(trace, model)
    again = whole.chosen(slice(first)).joined(whole.chosen(slice(first, None)))
    assert len(again) == len(whole)
    for name, column in whole.columns().items():
        assert np.array_equal(getattr(again, name), column)
        assert getattr(again, name).dtype == column.dtype
    assert cost_of(again) == cost_of(whole) == cost_of(whole.chosen(slice(None, None, -1)))


@pytest.mark.slow
@given(labelled_traces(), models())
def test_the_recorded_schedule_costs_what_was_realised(trace, model):
    arrivals = movable_dispatches(trace, model, timeline_only=True)
    assert cost_of(arrivals) == realised_costs(trace, model).sum()


@pytest.mark.slow
@given(labelled_traces(), matrix_models())
def test_so_it_does_under_a_matrix(trace, model):
    arrivals = movable_dispatches(trace, model, timeline_only=True)
    assert cost_of(arrivals) == realised_costs(trace, model).sum()


def arrivals_in_any_case(trace, model=COUNTING):
    """Return the arrivals of a trace, however little is known about it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dfopt.compare.dispatches._check_known", lambda *_: None)
        return movable_dispatches(trace, model)


@pytest.mark.slow
@given(woken_traces(), models(lines=3))
def test_the_recorded_schedule_keeps_all_limits(trace, model):
    arrivals = arrivals_in_any_case(trace, model)
    recorded = arrivals
    start, end = recorded.start, recorded.start + arrivals.length
    assert (recorded.waits >= 0).all()
    assert (arrivals.ready_from <= arrivals.ready_by).all()
    assert (arrivals.latest_starts(0) >= start).all()
    assert (arrivals.latest_starts_for_bounds(0) >= arrivals.latest_starts(0)).all()
    numbers = np.arange(len(arrivals))
    assert (arrivals.previous < numbers).all()
    assert (arrivals.waker < numbers).all()
    follows = arrivals.previous != NONE
    assert (end[arrivals.previous[follows]] == arrivals.previous_end[follows]).all()
    woken = arrivals.waker != NONE
    assert (start[arrivals.waker] + arrivals.waker_offset <= start)[woken].all()
    assert (arrivals.waker_offset <= arrivals.length[arrivals.waker])[woken].all()
    assert cost_of(recorded) == realised_costs(trace, model).sum()


@pytest.mark.slow
@given(woken_traces(), st.sampled_from(("transparent", "evict")))
def test_dispatches_and_blocks_share_no_time(trace, unmanaged):
    arrivals = arrivals_in_any_case(trace, CostModel(unmanaged=unmanaged))
    blocks = arrivals.fixed
    for cpu in range(arrivals.cpus):
        own, taken = arrivals.cpu == cpu, blocks.cpu == cpu
        assert (trace.cpu == arrivals.cpu_number[cpu]).any()
        starts = np.concatenate([arrivals.start[own], blocks.start[taken]])
        ends = np.concatenate([(arrivals.start + arrivals.length)[own], blocks.end[taken]])
        order = np.lexsort((ends, starts))
        assert (ends[order][:-1] <= starts[order][1:]).all()
    assert (np.diff(blocks.cpu) >= 0).all()
    assert (blocks.start < blocks.end)[blocks.fragment == TRANSPARENT].all()
    rows = np.concatenate([arrivals.row, blocks.row[blocks.row != NONE]])
    assert len(set(rows)) == len(rows)
    if unmanaged == "evict":
        assert len(rows) == len(trace)


def test_what_follows_a_dispatch_and_stays_limits_its_start():
    trace = woken_trace(
        (0, 10, 14, "a", PREEMPTED, "p"),
        (1, 12, 30, "b", SLEEPS, "p"),
        (2, 20, 25, "a", SLEEPS, None),
        (0, 32, 40, "a", SLEEPS, "q"),
        (2, 35, 36, "c", SLEEPS, None),
        wakeups=[(9, None, "a"), (11, "a", "b"), (22, "a", "b"), (28, "b", "c"), (31, "c", "a")],
    )
    arrivals = arrivals_in_any_case(trace)
    assert arrivals.row.tolist() == [0, 1, 3]
    # a is still the same burst in its second part, which stays at 20. b woke c, which stays at 35.
    assert arrivals.latest.tolist() == [16, 19, ALWAYS]
    # The third part of a follows a block that has ended at 25; c did not run when it woke a.
    assert arrivals.previous.tolist() == [NONE, NONE, NONE]
    assert arrivals.previous_end.tolist()[2] == 25
    assert arrivals.ready_by.tolist() == [9, 11, 31]
    assert arrivals.waker.tolist() == [NONE, 0, NONE]
    assert arrivals.waker_offset.tolist() == [0, 1, 0]
    assert arrivals.fixed.row.tolist() == [2, 4]
    assert arrivals.cpu_number == (0, 1, 2)


def test_what_goes_on_after_a_block_is_ready_when_that_ends():
    trace = woken_trace(
        (1, 10, 14, "a", PREEMPTED, None),
        (1, 20, 25, "a", SLEEPS, "p"),
        wakeups=[(5, None, "a")],
    )
    arrivals = movable_dispatches(trace, COUNTING)
    assert (arrivals.ready_from.tolist(), arrivals.ready_by.tolist()) == ([14], [14])
    assert arrivals.continues.tolist() == [True]
    assert arrivals.cpus == 1
    assert arrivals.cpu.tolist() == [0]
    assert arrivals.cpu_number == (1,)


def test_threads_of_the_kernel_that_run_on_one_cpu_stay_there():
    rows = (0, 0, 4, "a", SLEEPS), (0, 4, 5, "b", SLEEPS), (1, 0, 4, "c", SLEEPS)
    comms = {"b": "ksoftirqd/0", "c": "kworker/u8:1"}
    trace = woken_trace(*rows, comms=comms)
    arrivals = movable_dispatches(trace, COUNTING, timeline_only=True)
    assert arrivals.row.tolist() == [0, 1]
    assert arrivals.kept == 1
    assert arrivals.fixed.row.tolist() == [2]
    only = woken_trace(rows[1], comms=comms)
    with pytest.raises(DfoptError, match="only threads of the kernel have a fragment"):
        movable_dispatches(only, COUNTING, timeline_only=True)


def test_gaps_take_the_cpu_and_cut():
    rows = (0, 0, 4, "a", SLEEPS, "p"), (0, 20, 30, "b", SLEEPS, "q"), (1, 0, 9, "c", SLEEPS, "q")
    gaps = (0, 4, 10), (0, 8, 12), (0, 12, 12), (1, 40, 50), (2, 3, 9)
    arrivals = movable_dispatches(woken_trace(*rows, gaps=gaps), COUNTING, timeline_only=True)
    blocks = arrivals.fixed
    found = zip(blocks.cpu.tolist(), blocks.start.tolist(), blocks.end.tolist(), strict=True)
    assert list(found) == [(0, 4, 10), (0, 10, 12), (1, 40, 50)]
    # Nothing runs after the gap of CPU 1.
    assert arrivals.cuts.cpu.tolist() == [0, 0, 0]
    assert arrivals.cuts.time.tolist() == [10, 12, 12]
    assert cost_of(arrivals) == 0


def test_a_trace_without_wake_ups_is_refused():
    trace = woken_trace((0, 0, 4, "a", SLEEPS), (0, 8, 9, "a", SLEEPS))
    with pytest.raises(DfoptError) as raised:
        movable_dispatches(trace, COUNTING)
    assert str(raised.value) == (
        "the trace has no wake-ups, so that only the same timeline and the order-free figures "
        "exist; record sched:sched_waking, too"
    )
    assert movable_dispatches(trace, COUNTING, timeline_only=True).unknown == 2


def test_a_trace_in_which_too_much_is_unknown_is_refused():
    rows = [(0, time, time + 4, "a", SLEEPS) for time in range(0, 400, 10)]
    woken = [(time - 1, None, "a") for time in range(10, 390, 10)]
    assert movable_dispatches(woken_trace(*rows, wakeups=woken), COUNTING).unknown == 2
    with pytest.raises(DfoptError, match="unknown when 3 of 40 dispatches were ready, more than 5"):
        movable_dispatches(woken_trace(*rows, wakeups=woken[1:]), COUNTING)


def test_clocks_that_differ_are_named_where_too_much_is_unknown():
    rows = [(0, time, time + 4, "a", SLEEPS) for time in range(0, 400, 10)]
    woken = [(time + 1, None, "a") for time in range(10, 400, 10)]
    with pytest.raises(DfoptError, match=r"more than 5%, so that only .* the clocks of the CPUs"):
        movable_dispatches(woken_trace(*rows, wakeups=woken), COUNTING)


def test_a_trace_that_does_not_say_why_tasks_stopped():
    rows = (0, 0, 4, "a", NOT_GIVEN), (0, 8, 9, "a", NOT_GIVEN)
    trace = woken_trace(*rows, wakeups=[(0, None, "a"), (5, None, "a")])
    assert movable_dispatches(trace, COUNTING).unknown == 0


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "realised"), [(4, 191), (16, 1914)])
def test_a_recorded_benchmark(groups, realised):
    trace = label(read_trace(EXAMPLES / f"hackbench-{groups}.txt.gz"), "wakeups")
    arrivals = movable_dispatches(trace, COUNTING)
    assert cost_of(arrivals) == realised
    assert (arrivals.unknown, arrivals.kept, arrivals.warnings) == (0, 0, ())
    assert (arrivals.latest_starts(0) >= arrivals.start).all()
