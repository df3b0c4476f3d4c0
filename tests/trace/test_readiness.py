"""When tasks were ready, from the events of traces."""

from pathlib import Path

import pytest
from hypothesis import given

from dfopt.errors import DfoptError
from dfopt.trace import read_trace
from dfopt.trace.readiness import NEVER, NO_ROW, readiness_of, unknown_readiness
from tests.trace.woken import ENDS, NOT_GIVEN, PREEMPTED, SLEEPS, woken_trace, woken_traces

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def ready(trace):
    """Return for each dispatch from when on, and by when at the latest, it was ready."""
    readiness = readiness_of(trace)
    return list(zip(readiness.ready_from.tolist(), readiness.ready_by.tolist(), strict=True))


def wakers(trace):
    readiness = readiness_of(trace)
    return list(zip(readiness.waker.tolist(), readiness.waker_offset.tolist(), strict=True))


SLEEPER = (0, 10, 20, "a", SLEEPS), (1, 15, 40, "b", SLEEPS), (0, 50, 60, "a", SLEEPS)


def test_a_task_that_slept_is_ready_when_it_is_woken():
    trace = woken_trace(*SLEEPER, wakeups=[(32, "b", "a")])
    readiness = readiness_of(trace)
    assert ready(trace)[2] == (32, 32)
    assert wakers(trace)[2] == (1, 17)
    assert readiness.previous.tolist() == [NO_ROW, NO_ROW, 0]
    assert readiness.previous_end.tolist() == [NEVER, NEVER, 20]
    assert readiness.known.tolist() == [False, False, True]


def test_two_wake_ups_mean_that_a_task_ran_unseen():
    trace = woken_trace(*SLEEPER, wakeups=[(25, None, "a"), (32, "b", "a")])
    assert ready(trace)[2] == (25, 32)
    assert wakers(trace)[2] == (1, 17)


def test_a_wake_up_in_the_moment_of_the_start_counts():
    trace = woken_trace(*SLEEPER, wakeups=[(50, None, "a")])
    assert ready(trace)[2] == (50, 50)


def test_a_task_may_be_woken_before_it_sleeps():
    trace = woken_trace(*SLEEPER, wakeups=[(5, None, "a"), (16, "b", "a"), (18, "b", "a")])
    assert ready(trace)[2] == (18, 18)
    assert wakers(trace)[2] == (1, 3)
    assert readiness_of(trace).known.tolist() == [True, False, True]


def test_an_interrupt_and_a_task_that_does_not_run_are_no_wakers():
    for waker in (None, "a", "c"):
        assert wakers(woken_trace(*SLEEPER, wakeups=[(32, waker, "a")]))[2] == (NO_ROW, 0)
    assert wakers(woken_trace(*SLEEPER, wakeups=[(41, "b", "a")]))[2] == (NO_ROW, 0)
    assert wakers(woken_trace(*SLEEPER, wakeups=[(40, "b", "a")]))[2] == (1, 25)


def test_a_task_that_was_preempted_is_as_ready_as_its_first_part():
    trace = woken_trace(
        (0, 10, 20, "a", PREEMPTED),
        (1, 25, 30, "a", PREEMPTED),
        (0, 40, 50, "a", SLEEPS),
        (0, 60, 70, "a", ENDS),
        wakeups=[(3, None, "a"), (55, None, "a")],
    )
    readiness = readiness_of(trace)
    assert ready(trace) == [(3, 3), (3, 3), (3, 3), (55, 55)]
    assert readiness.continues.tolist() == [False, True, True, False]
    assert readiness.previous_end.tolist() == [NEVER, 20, 30, 50]
    assert readiness.known.all()


def test_a_wake_up_after_a_preemption_holds_for_schedules_only():
    trace = woken_trace(
        (0, 10, 20, "a", PREEMPTED),
        (0, 40, 50, "a", PREEMPTED),
        (0, 60, 70, "a", SLEEPS),
        wakeups=[(3, None, "a"), (30, None, "a")],
    )
    assert ready(trace) == [(3, 3), (3, 30), (3, 30)]
    assert readiness_of(trace).continues.tolist() == [False, False, True]


def test_a_part_of_a_run_that_goes_on_at_once_is_a_continuation():
    trace = woken_trace(
        (0, 10, 20, "a", NOT_GIVEN), (0, 20, 30, "a", NOT_GIVEN), wakeups=[(3, None, "a")]
    )
    assert ready(trace) == [(3, 3), (3, 3)]


def test_what_a_task_ran_in_a_gap_comes_before_its_next_dispatch():
    rows = (0, 0, 10, "a", PREEMPTED), (0, 40, 50, "a", SLEEPS), (0, 60, 70, "a", SLEEPS)
    woken = [(0, None, "a"), (55, None, "a")]
    assert ready(woken_trace(*rows, wakeups=woken, gaps=[(1, 20, 30)]))[1] == (0, 0)
    trace = woken_trace(*rows, wakeups=woken, gaps=[(1, 20, 30, "a"), (2, 5, 35, "b")])
    assert ready(trace) == [(0, 0), (30, 30), (55, 55)]


