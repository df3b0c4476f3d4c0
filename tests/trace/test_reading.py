"""One entrance: what a file holds is told by its content, and errors name the file."""

import gzip
import io
import sys

import pytest

from dfopt.errors import DfoptError
from dfopt.trace import read_trace
from dfopt.trace.formats import TraceFormat, format_of
from tests.trace.readers.kernel_lines import DIALECTS, PERF, Switch, dispatches, text_of

SWITCHES = [
    Switch(0, 10, (0, b"swapper/0"), (7, b"cat")),
    Switch(0, 30, (7, b"cat"), (8, b"<dog")),
    Switch(0, 70, (8, b"<dog"), (0, b"swapper/0")),
]
ROWS = [(0, 10_000, 30_000, 7, "cat"), (0, 30_000, 70_000, 8, "<dog")]
TEXT = text_of(SWITCHES, PERF[0])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_text_is_told_by_its_lines(dialect):
    kind = TraceFormat.PERF if dialect in PERF else TraceFormat.FTRACE
    text = text_of(SWITCHES, dialect)
    assert format_of(text) == kind
    assert format_of(b"\n" + text) == kind
    assert format_of(b"# a remark\nsomething else\n" + text) == kind


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        (b"# tracer: nop\n#\n", TraceFormat.FTRACE),
        (b"capturing trace... done\nTRACE:\n", TraceFormat.FTRACE),
        (b"version = 6\ncpus=8\n", TraceFormat.FTRACE),
        (b"# ========\n# captured on    : Sat Nov 21\n", TraceFormat.PERF),
        (b"           -12345 [001] 1.000000: sched_switch: prev_comm= ", TraceFormat.FTRACE),
        (b"<!DOCTYPE html>\n<html>", TraceFormat.SYSTRACE),
        (b"\n<HTML i18n-values='x'>", TraceFormat.SYSTRACE),
        (b'{"format": "dfopt-trace/1", "cpus": 2}\n{"cpu": 0}\n', TraceFormat.DFOPT),
        (b'{"format":"dfopt-trace/9"}', TraceFormat.DFOPT),
        (b'[{"name": "a", "ph": "X"}', TraceFormat.CHROME),
        (b'{"traceEvents": [', TraceFormat.CHROME),
        (b'[\n  {"name": "a-1 [000] 1.000000: sched_switch: x"}', TraceFormat.CHROME),
        (b" [", TraceFormat.CHROME),
        (b"{}", TraceFormat.CHROME),
        (b"\n\x04\x08\x00\x10\x01\n\x03\x08\x01\x00", TraceFormat.PERFETTO),
        (b"\n\xff\xff\x03\x08\x00" + b"\0" * 999, TraceFormat.PERFETTO),
    ],
)
def test_content(first, kind):
    assert format_of(first) == kind


@pytest.mark.parametrize(
    ("first", "remedy"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"PERFILE2\x68\0\0\0", "perf script"),
        (b"\x17\x08\x44tracing6\0", "trace-cmd report"),
        (b"\x28\xb5\x2f\xfd....", "zstd"),
        (b"\xfd7zXZ\0", "xz"),
        (b"PK\x03\x04", "unpack"),
        (b"BZh91AY", "bzip2"),
        (b"\x1f\x8b\x08", "gzip twice"),
        (b"x/".ljust(257, b"\0") + b"ustar\x0000", "is a tar archive; unpack it first"),
        (b"\xef\xbb\xbf# tracer: nop", "byte order mark"),
        (b"\xff\xfe#\0 \0", "UTF-16"),
        (b'{"format": "dfopt-instance/1", "cpus": 2}', "dfopt-instance/1"),
        (b"id,start,end\n1,2,3\n", "perf script text, ftrace"),
        (bytes(range(256)), "perf script text, ftrace"),
        (b"           time    cpu  task name           wait time  sch delay\n", "perf script"),
        (b"           time    cpu  01  task name           wait time\n", "perf script"),
        (b"\nRuntime summary\n            comm  parent   sched-in\n", "perf script"),
        (b" ------\n  Task                  |   Runtime ms  | Switches |\n", "perf script"),
        (b"  *A0       34462.574228 secs A0 => migration/0:18 \n", "perf script"),
        (b'     0.000 migration/0/18 sched:sched_waking(comm: "a", pid: 5', "perf script"),
        (b"# To display the perf.data header info, please use --header\n", "perf script"),
        (b'{\n\t"linux-perf-json-version": 1,\n\t"headers": {', "perf script"),
        (b"a.dat: cpus=2\nb.dat: cpus=2\n", "several recordings"),
        (b"a 2 [000] sched:sched_switch: prev_comm=a prev_pid=2\n", "print them so"),
        (b"a-1 2 12526.359114: sched:sched_switch: prev_comm=a prev_pid=2\n", "which CPU"),
        (b"a  1/2    12526.359114:    sched:sched_switch: prev_comm=a prev_pid=2\n", "which CPU"),
        (b"a -1/2 12526.359114: sched:sched_switch: prev_comm=a prev_pid=2\n", "which CPU"),
        (
            b"[09:15:00.000600000] (+0.000500000) forge sched_switch: { cpu_id = 1 }, "
            b'{ prev_comm = "baker", prev_tid = 70 }\n',
            "babeltrace's text .*; record with perf or ftrace",
        ),
        (b"[  12.345678] usb 1-1: new device\n", "holds no trace"),
        (b"[2026-03-02 10:00:00] GET /\n", "holds no trace"),
        (b"{ printf a }\n", "holds no trace"),
    ],
)
def test_content_that_is_no_trace(first, remedy):
    with pytest.raises(DfoptError, match=remedy):
        format_of(first)


def test_read_a_file(tmp_path):
    path = tmp_path / "any-name"
    path.write_bytes(TEXT)
    trace = read_trace(path)
    assert dispatches(trace) == ROWS
    assert trace.header.name is None
    assert read_trace(path, name="mine").header.name == "mine"


@pytest.mark.parametrize("name", ["x.txt.gz", "x.txt"])
def test_gzip_is_told_by_the_content_alike(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(TEXT))
    assert dispatches(read_trace(path)) == ROWS


@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT)])
def test_standard_input(monkeypatch, data):
    class Slow(io.RawIOBase):
        """A pipe that gives a few bytes at a time."""

        rest = data

        def readable(self):
            return True

        def readinto(self, buffer):
            size = min(len(buffer), 7)
            part, self.rest = self.rest[:size], self.rest[size:]
            buffer[: len(part)] = part
            return len(part)

    stream = io.TextIOWrapper(io.BufferedReader(Slow()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert dispatches(read_trace("-")) == ROWS
    assert not stream.buffer.closed


@pytest.mark.parametrize(
    ("data", "name", "problem"),
    [
        (b"", "x", "empty"),
        (TEXT, "x.gz", "damaged.*drop .gz"),
        (gzip.compress(TEXT)[:-9], "x", "damaged"),
        (gzip.compress(TEXT * 9)[:-60] + b"damage" * 10, "x", "damaged"),
        (TEXT[:60], "x", "line 1: is the first of 1 lines"),
        (TEXT + b"\0\1\2\n" * 9, "x", "line 4: is the first of 9 lines, out of 12"),
    ],
)
def test_errors_name_the_file(tmp_path, data, name, problem):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DfoptError, match=problem) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_no_such_file(tmp_path):
    with pytest.raises(DfoptError, match="no such file"):
        read_trace(tmp_path / "missing.txt")
    with pytest.raises(DfoptError, match="folder"):
        read_trace(tmp_path)
    with pytest.raises(DfoptError, match="standard input"):
        read_trace("-")
