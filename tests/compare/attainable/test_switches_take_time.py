"""Schedules replayed with switches that take time, by hand and by what must always hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import CostModel
from dfopt.compare.attainable.check import WaitingLimit, check_schedule
from dfopt.compare.attainable.frontier import Scheduling
from dfopt.compare.attainable.frontier_of import frontier_of
from dfopt.compare.attainable.switches_take_time import delayed_by_switches, with_switches
from dfopt.compare.dispatches import NONE, Dispatches, dispatches_of, movable_dispatches
from dfopt.compare.paid import charges_of, cost_of, realised_of, switches_of
from dfopt.problem.penalties import PenaltyG
from dfopt.trace.trace import Lengths
from tests.compare.attainable.drawn import ALWAYS, drawn_arrivals
from tests.compare.attainable.tables import dearer, re_recorded
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


def free_of_cost(arrivals: Dispatches) -> Dispatches:
    """Return the same, with switches that cost nothing."""
    return dearer(arrivals, 0)


def longer(arrivals: Dispatches, factor: int) -> Dispatches:
    """Return the same with all times multiplied; what stands for none remains."""
    names = (
        "start", "recorded", "length", "ready_from", "ready_by", "previous_end", "waker_offset",
        "latest",
    )  # fmt: skip
    columns = {name: getattr(arrivals, name) for name in names}
    return replace(
        arrivals,
        **{
            name: np.where(np.abs(column) < 2**40, column * factor, column)
            for name, column in columns.items()
        },
        cuts=replace(arrivals.cuts, time=arrivals.cuts.time * factor),
        around=None if arrivals.around is None else longer(arrivals.around, factor),
    )


def loads_of(schedule: Dispatches) -> np.ndarray:
    """Return what the switch to each dispatch costs."""
    return switches_of(schedule.paying).cost[: len(schedule)]


def test_what_was_recorded_with_room_for_loads_starts_when_it_did() -> None:
    arrivals = movable_dispatches(QUEUE, LOADS)
    recorded = arrivals
    assert delayed_by_switches(recorded).start.tolist() == [20, 45, 70, 75]
    found = with_switches(recorded)
    assert (found.later, found.latest_by) == (0, 0)
    # Of the waits, 20, 42, 20 and 25, the loads are a part.
    assert (found.total_wait, found.p99_wait) == (107, 42)


def test_a_load_that_comes_when_the_request_does_makes_it_late() -> None:
    arrivals = movable_dispatches(QUEUE, LOADS)
    # Without loads c and d can run at once when they come, before b, which nobody loads for then.
    schedule = arrivals.moved(arrivals.cpu, np.array([0, 65, 50, 55]))
    assert loads_of(schedule).tolist() == [20, 20, 0, 0]
    assert delayed_by_switches(schedule).start.tolist() == [20, 80, 50, 55]
    found = with_switches(schedule)
    assert (found.later, found.latest_by) == (1, 35)
    assert (found.total_wait, found.p99_wait) == (20 + 77 + 0 + 5, 77)


def test_a_switch_and_its_dispatch_run_beside_no_block() -> None:
    trace = woken_trace(
        (0, 30, 40, "e", SLEEPS, None),
        (0, 60, 65, "a", SLEEPS, "p"),
        wakeups=[(0, None, "a"), (10, None, "e")],
        cpus=1,
    )
    arrivals = movable_dispatches(trace, LOADS)
    assert delayed_by_switches(arrivals).start.tolist() == [20]
    slow = movable_dispatches(trace, replace(LOADS, penalty=PenaltyG(fill=26, write_back=0)))
    assert delayed_by_switches(slow).start.tolist() == [66]


@given(arrivals=drawn_arrivals())
def test_switches_that_cost_nothing_make_nothing_late(arrivals: Dispatches) -> None:
    free = free_of_cost(arrivals)
    assert (delayed_by_switches(free).start <= free.start).all()
    assert with_switches(free).later == 0


@given(arrivals=drawn_arrivals(zero_lengths=False))
def test_switches_have_their_time(arrivals: Dispatches) -> None:
    arrivals = replace(arrivals, latest=np.full(len(arrivals), ALWAYS))
    recorded = arrivals
    loads = loads_of(recorded)
    start = delayed_by_switches(recorded).start
    assert not check_schedule(replace(recorded, start=start), WaitingLimit())
    assert (start - loads >= arrivals.ready_by).all()
    end = start + arrivals.length
    for cpu in range(arrivals.cpus):
        own = np.flatnonzero(arrivals.cpu == cpu)
        assert (start[own[1:]] - loads[own[1:]] >= end[own[:-1]]).all()
    later = arrivals.previous != NONE
    assert (start[later] - loads[later] >= end[arrivals.previous[later]]).all()


@given(arrivals=drawn_arrivals(zero_lengths=False, blocks=False))
def test_a_recording_with_room_for_loads_makes_nothing_late(arrivals: Dispatches) -> None:
    start = delayed_by_switches(arrivals).start
    roomy = re_recorded(arrivals, start)
    assert with_switches(roomy).later == 0


@given(arrivals=drawn_arrivals(), factor=st.integers(2, 1000))
def test_times_scale(arrivals: Dispatches, factor: int) -> None:
    larger = longer(dearer(arrivals, factor), factor)
    found = with_switches(arrivals)
    of_larger = with_switches(larger)
    assert of_larger.later == found.later
    for name in ("latest_by", "total_wait", "p99_wait"):
        assert getattr(of_larger, name) == factor * getattr(found, name)


@given(trace=labelled_traces(), model=models())
def test_what_was_recorded_has_as_many_switches_as_were_realised(trace, model) -> None:
    arrivals = movable_dispatches(trace, model, timeline_only=True)
    dispatches = dispatches_of(trace, model)
    realised = realised_of(dispatches, charges_of(dispatches, model))
    assert switches_of(arrivals.paying).changes.sum() == realised.switches
    assert cost_of(arrivals) == realised.total


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