def test_a_new_task_is_ready_at_its_first_wake_up():
    rows = (0, 0, 30, "b", SLEEPS), (1, 20, 30, "a", SLEEPS)
    both = woken_trace(*rows, first_wakeups=[(15, "b", "a")], forks=[(12, "b", "a")])
    assert ready(both)[1] == (15, 15)
    assert wakers(both)[1] == (0, 15)
    forked = woken_trace(*rows, forks=[(12, "b", "a")])
    assert ready(forked)[1] == (12, 20)
    assert wakers(forked)[1] == (0, 12)
    assert readiness_of(forked).known.tolist() == [False, True]
    late = woken_trace(*rows, first_wakeups=[(25, "b", "a")], forks=[(21, "b", "a")])
    assert ready(late)[1] == (0, 20)


def test_a_missing_wake_up_leaves_two_times():
    slept = woken_trace(*SLEEPER, wakeups=[(5, None, "a")])
    assert ready(slept) == [(5, 5), (10, 15), (20, 50)]
    assert not readiness_of(slept).known[2]
    unknown = [(cpu, start, end, task, NOT_GIVEN) for cpu, start, end, task, _ in SLEEPER]
    assert ready(woken_trace(*unknown, wakeups=[(5, None, "a")])) == [(5, 5), (10, 15), (5, 50)]
    # The second run may go on with the first one. The third one certainly goes on with the second.
    trace = woken_trace(
        (0, 10, 20, "a", NOT_GIVEN),
        (0, 30, 40, "a", PREEMPTED),
        (0, 50, 60, "a", SLEEPS),
        wakeups=[(5, None, "a")],
    )
    assert ready(trace) == [(5, 5), (5, 30), (5, 30)]
    assert readiness_of(trace).known.tolist() == [True, False, True]


def test_a_wake_up_that_comes_too_late_is_missing_and_told():
    rows = (0, 10, 20, "a", SLEEPS), (0, 50, 90, "a", SLEEPS), (0, 100, 110, "a", SLEEPS)
    trace = woken_trace(*rows, wakeups=[(5, None, "a"), (53, None, "a"), (95, None, "a")])
    assert ready(trace) == [(5, 5), (20, 50), (95, 95)]
    (warning,) = readiness_of(trace).warnings
    assert warning.startswith("1 wake-up came after the dispatch that it caused, by up to 3 ns")
    # Near the start of a run that nothing woke it is not the wake-up for the next one ...
    trace = woken_trace(*rows, wakeups=[(5, None, "a"), (53, None, "a")])
    assert ready(trace) == [(5, 5), (20, 50), (90, 100)]
    # ... but near the end it is.
    trace = woken_trace(*rows, wakeups=[(5, None, "a"), (88, None, "a")])
    assert ready(trace) == [(5, 5), (20, 50), (88, 88)]
    assert readiness_of(trace).warnings == ()


def test_runs_of_no_length_stand_in_their_true_order():
    trace = woken_trace(
        (0, 10, 20, "a", PREEMPTED),
        (1, 20, 25, "a", SLEEPS),
        (0, 20, 20, "a", PREEMPTED),
        wakeups=[(3, None, "a")],
    )
    assert readiness_of(trace).previous.tolist() == [NO_ROW, 2, 0]
    assert ready(trace) == [(3, 3)] * 3


def test_no_dispatch_is_woken_by_one_that_comes_later():
    # All in one moment of a coarse clock: a wakes b, which wakes a.
    trace = woken_trace(
        (0, 3, 5, "a", SLEEPS),
        (1, 5, 7, "b", SLEEPS),
        (0, 5, 9, "a", SLEEPS),
        wakeups=[(5, "a", "b"), (5, "b", "a")],
    )
    assert wakers(trace) == [(NO_ROW, 0), (0, 2), (1, 0)]


def test_a_task_on_two_cpus_at_once_is_refused():
    trace = woken_trace((0, 10, 20, "a", SLEEPS), (3, 19, 30, "a", SLEEPS))
    with pytest.raises(DfoptError) as raised:
        readiness_of(trace)
    assert str(raised.value) == (
        "task a runs on CPU 0 until 20, but starts at 19 on CPU 3; record all CPUs with one "
        "clock, such as mono"
    )


def test_nothing_is_known_of_a_trace_without_events():
    trace = woken_trace(*SLEEPER)
    assert not readiness_of(trace).known.any()
    nothing = unknown_readiness(trace)
    assert nothing.ready_by.tolist() == trace.start.tolist()
    assert nothing.ready_from.tolist() == [10, 10, 10]


