"""Schedules as traces: what was paid and how long each waited can be read from the file again."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import CostModel
from dfopt.compare.attainable.schedule_traces import schedule_trace
from dfopt.compare.dispatches import NONE, dispatches_of, movable_dispatches
from dfopt.compare.paid import cost_of, realised_costs
from dfopt.trace.stretches import first_disorder
from dfopt.trace.trace import Assumed
from tests.compare.drawn import models
from tests.compare.test_dispatches import COUNTING, arrivals_in_any_case
from tests.trace.woken import PREEMPTED, SLEEPS, woken_trace, woken_traces


def schedule_in_order(arrivals, cpus):
    """Return a schedule in which each dispatch starts on its CPU as soon as it can."""
    blocks = arrivals.fixed
    taken = [
        [
            (int(start), int(end))
            for cpu, start, end in zip(blocks.cpu, blocks.start, blocks.end, strict=True)
            if cpu == number
        ]
        for number in range(arrivals.cpus)
    ]
    starts = []
    for number, cpu in enumerate(cpus):
        length, start = int(arrivals.length[number]), int(arrivals.ready_by[number])
        before, waker = arrivals.previous[number], arrivals.waker[number]
        if before != NONE:
            start = max(start, starts[before] + int(arrivals.length[before]))
        if waker != NONE:
            start = max(start, starts[waker] + int(arrivals.waker_offset[number]))
        for begin, end in sorted(taken[cpu]):
            if start < end and begin < start + length:
                start = end
        taken[cpu].append((start, start + length))
        starts.append(start)
    return arrivals.moved(np.array(cpus, np.int32), np.array(starts, np.int64))


@st.composite
def scheduled(draw, **options):
    trace, model = draw(woken_traces(**options)), draw(models(lines=3))
    arrivals = arrivals_in_any_case(trace, model)
    cpus = draw(st.lists(st.integers(0, arrivals.cpus - 1), min_size=len(arrivals)))
    return trace, model, arrivals, schedule_in_order(arrivals, cpus[: len(arrivals)])


@pytest.mark.slow
@given(scheduled())
def test_the_trace_costs_what_the_schedule_costs(drawn):
    trace, model, _, schedule = drawn
    header = replace(trace.header, assumed=Assumed.CPUS)
    exported = schedule_trace(replace(trace, header=header), schedule, policy="ours")
    assert (exported.header.policy, exported.header.assumed) == ("ours", None)
    assert first_disorder(exported) is None
    assert (np.diff(exported.start) >= 0).all()
    assert exported.run_time == trace.run_time
    # Gaps cut as long as anything follows them that counts.
    last = min(dispatches_of(timeline, model).start[-1] for timeline in (trace, exported))
    assume(not (trace.gaps.end > last).any())
    assert realised_costs(exported, model).sum() == cost_of(schedule)


@pytest.mark.slow
@given(scheduled(plain=True))
def test_the_waits_are_those_of_the_schedule(drawn):
    trace, _, arrivals, schedule = drawn
    exported = schedule_trace(trace, schedule)
    again = arrivals_in_any_case(exported)
    found, expected = (
        sorted(zip(of.task.tolist(), plan.start.tolist(), plan.waits.tolist(), strict=True))
        for of, plan in ((again, again), (arrivals, schedule))
    )
    assert found == expected


def test_the_recorded_schedule_by_hand():
    trace = woken_trace(
        (0, 10, 20, "a", PREEMPTED, "p"),
        (0, 20, 30, "b", SLEEPS, "q"),
        (0, 30, 40, "a", SLEEPS, "p"),
        (1, 12, 14, "c", SLEEPS, None),
        wakeups=[(4, None, "a"), (11, "a", "b"), (12, None, "c")],
    )
    arrivals = movable_dispatches(trace, COUNTING)
    schedule = arrivals.moved(np.array([0, 1, 0]), np.array([4, 14, 14]))
    exported = schedule_trace(trace, schedule)
    rows = zip(exported.cpu, exported.start, exported.end, exported.task, strict=True)
    assert list(rows) == [(0, 4, 14, 0), (1, 12, 14, 2), (1, 14, 24, 1), (0, 14, 24, 0)]
    assert exported.stop.tolist() == [PREEMPTED, *[SLEEPS] * 3]
    woken = exported.wakeups
    assert list(zip(woken.time, woken.waker, woken.woken, strict=True)) == [
        (4, -1, 0),
        (11, 0, 1),
        (12, -1, 2),
    ]
    assert schedule.waits.tolist() == [0, 3, 0]
    assert realised_costs(exported, COUNTING).sum() == cost_of(schedule) == 0


def test_what_has_no_length_moves_out_of_the_way():
    trace = woken_trace(
        (0, 10, 20, "a", SLEEPS, "p"), (0, 25, 25, "b", SLEEPS, None), wakeups=[(5, None, "a")]
    )
    for unmanaged in ("transparent", "evict"):
        arrivals = arrivals_in_any_case(trace, CostModel(unmanaged=unmanaged, cold_start=True))
        exported = schedule_trace(trace, arrivals.moved(np.array([0]), np.array([18])))
        assert exported.start.tolist() == [18, 28]
        assert exported.end.tolist() == [28, 28]
