"""Chrome's trace events: what is written is read again, and what they must say."""

import io
import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from dfopt import replace
from dfopt.errors import FileError
from dfopt.trace import TraceHeader
from dfopt.trace.chrome import read_chrome, write_chrome
from tests.trace.readers.kernel_lines import Switch, dispatches, text_of, tracefs
from tests.trace.traces import SMALL, assert_same, names, trace_from_rows, traces

IN_NANOSECONDS = TraceHeader(time_unit="ns")


def written(trace, costs=None):
    stream = io.BytesIO()
    write_chrome(trace, stream, costs=costs)
    return stream.getvalue()


def read(document):
    """Read a document given as text, bytes or Python's objects."""
    if not isinstance(document, str | bytes):
        document = json.dumps(document)
    data = document.encode() if isinstance(document, str) else document
    return read_chrome(io.BytesIO(data))


def event(**fields):
    return {"ph": "X", "pid": 1, "tid": 0, "ts": 1, "dur": 2, "name": "a"} | fields


def named(pid, name):
    return {"ph": "M", "pid": pid, "tid": 0, "name": "process_name", "args": {"name": name}}


@given(traces(labels=names.filter(bool)))
def test_what_is_written_is_read_again(trace):
    trace = replace(trace, header=IN_NANOSECONDS)
    assert_same(read(written(trace)), trace)
    assert_same(read(written(trace, np.ones(len(trace), np.int64))), trace)


KERNEL_TEXT = text_of(
    [
        Switch(1, 10, (0, b"swapper/1"), (70, b"baker")),
        Switch(1, 510, (70, b"baker"), (0, b"swapper/1")),
    ],
    tracefs,
).decode()


def test_the_kernels_text_may_stand_in_a_string():
    trace = read({"traceEvents": [], "systemTraceEvents": "# tracer: nop\n#\n" + KERNEL_TEXT})
    assert dispatches(trace) == [(1, 10_000, 510_000, 70, "baker")]
    with pytest.raises(FileError, match="is the first of 3 lines") as caught:
        read({"systemTraceEvents": "\nother text\n" * 3})
    assert caught.value.place == "systemTraceEvents, line 2"
    assert len(read({"traceEvents": [event()], "systemTraceEvents": " "})) == 1


def test_events_as_written():
    document = json.loads(written(SMALL, np.array([0, 1, 2, 3, 4])))
    assert document["displayTimeUnit"] == "ns"
    by_kind = {}
    for event in document["traceEvents"]:
        by_kind.setdefault(event["ph"], []).append(event)
    assert [event["args"]["name"] for event in by_kind["M"]] == ["CPUs", "CPU 0", "CPU 1"]
    assert by_kind["X"][0] == {
        "ph": "X", "pid": 0, "tid": 0, "ts": 0.1, "dur": 0.1, "name": "9229", "cat": "g3",
        "args": {"lines": 64, "leaves": "dirty"},
    }  # fmt: skip
    assert by_kind["X"][-1]["args"] == {"gap": True}
    assert [(event["name"], event["args"]["penalty"]) for event in by_kind["C"]] == [
        ("CPU 0 penalty", 0),
        ("CPU 1 penalty", 1),
        ("CPU 0 penalty", 2),
        ("CPU 0 penalty", 5),
        ("CPU 1 penalty", 5),
    ]


def test_times_are_exact_however_large():
    late = 2**62 - 1001
    trace = trace_from_rows([(0, late, late + 999, "a", None, None, None)], header=IN_NANOSECONDS)
    assert_same(read(written(trace)), trace)


def test_other_units_become_nanoseconds():
    trace = replace(SMALL, header=TraceHeader(time_unit="ms"))
    assert read(written(trace)).start.tolist() == [10**6 * time for time in SMALL.start.tolist()]


def test_comms_are_noted():
    trace = replace(SMALL, comm=np.array([0, -1, 0, 0, 0], np.int32), comms=("hackbench",))
    # Of one dispatch the comm is not known.
    assert written(trace).count(b'"comm": "hackbench"') == len(trace) - 1


def test_array_in_any_order_with_other_events_between():
    trace = read(
        [
            event(ts=5.5, dur=1.25, name="b", cat="B", tid=1),
            {"ph": "i", "pid": 1, "tid": 0, "ts": 3, "name": "now"},
            event(ts=0, dur=2),
        ]
    )
    assert trace.start.tolist() == [0, 5500]
    assert trace.end.tolist() == [2000, 6750]
    assert [trace.tasks[number].name for number in trace.task] == ["a", "b"]
    assert (trace.fragment.tolist(), trace.fragments) == ([-1, 0], ("B",))
    assert (trace.cpus, trace.header.time_unit) == (2, "ns")
    assert (trace.quality.lines, trace.quality.events) == (3, 2)