def slow_readiness(trace):
    """Return rows of ready_from, ready_by, whether it is known, waker and offset, by the rules."""
    order = sorted(range(len(trace)), key=lambda row: (trace.start[row], trace.end[row], row))
    events = [
        (int(time), int(waker), int(woken))
        for wakeups in (trace.wakeups, trace.first_wakeups)
        for time, waker, woken in zip(wakeups.time, wakeups.waker, wakeups.woken, strict=True)
    ]
    events.sort(key=lambda event: event[0])
    found, last = {}, {}
    for row in order:
        task, start = trace.task[row], trace.start[row]
        before = last.get(task)
        own = [event for event in events if event[2] == task]
        if before is None:
            cause = _first(trace, [e for e in own if e[0] <= start], task, start)
        else:
            cause = _next(trace, own, row, before, found)
        since, by, known, time, waker = cause
        found[row] = (since, by, known, *_running(trace, order, row, waker, time))
        last[task] = row
    return [_after_gaps(trace, row, *found[row]) for row in range(len(trace))]


def _after_gaps(trace, row, since, by, *rest):
    """Return what is known of a dispatch if it also follows what its task ran in gaps."""
    gaps = trace.gaps
    if gaps.task is not None:
        for task, end in zip(gaps.task, gaps.end, strict=True):
            if task == trace.task[row] and end <= trace.start[row]:
                since, by = max(since, end), max(by, end)
    return since, by, *rest


def _first(trace, woken, task, start):
    if woken:
        return woken[0][0], woken[-1][0], True, woken[-1][0], woken[-1][1]
    forks = zip(trace.forks.time, trace.forks.parent, trace.forks.child, strict=True)
    made = [(time, parent) for time, parent, child in forks if child == task and time <= start]
    if made:
        return made[-1][0], start, True, *made[-1]
    return trace.start.min(), start, False, 0, NO_ROW


def _next(trace, own, row, before, found):
    start, (s, e) = trace.start[row], (trace.start[before], trace.end[before])
    stop = trace.stop[before]
    at_once = e == start and trace.cpu[before] == trace.cpu[row]
    goes_on = stop == PREEMPTED or (stop == NOT_GIVEN and at_once)
    woken = [event for event in own if e < event[0] <= start]
    if woken:
        since = found[before][0] if goes_on else woken[0][0]
        return since, woken[-1][0], True, woken[-1][0], woken[-1][1]
    if goes_on:
        return *found[before][:2], True, 0, NO_ROW
    early = [event for event in own if s < event[0] <= e]
    if stop == SLEEPS and early:
        time, waker, _ = early[-1]
        alone = len(early) == 1 and not _has_own(trace, own, before)
        if not (alone and time - s < e - time):
            return time, time, True, time, waker
    return (found[before][0] if stop == NOT_GIVEN else e), start, False, 0, NO_ROW


def _has_own(trace, own, row):
    """Whether a dispatch goes on, is the first of its task, or was woken after the one before."""
    rows = [n for n in range(len(trace)) if trace.task[n] == trace.task[row]]
    rows.sort(key=lambda n: (trace.start[n], trace.end[n], n))
    place = rows.index(row)
    if not place:
        return True
    before = rows[place - 1]
    end, start = trace.end[before], trace.start[row]
    at_once = end == start and trace.cpu[before] == trace.cpu[row]
    goes_on = trace.stop[before] == PREEMPTED or (trace.stop[before] == NOT_GIVEN and at_once)
    return goes_on or any(end < event[0] <= start for event in own)


def _running(trace, order, row, waker, time):
    for other in order:
        runs = trace.start[other] <= time <= trace.end[other]
        if waker != NO_ROW and trace.task[other] == waker != trace.task[row] and runs:
            if order.index(other) > order.index(row):
                return NO_ROW, 0
            return other, time - trace.start[other]
    return NO_ROW, 0


@pytest.mark.slow
@given(woken_traces())
def test_the_rules_hold_on_any_trace(trace):
    readiness = readiness_of(trace)
    found = zip(
        readiness.ready_from.tolist(),
        readiness.ready_by.tolist(),
        readiness.known.tolist(),
        readiness.waker.tolist(),
        readiness.waker_offset.tolist(),
        strict=True,
    )
    assert list(found) == slow_readiness(trace)
    assert (readiness.ready_from <= readiness.ready_by).all()
    assert (readiness.ready_by <= trace.start).all()
    assert (readiness.previous_end <= trace.start).all()


@pytest.mark.parametrize("groups", [4, 16])
def test_all_dispatches_of_a_recorded_benchmark_are_known(groups):
    trace = read_trace(EXAMPLES / f"hackbench-{groups}.txt.gz")
    readiness = readiness_of(trace)
    assert readiness.known.all()
    assert (readiness.ready_by <= trace.start).all()
    assert readiness.warnings == ()
    # Nearly every wake-up has a waker that ran at that time.
    woken = ~readiness.continues
    assert (readiness.waker[woken] != NO_ROW).mean() > 0.95
