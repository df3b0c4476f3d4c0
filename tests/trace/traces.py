"""Traces to test with: hand-made, and drawn."""

import dataclasses
from random import Random

import numpy as np
from hypothesis import strategies as st

from dfopt import replace
from dfopt.problem.instance import Objective
from dfopt.trace import Gaps, Trace, TraceHeader
from dfopt.trace.events import Forks, Wakeups
from dfopt.trace.trace import (
    BROKEN_CHAIN,
    LEAVES,
    Dispatch,
    Lengths,
    Numbering,
    trace_of_dispatches,
)
from tests.strategies import penalties, texts


def trace_from_rows(rows, *, cpus=2, gaps=(), header=None):
    """Return a trace of rows (cpu, start, end, task, df, lines, leaves), in their order."""
    reasons = Numbering()
    gaps = sorted(gaps, key=lambda gap: (gap[1], gap[0]))
    return trace_of_dispatches(
        [Dispatch(*row) for row in rows],
        cpus=cpus,
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


randoms = st.integers(0, 2**32 - 1).map(Random)
"""What decides about everything but words: Hypothesis takes long to draw number by number."""


@st.composite
def traces(draw, *, gaps=True, labels=names):
    """Draw a trace whose dispatches and gaps do not overlap."""
    random = draw(randoms)
    words = draw(st.lists(labels, min_size=1, max_size=5))
    cpus = random.randint(1, 3)
    rows, stretches = [], []
    for cpu in range(cpus):
        clock = random.randint(0, 5)
        for _ in range(random.randint(0, 5)):
            end = clock + random.randint(0, 3)
            if gaps and not random.randint(0, 4):
                stretches.append((cpu, clock, end, random.choice([BROKEN_CHAIN, *words])))
            else:
                task, df = random.choice(words), random.choice([None, *words])
                lines = random.choice([None, random.randint(0, 9)])
                rows.append((cpu, clock, end, task, df, lines, random.choice([None, *LEAVES])))
            clock = end + random.randint(0, 2)
    rows.sort(key=lambda row: row[1])
    return trace_from_rows(rows, cpus=cpus, gaps=stretches, header=draw(headers))


@st.composite
def traces_with_events(draw):
    """Draw a trace that may say why tasks stopped, when they were woken, and who made them."""
    trace, random = draw(traces()), draw(randoms)
    tasks = range(len(trace.tasks))
    stop = np.array([random.randint(-1, 2) for _ in range(len(trace))], np.int8)
    if not tasks:
        return trace

    def events(kind, causes):
        count = random.randint(0, 4)
        rows = sorted(
            (random.randint(0, 20), random.choice(causes), random.choice(tasks))
            for _ in range(count)
        )
        time, by, of = zip(*rows, strict=True) if rows else ((), (), ())
        return kind.of([np.array(time, np.int64), np.array(by, np.int32), np.array(of, np.int32)])

    gaps = trace.gaps
    ran_last = [random.choice([-1, *tasks]) for _ in range(len(gaps))]
    if {*ran_last} - {-1}:
        gaps = replace(gaps, task=np.array(ran_last, np.int32))
    # What is said about tasks stands before all else, so names come in another order otherwise.
    weighted = random.randint(0, len(tasks))
    comms = Numbering()
    words = [random.choice([None, "a", "b"]) for _ in range(len(trace))]
    comm = np.array([-1 if word is None else comms[word] for word in words], np.int32)
    return replace(
        trace,
        gaps=gaps,
        comm=comm if len(comms) else None,
        comms=comms.names,
        tasks=tuple(
            replace(task, weight=3 + number if number < weighted else None)
            for number, task in enumerate(trace.tasks)
        ),
        stop=stop if (stop >= 0).any() else None,
        wakeups=events(Wakeups, [-1, *tasks]),
        first_wakeups=events(Wakeups, [-1, *tasks]),
        forks=events(Forks, tasks),
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
