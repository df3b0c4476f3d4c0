import pytest

from dfopt.errors import DfoptWarning, FileError
from dfopt.trace.labels import keep_only, label_by_comm
from tests.trace.labels.made import labels, made
from tests.trace.traces import trace_from_rows

RUNS = [("worker/1", 1, 10), ("worker/2", 2, 20), ("bash", 3, 30), ("worker/1", 4, 40)]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"worker/(\d)", ["1", "2", None, "1"]),
        (r"(w)orker/(?P<df>\d)", ["1", "2", None, "1"]),
        (r"worker", ["worker", "worker", None, "worker"]),
        (r"^(?:w.*/(1)|bash)", ["1", None, None, "1"]),
        (r"x*", [None] * 4),
    ],
)
def test_fragment_is_what_the_group_holds(pattern, found):
    trace = label_by_comm(made(RUNS), pattern)
    assert labels(trace) == found
    assert set(trace.fragments) == set(found) - {None}


def test_a_thread_may_change_its_comm():
    trace = label_by_comm(made([("bash", 1, 10), ("df1", 1, 20), ("df2", 1, 30)]), r"df\d")
    assert labels(trace) == [None, "df1", "df2"]


def test_bad_expression():
    with pytest.raises(
        FileError, match=r"'\(a' is no regular expression: .* at character 1; correct"
    ):
        label_by_comm(made(RUNS), "(a")


def test_a_trace_without_comms():
    trace = trace_from_rows([(0, 0, 10, "1", "x", None, None)])
    with pytest.raises(FileError, match="has no comms"):
        label_by_comm(trace, "a")
    with pytest.raises(FileError, match="has no comms, and no task whose name fits 'a'"):
        keep_only(trace, "a")


def test_without_comms_the_names_of_tasks_are_searched():
    rows = [(0, 0, 10, "room1", "x", None, None), (0, 10, 20, "room2", "y", None, None)]
    assert labels(keep_only(trace_from_rows(rows), "m2$")) == [None, "y"]


def test_a_trace_that_came_with_labels_keeps_them():
    trace = trace_from_rows([(0, 0, 10, "1", "x", None, None)])
    with pytest.warns(DfoptWarning, match="all its own labels are kept"):
        assert keep_only(trace, "hackbench", is_chosen=True) is trace


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        ("1", ["1", None, None, None]),
        ("1,4", ["1", None, None, "1"]),
        ("/2", [None, "2", None, None]),
    ],
)
def test_only_some(chosen, left):
    assert labels(keep_only(label_by_comm(made(RUNS), r"\d"), chosen)) == left


def test_only_one_life_of_a_thread():
    trace = label_by_comm(made([("a", 1, 10), ("b", 2, 15), ("a", 1, 20)], last_runs=[0]), "a")
    assert labels(keep_only(trace, "1.2")) == [None, None, "a"]
    assert labels(keep_only(trace, "1")) == ["a", None, "a"]


def test_only_leaves_no_fragment_unused():
    assert keep_only(label_by_comm(made(RUNS), r"\d"), "2").fragments == ("2",)


def test_only_what_is_there():
    with pytest.raises(FileError, match="has no managed dispatch of bash; choose other threads"):
        keep_only(label_by_comm(made(RUNS), r"\d"), "bash")
    with pytest.raises(FileError, match="has no thread 9; take it out"):
        keep_only(made(RUNS), "1,9")
    with pytest.raises(FileError, match="is no regular expression"):
        keep_only(made(RUNS), "*")
