"""The figures of a trace: how busy CPUs were, and how long dispatches waited."""

from itertools import pairwise

import pytest
from hypothesis import given

from dfopt.info import BusyShares, TraceInfo, trace_info
from dfopt.trace.readiness import readiness_of
from dfopt.trace.trace import UNMANAGED, Trace
from tests.trace.traces import traces
from tests.trace.woken import SLEEPS, woken_trace, woken_traces


def info(trace: Trace) -> TraceInfo:
    return trace_info(trace, content="made by hand", labels=None)


@pytest.mark.slow
@given(traces())
def test_how_much_of_the_time_several_cpus_ran_one_fragment(trace):
    times = sorted({*trace.start.tolist(), *trace.end.tolist()})
    shared = 0
    for begin, end in pairwise(times):
        runs = (trace.start <= begin) & (trace.end >= end) & (trace.fragment != UNMANAGED)
        used = trace.fragment[runs].tolist()
        shared += (end - begin) * (len(set(used)) < len(used))
    found = info(trace).same_fragment_share
    if found is None:
        assert shared == 0
    else:
        assert found == pytest.approx(shared / (times[-1] - times[0]), abs=1e-6)


@pytest.mark.slow
@given(woken_traces())
def test_waits(trace):
    found = info(trace).waits
    if found.problem:
        assert not len(trace.wakeups.time) + len(trace.first_wakeups.time)
        return
    readiness = readiness_of(trace)
    waits = sorted(
        int(trace.start[row] - max(readiness.ready_by[row], readiness.previous_end[row]))
        for row in range(len(trace))
        if readiness.known[row] and trace.fragment[row] != UNMANAGED
    )
    assert found.known == len(waits)
    assert found.unknown == (trace.fragment != UNMANAGED).sum() - len(waits)
    if not waits:
        assert found.longest is None
        return
    assert found.mean == pytest.approx(sum(waits) / len(waits), abs=1e-6)
    for key, part in (("median", 0.5), ("p99", 0.99)):
        enough = [wait for wait in waits if sum(w <= wait for w in waits) >= part * len(waits)]
        assert getattr(found, key) == min(enough)
    assert found.longest == max(waits)


def test_how_busy_cpus_were():
    trace = woken_trace((0, 0, 10, "a", SLEEPS), (1, 5, 10, "b", SLEEPS), cpus=3)
    summary = info(trace)
    assert summary.busy == BusyShares(share=0.5, shares=(1.0, 0.5, 0.0))
    assert summary.same_fragment_share == 0.5
    empty = info(woken_trace((0, 5, 5, "a", SLEEPS)))
    assert (empty.busy, empty.same_fragment_share) == (None, None)
