import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import __version__, replace
from dfopt.bench import Row, RowStatus, read_rows
from dfopt.bench.rows import COLUMNS, line_of, rows_file
from dfopt.errors import DfoptError

ROW = Row(
    instance="naïve, “quoted”",
    file="a.json",
    sha256="0" * 64,
    tasks=4,
    cpus=2,
    fragments=3,
    penalty="g",
    objective_kind="max-penalty",
    method="auto",
    seed=0,
    time_limit_s=0.1,
    gap_limit=None,
    workers=2,
    status=RowStatus.OPTIMAL,
    stop_reason="proof",
    objective=2**62,
    lower_bound=0,
    gap=1 / 3,
    first_schedule_s=1e-07,
    wall_time_s=0.25,
    peak_memory_mib=21.5,
    dfopt_version=__version__,
)
OTHER = replace(ROW, sha256="1" * 64)
THIRD = replace(ROW, sha256="2" * 64)


HEADER = line_of()


def read_line(line: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        path.write_text(HEADER + line)
        (row,) = read_rows(path)
    return row


def write(path: Path, *rows: Row) -> bytes:
    with rows_file(path) as (_, append):
        for row in rows:
            append(row)
    return path.read_bytes()


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    data = write(path, ROW, OTHER)
    assert data.count(b"\n") == 3
    assert data.startswith(b"instance,file,sha256,tasks,")
    assert read_rows(path) == (ROW, OTHER)


@given(text=st.text(st.characters(codec=None)))
def test_whatever_a_name_holds_a_row_is_a_line(text: str) -> None:
    row = replace(ROW, instance=text, error=text)
    line = line_of(row)
    assert line.count("\n") == 1
    assert len(line.splitlines()) == 1
    assert line.encode()  # no half surrogate pair is left
    assert read_line(line).key == ROW.key


@given(
    st.builds(
        replace,
        st.just(ROW),
        status=st.sampled_from(RowStatus),
        objective=st.none() | st.integers(0, 2**62),
        gap=st.none() | st.floats(0, 1),
        time_limit_s=st.floats(0, 1e9),
        gap_limit=st.none() | st.floats(0, 1),
        verified=st.sampled_from(["", "yes", "no"]),
    )
)
def test_every_field_survives(row: Row) -> None:
    assert read_line(line_of(row)) == row


def test_a_row_that_is_torn_anywhere_is_dropped_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    data = write(path, ROW, OTHER)
    ends = [position + 1 for position, byte in enumerate(data) if byte == ord("\n")]
    for cut in {*range(0, len(data), 13), *ends, *(end - 1 for end in ends)}:
        path.write_bytes(data[:cut])
        whole = (ROW, OTHER)[: max(sum(end <= cut for end in ends) - 1, 0)]
        with rows_file(path, resume=True) as (rows, append):
            assert rows == whole
            append(THIRD)
        assert read_rows(path) == (*whole, THIRD)


def test_reading_leaves_a_torn_row_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(write(path, ROW, OTHER)[:-5])
    assert read_rows(path) == (ROW,)


def test_a_file_that_holds_something_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    before = write(path, ROW)
    with pytest.raises(DfoptError, match=r"rows\.csv: is there already; add `resume`"):
        rows_file(path).__enter__()
    assert path.read_bytes() == before


@pytest.mark.parametrize("resume", [False, True])
def test_a_missing_or_empty_file_begins_anew(tmp_path: Path, resume: bool) -> None:
    path = tmp_path / "rows.csv"
    for _ in range(2):
        with rows_file(path, resume=resume) as (rows, _):
            assert not rows
        assert path.read_text() == HEADER
        path.write_text("")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n1,2\n", r"rows\.csv: line 1: does not name the columns of dfopt"),
        ("some prose", "holds no rows; its first line names the columns"),
        (HEADER.replace("cpus,", "") + "," * 25 + "x\n", "line 1: does not name the columns"),
        (HEADER + "a,b\n", f"line 2: has 2 values, but there are {len(COLUMNS)}"),
        (HEADER + line_of(ROW).replace(",4,", ",four,"), "line 2, tasks: 'four'"),
        (HEADER + line_of(ROW).replace("optimal", "fine"), "line 2, status: 'fine'"),
        (HEADER + 'a"b,"c" d\n', "line 2: is no CSV"),
        (HEADER + "\udcff\n", r"rows\.csv: line 2: is not UTF-8 text"),
        (
            HEADER + line_of(replace(ROW, dfopt_version="0.0.0")),
            f"line 2: is of dfopt 0.0.0, and this is {__version__}",
        ),
    ],
)
def test_what_this_version_does_not_write_is_refused(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "rows.csv"
    data = text.encode("utf-8", "surrogateescape")
    path.write_bytes(data)
    with pytest.raises(DfoptError, match=problem):
        rows_file(path, resume=True).__enter__()
    assert path.read_bytes() == data


def test_two_runs_do_not_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    with (
        rows_file(path),
        pytest.raises(DfoptError, match="another run writes to it"),
        rows_file(path, resume=True),
    ):
        pass
    with rows_file(path, resume=True):
        pass


@pytest.mark.parametrize("name", ["no/rows.csv", ".", "-", "rows.csv.gz", "/dev/full"])
def test_a_name_that_cannot_be_written_is_refused(tmp_path: Path, name: str) -> None:
    path = name if name in ("-", "/dev/full") else f"{tmp_path}/{name}"
    with pytest.raises(DfoptError) as raised:
        rows_file(path).__enter__()
    assert raised.value.file == path
    assert not list(tmp_path.iterdir())


def test_a_row_for_which_there_is_no_room_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.csv"
    write(path, ROW)
    with rows_file(path, resume=True) as (_, append):
        honest = os.write

        def half(descriptor: int, data: bytes) -> int:
            if len(data) < 100:
                raise OSError(28, "No space left on device")
            return honest(descriptor, data[: len(data) // 2])

        monkeypatch.setattr(os, "write", half)
        with pytest.raises(DfoptError, match="No space left on device"):
            append(OTHER)
        monkeypatch.undo()
    assert read_rows(path) == (ROW,)
    with rows_file(path, resume=True) as (rows, append):
        assert rows == (ROW,)
        append(OTHER)
    assert read_rows(path) == (ROW, OTHER)
