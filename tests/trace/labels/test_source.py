import pytest

from dfopt.errors import FileError
from dfopt.trace.labels import default_source, infer_fragments, label, labelled
from tests.trace.labels.made import labels, made
from tests.trace.traces import assert_same, trace_from_rows

RUNS = [("a", 1, 10), ("b", 3, 20)]
GROUPS = [(0, 1, 1), (0, 3, 3)]
OWN = trace_from_rows([(0, 0, 10, "1", "x", None, None), (0, 10, 20, "2", None, None, None)])


def test_default():
    assert default_source(OWN) == "own"
    assert default_source(made(RUNS, groups=GROUPS)) == "tgid"
    assert default_source(made(RUNS, groups=GROUPS, marks=[(0, 1, "x")])) == "marks"
    assert default_source(made(RUNS, wakeups=[(0, 1, 3)])) == "wakeups"
    assert default_source(made(RUNS, wakeups=[(0, 1, 3)], groups=GROUPS)) == "tgid"
    assert default_source(made(RUNS)) is None
    assert labels(label(made(RUNS, groups=GROUPS))) == ["1", "3"]
    assert labels(label(made(RUNS, groups=GROUPS, marks=[(0, 1, "x")]))) == ["x", None]
    assert_same(label(OWN), OWN, but=())


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("tgid", ["1", "3"]),
        ("process", ["1", "3"]),
        ("marks", ["x", None]),
        ("comm:.*", ["a", "b"]),
        ("comm:a:?", ["a", None]),
        ("csv:labels.csv", [None, "y"]),
        ("labels.csv", [None, "y"]),
        ("cgroup:groups", ["/s", None]),
    ],
)
def test_sources(source, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text("tid,df\n3,y\n")
    (tmp_path / "groups").write_text("1 0::/s\n")
    trace = made(RUNS, groups=GROUPS, marks=[(0, 1, "x")])
    assert labels(label(trace, source)) == found


def test_labels_replace_earlier_ones(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("tid,df\n2,y\n")
    replaced = label(OWN, str(path))
    assert labels(replaced) == [None, "y"]
    assert replaced.fragments == ("y",)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "nothing",
            "'nothing' is neither a file nor a source of labels; take one of own, .*comm:REGEX",
        ),
        ("wakups", "'wakups' is neither a file nor a source of labels; did you mean wakeups[?]$"),
        ("groups.csv", "neither a file nor a source of labels; take one of own"),
        ("com:x", "did you mean comm:REGEX[?]"),
        ("marks:x", "'marks:x' is neither a file nor a source"),
        ("", "'' is neither a file nor a source"),
        ("comm:", "the source of labels comm: names nothing"),
        ("own", "no labels of its own"),
        ("csv:none.csv", "none.csv: there is no such file"),
        ("wakeups", "has no wake-ups"),
        ("comm:zzz", "no managed dispatch with the labels from comm:zzz; take another"),
    ],
)
def test_errors(source, message):
    with pytest.raises(FileError, match=message):
        label(made(RUNS), source)


def test_what_is_missing_depends_on_the_trace():
    with pytest.raises(FileError, match="says of no thread which process it belongs to"):
        label(made(RUNS))
    unlabelled = trace_from_rows([(0, 0, 10, "7", None, None, None)])
    with pytest.raises(FileError, match=r"has no line that says which fragment .* a CSV file"):
        label(unlabelled)


def test_labels_say_where_they_come_from(tmp_path):
    trace = made(RUNS, groups=GROUPS, wakeups=[(1, 1, 3), (2, 3, 1)])
    assert (labelled(trace).source, labelled(trace).inferred) == ("tgid", None)
    assert labelled(trace, "process").source == "tgid"
    found = labelled(trace, "wakeups")
    assert (found.source, found.inferred) == ("wakeups", infer_fragments(trace))


def test_a_trace_without_dispatches():
    with pytest.raises(FileError, match="has no dispatch"):
        label(trace_from_rows([]), "own")
