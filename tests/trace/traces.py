"""Traces to test with: hand-made, and drawn."""

import dataclasses

import numpy as np
from hypothesis import strategies as st

from dfopt import replace
from dfopt.problem.instance import Objective
from dfopt.trace import Gaps, Trace, TraceHeader
from dfopt.trace.lengths import Lengths
from dfopt.trace.trace import (
    BROKEN_CHAIN,
    LEAVES,
    NOT_GIVEN,
    UNMANAGED,
    Numbering,
    TaskForks,
    TaskWakeups,
)
from tests.strategies import penalties, texts

DISPATCH_TYPES = {
    "cpu": np.int32,
    "start": np.int64,
    "end": np.int64,
    "task": np.int32,
    "fragment": np.int32,
    "lines": np.int64,
    "leaves": np.int8,
}


def trace_from_rows(rows, *, cpus=2, gaps=(), header=None):
    """Return a trace of rows (cpu, start, end, task, df, lines, leaves), in their order."""
    tasks, fragments, reasons = Numbering(), Numbering(), Numbering()
    numbered = [
        (
            cpu,
            start,
            end,
            tasks[task],
            UNMANAGED if df is None else fragments[df],
            NOT_GIVEN if lines is None else lines,
            NOT_GIVEN if leaves is None else LEAVES.index(leaves),
        )
        for cpu, start, end, task, df, lines, leaves in rows
    ]
    columns = {
        name: np.array([row[place] for row in numbered], kind)
        for place, (name, kind) in enumerate(DISPATCH_TYPES.items())
    }
    for name in ("lines", "leaves"):
        if (columns[name] == NOT_GIVEN).all():
            columns[name] = None
    gaps = sorted(gaps, key=lambda gap: (gap[1], gap[0]))
    return Trace(
        cpus=cpus,
        **columns,
        tasks=tasks.tasks,
        fragments=fragments.names,
        gaps=Gaps(
            cpu=np.array([gap[0] for gap in gaps], np.int32),
            start=np.array([gap[1] for gap in gaps], np.int64),
            end=np.array([gap[2] for gap in gaps], np.int64),
            reason=np.array([reasons[gap[3]] for gap in gaps], np.int32),
            reasons=reasons.names,
        ),
        header=header or TraceHeader(),
    )


SMALL = trace_from_rows(
    [
        (0, 100, 200, "9229", "g3", 64, "dirty"),
        (1, 100, 150, "9230", None, None, None),
        (0, 200, 200, "9231", "g4", 0, "clean"),
        (0, 250, 400, "9229", "g3", None, "invalidated"),
        (1, 300, 450, "9231", "g4", 8, None),
    ],
    gaps=[(1, 150, 300, "lost events")],
    header=TraceHeader(name="small", time_unit="ns"),
)

names = st.sampled_from(["a", "b", "12", "12.2"]) | texts
headers = st.builds(
    TraceHeader,
    name=st.none() | texts,
    source=st.none() | texts,
    policy=st.none() | texts,
    time_unit=st.none() | texts,
    penalty=st.none() | penalties(),
    objective=st.none() | st.sampled_from(Objective),
    cold_start=st.none() | st.booleans(),
    final_write_back=st.none() | st.booleans(),
    lengths=st.none() | st.sampled_from(Lengths),
    capacity=st.none() | st.sampled_from(["balanced", "unlimited"]) | st.integers(1, 9),
)


@st.composite
def traces(draw, *, gaps=True, labels=names):
    """Draw a trace whose dispatches and gaps do not overlap."""
    cpus = draw(st.integers(1, 3))
    rows, stretches = [], []
    for cpu in range(cpus):
        clock = draw(st.integers(0, 5))
        for _ in range(draw(st.integers(0, 5))):
            end = clock + draw(st.integers(0, 3))
            if gaps and draw(st.integers(0, 4)) == 0:
                reason = draw(st.just(BROKEN_CHAIN) | labels)
                stretches.append((cpu, clock, end, reason))
            else:
                given = draw(st.none() | st.integers(0, 9))
                leaves = draw(st.none() | st.sampled_from(LEAVES))
                df = draw(st.none() | labels)
                rows.append((cpu, clock, end, draw(labels), df, given, leaves))
            clock = end + draw(st.integers(0, 2))
    rows.sort(key=lambda row: row[1])
    return trace_from_rows(rows, cpus=cpus, gaps=stretches, header=draw(headers))


@st.composite
def traces_with_events(draw):
    """Draw a trace that may say why tasks stopped, when they were woken, and who made them."""
    trace = draw(traces())
    count, tasks = len(trace), len(trace.tasks)
    stop = st.lists(st.integers(-1, 2), min_size=count, max_size=count)
    given = np.array(draw(stop), np.int8)
    if not tasks:
        return trace
    task = st.integers(0, tasks - 1)
    times = st.integers(0, 20)

    def columns(cause):
        rows = sorted(draw(st.lists(st.tuples(times, cause, task), max_size=4)))
        time, by, of = zip(*rows, strict=True) if rows else ((), (), ())
        return np.array(time, np.int64), np.array(by, np.int32), np.array(of, np.int32)

    gaps = trace.gaps
    ran_last = [draw(st.just(-1) | task) for _ in range(len(gaps))]
    if {*ran_last} - {-1}:
        gaps = replace(gaps, task=np.array(ran_last, np.int32))
    wakeups, first_wakeups = (
        TaskWakeups(
            **dict(zip(("time", "waker", "woken"), columns(st.just(-1) | task), strict=True))
        )
        for _ in range(2)
    )
    # What is said about tasks stands before all else, so names come in another order otherwise.
    weighted = draw(st.integers(0, tasks))
    comm = np.array([draw(st.integers(-1, 1)) for _ in range(count)], np.int32)
    comms = Numbering()
    comm = np.array([number if number < 0 else comms["ab"[number]] for number in comm], np.int32)
    return replace(
        trace,
        gaps=gaps,
        comm=comm if len(comms) else None,
        comms=comms.names,
        tasks=tuple(
            replace(task, weight=3 + number if number < weighted else None)
            for number, task in enumerate(trace.tasks)
        ),
        stop=given if (given >= 0).any() else None,
        wakeups=wakeups,
        first_wakeups=first_wakeups,
        forks=TaskForks(**dict(zip(("time", "parent", "child"), columns(task), strict=True))),
    )


def assert_same(one, other, *, but=("quality",)):
    """Compare traces column by column, types included."""
    for field in dataclasses.fields(Trace):
        if field.name not in but:
            _assert_equal(getattr(one, field.name), getattr(other, field.name), field.name)


def _assert_equal(one, other, name):
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, name
        assert one.tolist() == other.tolist(), name
    elif dataclasses.is_dataclass(one) and hasattr(one, "__eq__") and not _has_columns(one):
        assert one == other, name
    elif _has_columns(one):
        for field in dataclasses.fields(one):
            place = f"{name}.{field.name}"
            _assert_equal(getattr(one, field.name), getattr(other, field.name), place)
    else:
        assert one == other, name


def _has_columns(value):
    return dataclasses.is_dataclass(value) and any(
        isinstance(getattr(value, field.name), np.ndarray) for field in dataclasses.fields(value)
    )
