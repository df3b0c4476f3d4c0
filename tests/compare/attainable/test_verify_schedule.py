"""Schedules as traces are compared with the recording: the same dispatches, and all rules kept."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from dfopt import replace
from dfopt.compare import CostModel
from dfopt.compare.attainable.schedule_traces import schedule_of, schedule_trace, verify_schedule
from dfopt.compare.dispatches import movable_dispatches
from dfopt.compare.paid import cost_of
from dfopt.errors import FileError
from dfopt.trace import Trace
from tests.compare.attainable.bound.alternating import written_trace
from tests.compare.attainable.test_export import scheduled


@settings(max_examples=15, suppress_health_check=[HealthCheck.filter_too_much])
@given(scheduled())
def test_an_exported_schedule_is_found_again(drawn):
    trace, _, arrivals, schedule = drawn
    # Dispatches of one task that take no time cannot be told apart.
    assume((trace.start < trace.end).all())
    # One that starts after what follows it would be taken for that.
    assume((schedule.start <= schedule.latest).all())
    again = schedule_of(trace, arrivals, schedule_trace(trace, schedule))
    assert np.array_equal(again.cpu, schedule.cpu)
    assert np.array_equal(again.start, schedule.start)


@settings(max_examples=15)
@given(scheduled(plain=True))
def test_the_figures_are_those_of_the_schedule(drawn):
    trace, _, arrivals, schedule = drawn
    found = verify_schedule(trace, arrivals, schedule_trace(trace, schedule))
    waits = schedule.waits
    figures = found.schedule
    assert found.objective == cost_of(schedule)
    assert figures.total_wait == waits.sum()
    assert figures.p99_wait in waits
    assert (waits > figures.p99_wait).sum() <= len(waits) // 100
    late = schedule.start > arrivals.latest_starts(figures.permitted_wait)
    assert late.any() == any("late" in problem for problem in found.problems)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """One CPU that takes turns between two fragments."""
    return written_trace(tmp_path / "trace.txt")


def exported(trace: Trace, start: Callable[[np.ndarray], np.ndarray]) -> Trace:
    """Return a schedule of a trace with other starts."""
    arrivals = movable_dispatches(trace, CostModel())
    schedule = arrivals.moved(arrivals.cpu, start(arrivals.start.copy()))
    return schedule_trace(trace, schedule)


def test_what_is_late_needs_a_wait(trace: Trace) -> None:
    arrivals = movable_dispatches(trace, CostModel())
    found = verify_schedule(trace, arrivals, exported(trace, lambda start: start + 1000))
    figures = found.schedule
    assert (found.objective, figures.recorded_cost) == (4, 4)
    assert (figures.permitted_wait, figures.total_wait, figures.p99_wait) == (1000, 5000, 1000)
    assert found.problems == ()


def test_what_is_early_or_overlaps_is_named(trace: Trace) -> None:
    arrivals = movable_dispatches(trace, CostModel())
    assert verify_schedule(trace, arrivals, exported(trace, lambda start: start - 1)).problems
    # All at once: `exported` moves nothing apart.
    together = exported(trace, lambda start: np.full_like(start, start[-1]))
    assert len(verify_schedule(trace, arrivals, together).problems) >= 1


CHANGES: dict[str, Callable[[Trace], Trace]] = {
    "has 4 dispatches, and the recording has 5": lambda trace: replace(
        trace,
        cpu=trace.cpu[1:],
        start=trace.start[1:],
        end=trace.end[1:],
        task=trace.task[1:],
        fragment=trace.fragment[1:],
        comm=None,
        stop=None,
    ),
    "does not say which fragments its dispatches use": lambda trace: replace(
        trace, fragment=np.full_like(trace.fragment, -1)
    ),
    "has the task 'other', and the recording does not": lambda trace: replace(
        trace, tasks=(replace(trace.tasks[0], name="other"), *trace.tasks[1:])
    ),
    "has another task": lambda trace: replace(trace, task=trace.task[[1, 1, 2, 3, 4]]),
    "has another length": lambda trace: replace(trace, end=trace.end + 1),
    "has another fragment": lambda trace: replace(trace, fragments=trace.fragments[::-1]),
    "is on a CPU that the recording does not have": lambda trace: replace(
        trace, cpus=2, cpu=trace.cpu + 1
    ),
}


@pytest.mark.parametrize("said", CHANGES)
def test_other_dispatches_are_refused(said: str, trace: Trace) -> None:
    arrivals = movable_dispatches(trace, CostModel())
    with pytest.raises(FileError, match=said):
        schedule_of(trace, arrivals, CHANGES[said](trace))


def test_what_is_not_managed_keeps_its_place(trace: Trace) -> None:
    unmanaged = replace(trace, fragment=np.where(np.arange(5) == 4, -1, trace.fragment))
    arrivals = movable_dispatches(unmanaged, CostModel())
    later = np.array([0, 0, 0, 0, 1])
    moved = replace(unmanaged, start=unmanaged.start + later, end=unmanaged.end + later)
    with pytest.raises(FileError, match="is moved, but its task is not managed"):
        schedule_of(unmanaged, arrivals, moved)
