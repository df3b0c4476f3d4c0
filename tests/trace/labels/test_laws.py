"""Laws that hold for all labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.trace.events import Marks, Stop
from dfopt.trace.labels.relabelling import label_changes
from dfopt.trace.trace import UNMANAGED
from tests.trace.traces import trace_from_rows, traces


@st.composite
def traces_and_changes(draw):
    trace = draw(traces())
    changes = st.lists(
        st.tuples(
            st.integers(0, len(trace.tasks) - 1), st.integers(-1, 20), st.integers(UNMANAGED, 2)
        ),
        max_size=8,
    )
    rows = draw(changes) if trace.tasks else []
    columns = [np.array([row[at] for row in rows], np.int64) for at in range(3)]
    return trace, Marks(
        task=columns[0].astype(np.int32),
        time=columns[1],
        df=columns[2].astype(np.int32),
        names=("A", "B", "C"),
    )


def in_effect(changes, task, time):
    """Return the fragment that a task uses at a time, straight from what changes mean."""
    fragment = UNMANAGED
    latest = None
    for who, when, df in zip(changes.task, changes.time, changes.df, strict=True):
        if who == task and when <= time and (latest is None or when >= latest):
            latest, fragment = when, df
    return fragment


def run_times(trace):
    return np.bincount(trace.task, trace.end - trace.start, len(trace.tasks)).tolist()


@pytest.mark.slow
@given(traces_and_changes())
def test_cutting(drawn):
    trace, changes = drawn
    cut = label_changes(trace, changes)
    assert run_times(cut) == run_times(trace)
    assert (np.diff(cut.start) >= 0).all()
    for name in ("cpu", "end", "task", "fragment", "lines", "leaves"):
        column = getattr(trace, name)
        new = getattr(cut, name)
        assert (column is None) == (new is None)
        assert column is None or (len(new) == len(cut) and new.dtype == column.dtype)
    assert set(np.unique(cut.fragment)) - {UNMANAGED} == set(range(len(cut.fragments)))
    for row in range(len(cut)):
        expected = in_effect(changes, cut.task[row], cut.start[row])
        found = cut.fragment[row]
        assert (None if found < 0 else cut.fragments[found]) == (
            None if expected < 0 else "ABC"[expected]
        )


def test_parts_of_a_run_say_why_they_stop():
    trace = replace(
        trace_from_rows([(0, 0, 9, "a", None, None, None), (0, 9, 12, "a", None, None, None)]),
        stop=np.array([Stop.SLEEPS, Stop.ENDS], np.int8),
    )
    changes = Marks(
        task=np.array([0, 0]), time=np.array([3, 5]), df=np.array([0, 1]), names=("A", "B")
    )
    cut = label_changes(trace, changes)
    assert cut.start.tolist() == [0, 3, 5, 9]
    assert cut.stop.tolist() == [Stop.PREEMPTED, Stop.PREEMPTED, Stop.SLEEPS, Stop.ENDS]
    assert cut.stop.dtype == np.int8


@given(traces_and_changes())
def test_every_cpu_keeps_its_order_and_parts_of_a_run_differ(drawn):
    trace, changes = drawn
    cut = label_changes(trace, changes)
    for cpu in range(trace.cpus):
        whole, parts = trace.cpu == cpu, np.flatnonzero(cut.cpu == cpu)
        assert (cut.start[parts][1:] >= cut.end[parts][:-1]).all()
        place = 0
        for task, start, end in zip(
            trace.task[whole], trace.start[whole], trace.end[whole], strict=True
        ):
            assert cut.task[parts[place]] == task
            assert cut.start[parts[place]] == start
            while cut.end[parts[place]] < end:
                assert cut.start[parts[place + 1]] == cut.end[parts[place]]
                assert cut.fragment[parts[place + 1]] != cut.fragment[parts[place]]
                assert cut.task[parts[place + 1]] == task
                place += 1
            place += 1
        assert place == len(parts)
