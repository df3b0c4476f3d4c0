"""A part of a trace is the trace of what happened in a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.trace import between
from dfopt.trace.events import Forks, Marks, Stop, Wakeups
from dfopt.trace.readiness import readiness_of
from tests.trace.traces import SMALL, assert_same, traces_with_events

LATEST = 60
"""A time at which every drawn trace has ended."""


def limits(least=0, most=LATEST):
    return st.lists(st.integers(least, most), min_size=2, max_size=2, unique=True).map(sorted)


@st.composite
def runs(draw):
    """Draw a trace in which no task runs on two CPUs at once."""
    trace = draw(traces_with_events())
    return replace(
        trace,
        task=trace.task + np.int32(len(trace.tasks)) * trace.cpu,
        tasks=tuple(
            replace(task, name=f"{task.name} on {cpu}")
            for cpu in range(trace.cpus)
            for task in trace.tasks
        ),
    )


@given(traces_with_events())
def test_the_whole_is_the_trace(trace):
    assert_same(between(trace, -1, LATEST), trace)


@given(runs(), limits(), st.data())
def test_a_part_of_a_part_is_a_part_of_the_trace(trace, outer, data):
    inner = data.draw(limits(*outer))
    assert_same(between(between(trace, *outer), *inner), between(trace, *inner))


@given(runs(), limits())
def test_nothing_lies_outside(trace, part):
    begin, end = part
    found = between(trace, begin, end)
    whole = [*zip(trace.cpu.tolist(), trace.start.tolist(), trace.end.tolist(), strict=True)]
    kept = [*zip(found.cpu.tolist(), found.start.tolist(), found.end.tolist(), strict=True)]
    assert kept == [row for row in whole if begin <= row[1] and row[2] <= end]
    assert all(begin <= time <= end for time in (*found.gaps.start, *found.gaps.end))
    for events in (found.wakeups, found.first_wakeups, found.forks):
        assert all(begin <= time <= end for time in events.time)
        assert (np.diff(events.time) >= 0).all()


def test_gaps_are_cut_and_what_runs_over_a_limit_is_left_out():
    part = between(SMALL, 160, 420)
    assert [*zip(part.cpu.tolist(), part.start.tolist(), strict=True)] == [(0, 200), (0, 250)]
    assert (part.gaps.start.tolist(), part.gaps.end.tolist()) == ([160], [300])
    assert (part.tasks, part.fragments) == (SMALL.tasks, SMALL.fragments)


def test_who_waits_at_the_beginning_is_woken_then():
    """Of SMALL, task 0 runs at 100 and 250, task 2 at 200 and 300 (until 450)."""
    wakeups = Wakeups(
        time=np.array([50, 60, 110, 120, 240]),
        waker=np.array([1, 1, 1, 0, 2], np.int32),
        woken=np.array([0, 2, 2, 0, 1], np.int32),
    )
    part = between(replace(SMALL, wakeups=wakeups), 220, 420)
    assert part.wakeups.time.tolist() == [220, 240]
    assert part.wakeups.woken.tolist() == [0, 1]
    assert part.wakeups.waker.tolist() == [-1, 2]
    assert readiness_of(part).ready_by.tolist() == [220]


def test_who_was_preempted_before_waits_too():
    """Of SMALL, tasks 0 and 2 go on at 250 and 300; they ran until 200."""
    stop = np.array([Stop.PREEMPTED, Stop.SLEEPS, Stop.PREEMPTED, Stop.SLEEPS, Stop.ENDS], np.int8)
    trace = replace(SMALL, stop=stop)
    for begin, time in ((220, [220, 220]), (150, [200]), (90, [])):
        part = between(trace, begin, 500)
        assert part.wakeups.time.tolist() == time
        assert part.wakeups.woken.tolist() == [0, 2][: len(time)]
    assert readiness_of(between(trace, 220, 500)).known.all()


def test_forks_before_a_first_dispatch_move_too():
    forks = Forks(
        time=np.array([40, 150]),
        parent=np.array([0, 0], np.int32),
        child=np.array([0, 2], np.int32),
    )
    part = between(replace(SMALL, forks=forks), 190, 500)
    assert (part.forks.time.tolist(), part.forks.child.tolist()) == ([190], [2])


def test_marks_hold_from_then_on():
    task = np.zeros(3, np.int32)
    marks = Marks(time=np.array([10, 300, 500]), task=task, df=task, names=("g3",))
    part = between(replace(SMALL, marks=marks), 200, 400)
    assert part.marks.time.tolist() == [10, 300]


@pytest.mark.parametrize("end", [3, 5])
def test_a_part_without_length_is_refused(end):
    with pytest.raises(DfoptError, match="ends before it begins; let it end later"):
        between(SMALL, 5, end)
