"""The names of processes, for fragments that are processes."""

import pytest

from dfopt.trace.labels import label
from dfopt.trace.process_names import process_names
from tests.trace.labels.made import made

GROUPS = [(0, 7, 7), (0, 8, 7), (0, 9, 5), (0, 10, 5)]
RUNS = [
    ("main", 7, 1),
    ("Binder", 8, 2),
    ("Binder", 8, 3),
    ("io", 9, 4),
    ("ui", 10, 5),
    ("io", 9, 6),
]


def test_a_process_has_the_comm_of_its_first_thread_else_the_commonest() -> None:
    trace = label(made(RUNS, groups=GROUPS), "tgid")
    found = dict(zip(trace.fragments, process_names(trace), strict=True))
    assert found == {"7": "main", "5": "io"}


@pytest.mark.parametrize("source", ["comm:.*", "csv:labels.csv"])
def test_other_fragments_have_no_names(source: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text("tid,df\n7,7\n8,7\n9,7\n")
    trace = label(made(RUNS, groups=GROUPS), source)
    assert set(process_names(trace)) == {None}
