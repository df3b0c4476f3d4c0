"""Schedules replayed with switches that take time, by hand and by what must always hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import CostModel
from dfopt.compare.attainable.arrivals import NONE, Arrivals, arrivals_of
from dfopt.compare.attainable.check import check_schedule
from dfopt.compare.attainable.frontier import Scheduling
from dfopt.compare.attainable.frontier_of import frontier_of
from dfopt.compare.attainable.switches_take_time import starts_with_switches, with_switches
from dfopt.compare.attainable.timed_schedule import (
    TimedSchedule,
    cost_of,
    recorded_schedule,
    switch_costs_of,
)
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.compare.dispatches import dispatches_of
from dfopt.compare.realised import charges_of, realised_of
from dfopt.problem.penalties import PenaltyG
from dfopt.trace.lengths import Lengths
from tests.compare.attainable.drawn import ALWAYS, drawn_arrivals
from tests.compare.drawn import labelled_traces, models
from tests.trace.woken import SLEEPS, woken_trace

LOADS = CostModel(penalty=PenaltyG(fill=20, write_back=0), cold_start=True)

QUEUE = woken_trace(
    (0, 20, 25, "a", SLEEPS, "p"),
    (0, 45, 50, "b", SLEEPS, "q"),
    (0, 70, 75, "c", SLEEPS, "p"),
    (0, 75, 80, "d", SLEEPS, "p"),
    wakeups=[(0, None, "a"), (3, None, "b"), (50, None, "c"), (50, None, "d")],
    cpus=1,
)
"""One after the other in order of arrival; each load of 20 has its time before the start."""


def free_of_cost(arrivals: Arrivals) -> Arrivals:
    """Return the same, with switches that cost nothing."""
    return scaled(arrivals, times=1, costs=0)


def scaled(arrivals: Arrivals, *, times: int, costs: int) -> Arrivals:
    """Return the same with all times and costs multiplied; what stands for none remains."""

    def longer(column: np.ndarray) -> np.ndarray:
        return np.where(np.abs(column) < 2**40, column * times, column)

    blocks = arrivals.blocks
    of_block = {name: getattr(blocks, name) * costs for name in ("entry", "exit", "first", "last")}
    of_switch = {
        name: getattr(arrivals.costs, name) * costs
        for name in ("entry", "exit", "always", "first", "last", "matrix")
    }
    of_time = {
        name: longer(getattr(arrivals, name))
        for name in (
            "start", "length", "ready_from", "ready_by", "previous_end", "waker_offset", "latest",
            "cut_time",
        )
    }  # fmt: skip
    return replace(
        arrivals,
        **of_time,
        costs=replace(arrivals.costs, **of_switch),
        blocks=replace(blocks, start=blocks.start * times, end=blocks.end * times, **of_block),
    )


def test_what_was_recorded_with_room_for_loads_starts_when_it_did() -> None:
    arrivals = arrivals_of(QUEUE, LOADS)
    recorded = recorded_schedule(arrivals)
    assert starts_with_switches(arrivals, recorded).tolist() == [20, 45, 70, 75]
    found = with_switches(arrivals, recorded)
    assert (found.later, found.latest_by) == (0, 0)
    # Of the waits, 20, 42, 20 and 25, the loads are a part.
    assert (found.total_wait, found.p99_wait) == (107, 42)


def test_a_load_that_comes_when_the_request_does_makes_it_late() -> None:
    arrivals = arrivals_of(QUEUE, LOADS)
    # Without loads c and d can run at once when they come, before b, which nobody loads for then.
    schedule = TimedSchedule(cpu=arrivals.cpu, start=np.array([0, 65, 50, 55]))
    assert switch_costs_of(arrivals, schedule)[0].tolist() == [20, 20, 0, 0]
    assert starts_with_switches(arrivals, schedule).tolist() == [20, 80, 50, 55]
    found = with_switches(arrivals, schedule)
    assert (found.later, found.latest_by) == (1, 35)
    assert (found.total_wait, found.p99_wait) == (20 + 77 + 0 + 5, 77)


def test_a_switch_and_its_dispatch_run_beside_no_block() -> None:
    trace = woken_trace(
        (0, 30, 40, "e", SLEEPS, None),
        (0, 60, 65, "a", SLEEPS, "p"),
        wakeups=[(0, None, "a"), (10, None, "e")],
        cpus=1,
    )
    arrivals = arrivals_of(trace, LOADS)
    assert starts_with_switches(arrivals, recorded_schedule(arrivals)).tolist() == [20]
    slow = arrivals_of(trace, replace(LOADS, penalty=PenaltyG(fill=26, write_back=0)))
    assert starts_with_switches(slow, recorded_schedule(slow)).tolist() == [66]


@given(arrivals=drawn_arrivals())
def test_switches_that_cost_nothing_make_nothing_late(arrivals: Arrivals) -> None:
    free = free_of_cost(arrivals)
    assert (starts_with_switches(free, recorded_schedule(free)) <= free.start).all()
    assert with_switches(free, recorded_schedule(free)).later == 0


@given(arrivals=drawn_arrivals(zero_lengths=False))
def test_switches_have_their_time(arrivals: Arrivals) -> None:
    arrivals = replace(arrivals, latest=np.full(len(arrivals), ALWAYS))
    recorded = recorded_schedule(arrivals)
    loads = switch_costs_of(arrivals, recorded)[0]
    start = starts_with_switches(arrivals, recorded)
    assert not check_schedule(arrivals, replace(recorded, start=start), WaitingLimit())
    assert (start - loads >= arrivals.ready_by).all()
    end = start + arrivals.length
    for cpu in range(arrivals.cpus):
        own = np.flatnonzero(arrivals.cpu == cpu)
        assert (start[own[1:]] - loads[own[1:]] >= end[own[:-1]]).all()
    later = arrivals.previous != NONE
    assert (start[later] - loads[later] >= end[arrivals.previous[later]]).all()


@given(arrivals=drawn_arrivals(zero_lengths=False, blocks=False))
def test_a_recording_with_room_for_loads_makes_nothing_late(arrivals: Arrivals) -> None:
    start = starts_with_switches(arrivals, recorded_schedule(arrivals))
    roomy = replace(arrivals, start=start)
    assert with_switches(roomy, recorded_schedule(roomy)).later == 0


@given(arrivals=drawn_arrivals(), factor=st.integers(2, 1000))
def test_times_scale(arrivals: Arrivals, factor: int) -> None:
    larger = scaled(arrivals, times=factor, costs=factor)
    found = with_switches(arrivals, recorded_schedule(arrivals))
    of_larger = with_switches(larger, recorded_schedule(larger))
    assert of_larger.later == found.later
    for name in ("latest_by", "total_wait", "p99_wait"):
        assert getattr(of_larger, name) == factor * getattr(found, name)


@given(trace=labelled_traces(), model=models())
def test_what_was_recorded_has_as_many_switches_as_were_realised(trace, model) -> None:
    arrivals = arrivals_of(trace, model, timeline_only=True)
    dispatches = dispatches_of(trace, model)
    realised = realised_of(dispatches, charges_of(dispatches, model))
    assert switch_costs_of(arrivals, recorded_schedule(arrivals))[1] == realised.switches
    assert cost_of(arrivals, recorded_schedule(arrivals)) == realised.total


def test_only_lengths_without_switches_are_replayed() -> None:
    def rows(lengths: Lengths | None, model: CostModel = LOADS) -> dict[Scheduling, bool]:
        trace = replace(QUEUE, header=replace(QUEUE.header, lengths=lengths))
        return {
            row.scheduling: row.with_switches is not None for row in frontier_of(trace, model).rows
        }

    assert all(rows(Lengths.WITHOUT_SWITCHES).values())
    assert not any(rows(Lengths.WITHOUT_SWITCHES, CostModel()).values())
    assert not any(rows(Lengths.WITH_SWITCHES).values())
    assert not any(rows(None).values())