def test_the_process_named_cpus():
    document = {"traceEvents": [event(pid=7, tid=3, name="b"), event(), named(7, "CPUs")]}
    trace = read(document)
    assert [task.name for task in trace.tasks] == ["b"]
    assert trace.cpus == 4


def test_slices_that_touch_still_do_after_rounding():
    times = [0, 0.0004, 0.0012, 0.0021, 1.00049, 1.0005]
    pairs = list(pairwise(times))
    # As a program adds them up.
    events = [event(ts=start, dur=round(end - start, 9)) for start, end in pairs]
    trace = read(events)
    assert trace.start.tolist()[1:] == trace.end.tolist()[:-1]


@pytest.mark.parametrize("end", ["]", "", ",", "\n"])
def test_the_last_bracket_may_be_missing(end):
    assert len(read(f"[{json.dumps(event())}{end}")) == 1


WHOLE = json.dumps({"traceEvents": [event(), event(ts=9)]})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "is empty; it should hold trace events"),
        ("\0", "is a binary file"),
        (b"[\n\xff]", "line 2: is not UTF-8 text"),
        (WHOLE[:-20], "line 1, column 124: the document ends too early; it may have been cut"),
        ("[{}", "traceEvents: hold no complete event (ph X)"),
        ("[[", "line 1, column 3: the document ends too early"),
        (WHOLE + "x", "line 1, column 148: Extra data; correct it"),
        ("[" * 100_000, "is nested too deep"),
        ("3", "traceEvents: must be an array of events, not 3"),
        ({}, "traceEvents: is missing; Chrome's trace events stand here"),
        ({"traceEvents": {}}, "traceEvents: must be an array of events, not an object"),
        ([3], "traceEvents[0]: must be an object {…}, not 3"),
        ([event(), event(pid=2)], "traceEvents[1]: is of another process than those before"),
        ([event(), named(2, "CPUs")], "traceEvents: hold no complete event (ph X) of the process"),
        ([event(tid=-1)], "traceEvents[0].tid: must be at least 0, not -1"),
        ([event(tid="a")], "traceEvents[0].tid: must be an integer, not 'a'"),
        ([event(tid=10**6)], "traceEvents[0].tid: is 1000000; threads stand for CPUs here"),
        ([event(ts="1")], "traceEvents[0].ts: must be a number of microseconds, not '1'"),
        ([event(ts=True)], "traceEvents[0].ts: must be a number of microseconds, not true"),
        ([event(ts=-1)], "traceEvents[0].ts: is '-1'; times go from 0 to 2^62 nanoseconds"),
        ([event(dur=2**62)], "traceEvents[0].dur: is '4611686018427387904'; times go from 0"),
        ([event(ts=2**62 // 1000)], "traceEvents[0].dur: ends beyond 2^62 nanoseconds"),
        ('[{"ph": "X", "ts": 1e9999999999999999999}]', "holds the number '1e9999999999999999999'"),
        ('[{"ph": "X", "ts": NaN}]', "holds NaN, which is no JSON; give a finite number"),
        (f'[{{"ts": {"1" * 5000}}}]', "traceEvents: hold no complete event"),
        ([event(name=7)], "traceEvents[0].name: must be a string, not 7"),
        ([event(cat=7)], "traceEvents[0].cat: must be a string, not 7"),
        ('[{"ph": "X", "ts": 1, "dur": 1, "tid": 0, "name": "\\ud800"}]', "half a surrogate pair"),
        ([{"ph": "X", "ts": 1}], "traceEvents[0].dur: is missing; a complete event has it"),
        ([event(args=3)], "traceEvents[0].args: must be an object {…}, not 3"),
        ([event(args={"lines": 4.0})], "traceEvents[0].args.lines: must be an integer, not 4.0"),
        ([event(args={"leaves": "a"})], "traceEvents[0].args.leaves: must be one of"),
        ([{"ph": "M", "name": "process_name"}], "traceEvents[0].args: is missing"),
        (
            [event(ts=2), event(dur=5), event(ts=9)],
            "traceEvents[0]: starts at 2000 on CPU 0, where another dispatch runs until 6000",
        ),
        (
            [event(), event(ts=2, dur=1, args={"gap": True})],
            "traceEvents[1]: a dispatch runs on CPU 0 between 2000 and 3000",
        ),
    ],
)
def test_bad_files(document, message):
    with pytest.raises(FileError) as caught:
        read(document)
    assert message in str(caught.value)
