import numpy as np
import pytest

from dfopt.errors import FileError
from dfopt.trace.labels import label_by_marks
from tests.trace.labels.made import dispatches, made


def test_a_mark_holds_until_the_next() -> None:
    runs = [("a", 1, 10), ("a", 1, 20), ("a", 1, 30)]
    trace = label_by_marks(made(runs, marks=[(10, 1, "x"), (20, 1, "y")]))
    assert dispatches(trace) == [("1", 0, 10, None), ("1", 10, 20, "x"), ("1", 20, 30, "y")]


def test_a_mark_cuts_the_run_in_which_it_stands() -> None:
    trace = label_by_marks(made([("a", 1, 10)], marks=[(2, 1, "x"), (7, 1, "y")]))
    assert dispatches(trace) == [("1", 0, 2, None), ("1", 2, 7, "x"), ("1", 7, 10, "y")]


def test_the_same_fragment_again_cuts_nothing() -> None:
    trace = label_by_marks(made([("a", 1, 10)], marks=[(0, 1, "x"), (4, 1, "x"), (6, 1, "x")]))
    assert dispatches(trace) == [("1", 0, 10, "x")]


def test_the_last_of_several_marks_in_one_moment_counts() -> None:
    trace = label_by_marks(made([("a", 1, 10)], marks=[(4, 1, "x"), (4, 1, "y")]))
    assert dispatches(trace) == [("1", 0, 4, None), ("1", 4, 10, "y")]


def test_marks_in_the_moment_of_a_switch_leave_no_empty_part() -> None:
    runs = [("a", 1, 10), ("b", 2, 20), ("a", 1, 30)]
    trace = label_by_marks(made(runs, marks=[(10, 1, "x"), (10, 2, "y")]))
    assert dispatches(trace) == [("1", 0, 10, None), ("2", 10, 20, "y"), ("1", 20, 30, "x")]


def test_a_mark_concerns_its_own_thread_alone() -> None:
    # Thread 2's mark came while thread 1 is known to have run: it was written in a gap elsewhere.
    runs = [("a", 1, 10), ("b", 2, 20)]
    trace = label_by_marks(made(runs, marks=[(5, 2, "y")]))
    assert dispatches(trace) == [("1", 0, 10, None), ("2", 10, 20, "y")]


def test_a_new_thread_of_an_old_number_inherits_no_mark() -> None:
    runs = [("a", 1, 10), ("b", 2, 20), ("c", 1, 30)]
    trace = label_by_marks(made(runs, marks=[(1, 1, "x")], last_runs=[0]))
    assert dispatches(trace)[-1] == ("1.2", 20, 30, None)


def test_without_marks() -> None:
    with pytest.raises(FileError, match="no marks dfopt:df=ID; let threads"):
        label_by_marks(made([("a", 1, 10)]))


def test_parts_keep_the_other_columns() -> None:
    trace = label_by_marks(made([("a", 1, 10), ("b", 2, 20)], marks=[(4, 1, "x")]))
    assert trace.comm is not None
    assert [trace.comms[comm] for comm in trace.comm.tolist()] == ["a", "a", "b"]
    assert trace.cpu.dtype == trace.task.dtype == trace.fragment.dtype == np.int32
    assert trace.start.dtype == trace.end.dtype == np.int64
