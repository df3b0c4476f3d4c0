import warnings

import pytest

from dfopt import DfoptWarning
from dfopt.errors import FileError
from dfopt.trace.labels import label_by_cgroup, label_by_file
from tests.trace.labels.made import dispatches, labels, made
from tests.trace.traces import trace_from_rows

RUNS = [("a", 1, 10), ("b", 2, 20), ("a", 1, 30)]


@pytest.fixture
def file(tmp_path):
    def write(text, name="labels.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    "header",
    ["tid,df", "pid,group", " tid , df ", "pid,tid,df"],
)
def test_names_of_columns(header, file):
    # With both, tid is the thread and pid its process.
    values = "9,1,x" if header.startswith("pid,tid") else "1,x"
    trace = label_by_file(made(RUNS), file(f"{header}\n{values}\n"))
    assert labels(trace) == ["x", None, "x"]


def test_other_columns_do_not_matter(file):
    trace = label_by_file(made(RUNS), file("pid,group,role\n1,g1,sender\n2,,receiver\n"))
    assert labels(trace) == ["g1", None, "g1"]
    assert trace.fragments == ("g1",)


def test_intervals_are_half_open_and_cut_runs(file):
    text = "tid,start,end,df\n1,25,,z\n1,,4,x\n1,4,8,y\n2,10,20,x\n"
    assert dispatches(label_by_file(made(RUNS), file(text))) == [
        ("1", 0, 4, "x"),
        ("1", 4, 8, "y"),
        ("1", 8, 10, None),
        ("2", 10, 20, "x"),
        ("1", 20, 25, None),
        ("1", 25, 30, "z"),
    ]


def test_adjoining_intervals_of_one_fragment_cut_nothing(file):
    text = "tid,start,end,df\n1,0,4,x\n1,4,4,y\n1,4,,x\n"
    assert labels(label_by_file(made(RUNS), file(text))) == ["x", None, "x"]


def test_a_number_means_all_lives_that_are_not_named(file):
    runs = [("a", 1, 10), ("z", 7, 15), ("b", 1, 20), ("z", 7, 25), ("c", 1, 30)]
    trace = made(runs, last_runs=[0, 2])
    assert [task.name for task in trace.tasks] == ["1", "1.2", "1.3", "7"]
    for text, found in (
        ("1,x", ["x", "x", "x"]),
        ("1,x\n1.2,y", ["x", "y", "x"]),
        ("1.3,y", [None, None, "y"]),
    ):
        assert labels(label_by_file(trace, file(f"tid,df\n{text}\n")))[::2] == found


def test_tasks_that_have_only_names(file):
    trace = trace_from_rows([(0, 0, 10, "matrix", None, 4, "dirty")])
    cut = label_by_file(trace, file("tid,start,end,df\nmatrix,5,,x\n"))
    assert dispatches(cut) == [("matrix", 0, 5, None), ("matrix", 5, 10, "x")]
    assert cut.lines is not None
    assert cut.lines.tolist() == [4, 4]
    assert cut.leaves is not None
    assert cut.leaves.tolist() == [1, 1]


def test_threads_that_the_trace_does_not_have(file):
    path = file("tid,df\n1,x\n8,x\n9,x\n")
    with pytest.warns(DfoptWarning, match=r"labels.csv: line 3: thread 8 .*, and 1 more line$"):
        trace = label_by_file(made(RUNS), path)
    assert labels(trace) == ["x", None, "x"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no rows; its first line names the columns, such as tid,df"),
        ("tid,df\n", "holds no rows; its first line names the columns"),
        ("1,x\n2,y\n", "line 1: has no column 'tid' or 'pid'; there are 1, x"),
        ("tid,name\n1,x\n", "line 1: has no column 'df' or 'group' or 'cgroup'; there"),
        ("tid,df,df\n1,x,y\n", "line 1: has several columns 'df'"),
        ("tid,df\n1\n", "line 2: has 1 values, but there are 2 columns"),
        ("tid,df\n1,x,y\n", "line 2: has 3 values, but there are 2 columns"),
        ("tid,df\n1,x\n,y\n", "line 3: names no thread; give its tid"),
        ('tid,df\n1,"x\n', "line 2: is no CSV"),
        ("tid,df\n8,x\n9,y\n", "line 2: none of the threads .* the first is 8"),
        ("tid,df\n1,x\n2,x\n1,y\n", "line 4: speaks of thread 1 at the same time as line 2"),
        (
            "tid,start,end,df\n1,5,9,x\n1,,6,y\n",
            "line 3: speaks of thread 1 at the same time as line 2",
        ),
        ("tid,start,end,df\n1,0,99,x\n1,1,2,y\n1,50,60,z\n", "line 3: .* as line 2"),
        ("tid,start,end,df\n1,9,5,x\n", "line 2: starts at 9, after its end at 5"),
        ("tid,start,df\n1,1.5,x\n", r"line 2: start is '1.5'; give an integer"),
        ("tid,end,df\n1,soon,x\n", "line 2: end is 'soon'; give an integer"),
        (f"tid,end,df\n1,{10**30},x\n", "line 2: end is 1.*too large"),
    ],
)
def test_bad_files(text, message, file):
    with pytest.raises(FileError, match=f"labels.csv: {message}"):
        label_by_file(made(RUNS), file(text))


def test_no_file(tmp_path):
    with pytest.raises(FileError, match=r"none.csv: there is no such file"):
        label_by_file(made(RUNS), tmp_path / "none.csv")


@pytest.mark.parametrize(
    "text",
    [
        "      1 0::/user.slice/a b\n      2 -\n",
        "1 /user.slice/a b\n\n",
        "tid,cgroup\n1,/user.slice/a b\n2,\n",
    ],
)
def test_control_groups(text, file):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = label_by_cgroup(made(RUNS), file(text))
    assert labels(trace) == ["/user.slice/a b", None, "/user.slice/a b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; fill it with ps"),
        ("\n\n", "is empty; fill it with ps"),
        ("1 /a\n2\n", "line 2: is '2'; give a thread's number"),
        ("init /a\n", "line 1: is 'init /a'; give a thread's number"),
        ("1 /a\n1 /b\n", "line 2: speaks of thread 1 at the same time as line 1"),
        ("8 /a\n", "line 1: none of the threads"),
    ],
)
def test_bad_control_groups(text, message, file):
    with pytest.raises(FileError, match=f"labels.csv: {message}"):
        label_by_cgroup(made(RUNS), file(text))
