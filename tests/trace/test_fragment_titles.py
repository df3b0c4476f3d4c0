"""What people call fragments: labels that say nothing have the comms of their tasks behind them."""

import doctest

import pytest

import dfopt.trace.fragment_titles
from dfopt import replace
from dfopt.trace import Trace
from dfopt.trace.fragment_titles import CommCount, comms_of_inferred, process_names, title
from dfopt.trace.labels import label
from tests.trace.labels.made import made

GROUPS = [(0, 7, 7), (0, 8, 7), (0, 9, 5), (0, 10, 5)]
RUNS = [
    ("main", 7, 1),
    ("Binder", 8, 2),
    ("Binder", 8, 3),
    ("sh", 9, 4),
    ("io", 10, 5),
    ("io", 9, 6),
    ("io", 9, 7),
]


def titles(trace: Trace) -> tuple[str, ...]:
    named = zip(trace.fragments, process_names(trace), comms_of_inferred(trace), strict=True)
    return tuple(title(df, name, comms) for df, name, comms in named)


def counts(**tasks: int) -> tuple[CommCount, ...]:
    return tuple(CommCount(comm=comm, tasks=number) for comm, number in tasks.items())


def write_labels(tmp_path, labels: str) -> str:
    path = tmp_path / "labels.csv"
    path.write_text(f"tid,df\n{labels}")
    return str(path)


def test_inferred_fragments_have_the_comms_of_their_tasks(tmp_path) -> None:
    labels = write_labels(tmp_path, "7,g0\n8,g0\n9,g12\n10,g12\n")
    trace = label(made(RUNS, groups=GROUPS), labels)
    found = dict(zip(trace.fragments, comms_of_inferred(trace), strict=True))
    # A task has the comm of most of its dispatches, and comms that are as common stand by name.
    assert found == {"g0": counts(Binder=1, main=1), "g12": counts(io=2)}
    assert set(titles(trace)) == {"g0 (Binder, main)", "g12 (io ×2)"}
    assert trace.fragments == ("g0", "g12")


@pytest.mark.parametrize("labels", ["7,a\n8,g\n", "7,g1x\n8,group\n"])
def test_other_labels_speak_for_themselves(tmp_path, labels: str) -> None:
    trace = label(made(RUNS, groups=GROUPS), write_labels(tmp_path, labels))
    assert titles(trace) == trace.fragments
    assert not any(comms_of_inferred(trace))


def test_processes_have_their_names() -> None:
    assert sorted(titles(label(made(RUNS, groups=GROUPS), "tgid"))) == ["5 io", "7 main"]


def test_a_trace_without_comms_has_labels_only(tmp_path) -> None:
    trace = replace(made(RUNS), comm=None, comms=())
    trace = label(trace, write_labels(tmp_path, "7,g0\n8,g1\n"))
    assert titles(trace) == ("g0", "g1")


def test_few_comms_stand_behind_a_label() -> None:
    assert title("g0", comms=counts(a=3, b=2, c=1)) == "g0 (a ×3, b ×2, …)"
    assert title("g0", comms=()) == title("g0") == "g0"
    assert doctest.testmod(dfopt.trace.fragment_titles).failed == 0


THREADS = [
    ("main", 7, 1),
    ("Binder", 8, 2),
    ("Binder", 8, 3),
    ("io", 9, 4),
    ("ui", 10, 5),
    ("io", 9, 6),
]


def test_a_process_has_the_comm_of_its_first_thread_else_the_commonest() -> None:
    trace = label(made(THREADS, groups=GROUPS), "tgid")
    found = dict(zip(trace.fragments, process_names(trace), strict=True))
    assert found == {"7": "main", "5": "io"}


@pytest.mark.parametrize("source", ["comm:.*", "csv:labels.csv"])
def test_other_fragments_have_no_names(source: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text("tid,df\n7,7\n8,7\n9,7\n")
    trace = label(made(THREADS, groups=GROUPS), source)
    assert set(process_names(trace)) == {None}
