"""One way out for traces, chosen by the ending, and back by the one way in."""

import gzip

import numpy as np
import pytest

from dfopt import replace
from dfopt.errors import FileError
from dfopt.trace import TraceHeader
from dfopt.trace.formats import WRITERS, read_trace, write_trace
from dfopt.trace.perfetto import write_perfetto
from tests.trace.traces import SMALL, trace_from_rows

READABLE = [ending for ending, write in WRITERS.items() if write is not write_perfetto]


def stretches(trace):
    return sorted(zip(trace.cpu.tolist(), trace.start.tolist(), trace.end.tolist(), strict=True))


@pytest.mark.parametrize("ending", READABLE)
def test_what_is_written_is_read_again(tmp_path, ending):
    path = tmp_path / f"trace{ending}"
    write_trace(SMALL, path, costs=np.arange(5))
    assert path.read_bytes().startswith(b"\x1f\x8b") == ending.endswith(".gz")
    trace = read_trace(path)
    assert stretches(trace) == stretches(SMALL)
    assert [task.name for task in trace.tasks] == [task.name for task in SMALL.tasks]
    assert len(trace.gaps) == 1


@pytest.mark.parametrize("ending", [".perfetto-trace", ".pftrace"])
def test_for_perfetto(tmp_path, ending):
    path = tmp_path / f"trace{ending}"
    write_trace(SMALL, path, costs=np.arange(5))
    assert b"CPU 1 penalty" in path.read_bytes()


def test_the_same_trace_gives_the_same_bytes(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_trace(SMALL, tmp_path / name)
    first, second = ((tmp_path / name).read_bytes() for name in ("a.jsonl.gz", "b.jsonl.gz"))
    assert first == second
    assert gzip.decompress(first).startswith(b'{"format": "dfopt-trace/1"')


@pytest.mark.parametrize("name", ["trace", "trace.perf", "trace.gz", "trace.perfetto-trace.gz"])
def test_unknown_endings(tmp_path, name):
    with pytest.raises(FileError, match=r"its ending says no format of traces; choose one of .js"):
        write_trace(SMALL, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", WRITERS)
def test_a_name_that_is_no_text_leaves_nothing_behind(tmp_path, ending):
    rows = [(0, 0, 1, "7", "\ud800", None, None)]
    path = tmp_path / f"trace{ending}"
    path.write_text("before")
    with pytest.raises(FileError, match="which is no text; rename it") as caught:
        write_trace(trace_from_rows(rows), path)
    assert caught.value.file == str(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "before"


def test_errors_name_the_file(tmp_path):
    late = replace(
        trace_from_rows([(0, 0, 2**62, "7", None, None, None)]), header=TraceHeader(time_unit="s")
    )
    for ending in (".pftrace", ".json"):
        path = tmp_path / f"trace{ending}"
        with pytest.raises(FileError, match=r"write it as \.jsonl") as caught:
            write_trace(late, path)
        assert caught.value.file == str(path)
    with pytest.raises(FileError, match="its folder does not exist"):
        write_trace(SMALL, tmp_path / "missing" / "trace.jsonl")
