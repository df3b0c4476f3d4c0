"""The format dfopt-trace/1: what is written is read again, and nothing wrong is let in."""

import dataclasses
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import DfoptError
from dfopt.problem.penalties import PenaltyF
from dfopt.trace import TraceHeader, read_trace
from dfopt.trace.dfopt_trace import read_dfopt_trace, write_dfopt_trace
from dfopt.trace.events import Stop
from dfopt.trace.readiness import Readiness, readiness_of
from tests.strategies import json_values
from tests.trace.traces import SMALL, assert_same, trace_from_rows, traces_with_events

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

HEADER = {"format": "dfopt-trace/1", "cpus": 2}
DISPATCH = {"cpu": 0, "start": 10, "end": 20, "task": "a", "df": "A"}
GAP = {"cpu": 1, "gap": [10, 20], "reason": "lost events"}


def written(trace):
    stream = io.BytesIO()
    write_dfopt_trace(trace, stream)
    return stream.getvalue()


def read(*lines):
    """Read lines given as documents, texts or bytes."""
    texts = (json.dumps(line) if isinstance(line, dict) else line for line in lines)
    data = [text if isinstance(text, bytes) else text.encode() for text in texts]
    return read_dfopt_trace(io.BytesIO(b"\n".join([*data, b""])))


def problem(*lines):
    with pytest.raises(DfoptError) as caught:
        read(*lines)
    return str(caught.value)


@pytest.mark.slow
@given(traces_with_events())
def test_what_is_written_is_read_again(trace):
    assert_same(read_dfopt_trace(io.BytesIO(written(trace))), trace)


@pytest.mark.slow
@given(traces_with_events())
def test_every_line_may_be_looked_at_by_itself(trace):
    # An own key sends the lines down the slow path, which must agree with the quick one.
    header, *lines = written(trace).splitlines()
    lines = [line.replace(b"{", b'{"x-note": [{}], ', 1) for line in lines]
    assert_same(read_dfopt_trace(io.BytesIO(b"\n".join([header, *lines, b""]))), trace)


def test_lines_as_written():
    lines = written(SMALL).decode().splitlines()
    assert json.loads(lines[0]) == HEADER | {"name": "small", "time_unit": "ns"}
    assert lines[1] == (
        '{"cpu": 0, "start": 100, "end": 200, "task": "9229", "df": "g3", '
        '"lines": 64, "leaves": "dirty"}'
    )
    assert lines[2] == '{"cpu": 1, "start": 100, "end": 150, "task": "9230", "df": null}'
    assert lines[3] == '{"cpu": 1, "gap": [150, 300], "reason": "lost events"}'


def test_gaps_stand_in_order_wherever_lines_are_written_together(monkeypatch):
    rows = [(0, 10 * time, 10 * time + 5, "a", None, None, None) for time in range(10)]
    gaps = [(1, time, time + 1, "r") for time in (0, 10, 25, 45, 95, 99)]
    trace = trace_from_rows(rows, gaps=gaps)
    whole = written(trace)
    monkeypatch.setattr("dfopt.trace.dfopt_trace.LINES_AT_ONCE", 3)
    assert written(trace) == whole
    documents = [json.loads(line) for line in whole.splitlines()[1:]]
    starts = [row["gap"][0] if "gap" in row else row["start"] for row in documents]
    assert starts == sorted(starts)
    monkeypatch.setattr("dfopt.trace.dfopt_trace.BYTES_AT_ONCE", 64)
    assert_same(read_dfopt_trace(io.BytesIO(whole)), trace)


WAKEUP = {"wakeup": 5, "task": "a", "waker": "b"}
FORK = {"fork": 3, "task": "b", "parent": "a"}


def test_events_may_stand_anywhere():
    interrupt = {"first_wakeup": 4, "task": "c"}
    trace = read(
        HEADER, FORK, DISPATCH | {"stop": "preempted"}, WAKEUP, WAKEUP | {"wakeup": 2}, interrupt
    )
    names = [task.name for task in trace.tasks]
    assert trace.stop.tolist() == [Stop.PREEMPTED]
    assert trace.wakeups.time.tolist() == [2, 5]
    assert [names[number] for number in trace.wakeups.waker] == ["b", "b"]
    assert [names[number] for number in trace.wakeups.woken] == ["a", "a"]
    assert trace.first_wakeups.waker.tolist() == [-1]
    assert names[trace.first_wakeups.woken[0]] == "c"
    assert (names[trace.forks.parent[0]], names[trace.forks.child[0]]) == ("a", "b")


def test_comms_and_weights_as_written():
    trace = read(
        HEADER,
        DISPATCH | {"comm": "bash"},
        {"task": "b", "weight": 512},
        DISPATCH | {"start": 25, "end": 30},
    )
    assert (trace.comm.tolist(), trace.comms) == ([0, -1], ("bash",))
    assert [(task.name, task.weight) for task in trace.tasks] == [("a", None), ("b", 512)]
    lines = written(trace).decode().splitlines()
    assert lines[1] == '{"task": "b", "weight": 512}'
    assert json.loads(lines[2]) == DISPATCH | {"comm": "bash"}
    assert json.loads(lines[3]) == DISPATCH | {"start": 25, "end": 30}


def test_events_are_written_in_order_of_time(monkeypatch):
    trace = read(
        HEADER,
        WAKEUP | {"wakeup": 10},
        {"wakeup": 12, "task": "c"},
        FORK,
        DISPATCH | {"stop": "sleeps", "leaves": "dirty"},
        DISPATCH | {"start": 25, "end": 30},
        WAKEUP | {"wakeup": 40},
    )
    expected = [
        FORK,
        WAKEUP | {"wakeup": 10},
        DISPATCH | {"leaves": "dirty", "stop": "sleeps"},
        {"wakeup": 12, "task": "c"},
        DISPATCH | {"start": 25, "end": 30},
        WAKEUP | {"wakeup": 40},
    ]
    for at_once in (20_000, 1):
        monkeypatch.setattr("dfopt.trace.dfopt_trace.LINES_AT_ONCE", at_once)
        lines = written(trace).decode().splitlines()[1:]
        assert lines == [json.dumps(line) for line in expected]


def test_a_recorded_trace_keeps_what_tells_when_tasks_were_ready():
    recorded = read_trace(EXAMPLES / "hackbench-4.txt.gz")
    again = read_dfopt_trace(io.BytesIO(written(recorded)))
    one, other = readiness_of(recorded), readiness_of(again)
    for field in dataclasses.fields(Readiness):
        assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


def test_quality_tells_of_gaps():
    trace = read(HEADER | {"cpus": 3}, DISPATCH, GAP, GAP | {"reason": "broken chain"})
    assert trace.quality.lines == 4
    assert trace.quality.events == 1
    assert (trace.quality.losses, trace.quality.breaks) == (1, 1)
    assert trace.quality.silent_cpus == (2,)


def test_header():
    header = {
        "penalty": {"kind": "f", "read_line": 1, "write_back": 4},
        "capacity": 3,
        "cold_start": True,
        "policy": "fifo",
        "x-own": [1],
    }
    trace = read(HEADER | header)
    assert len(trace) == 0
    assert trace.header == TraceHeader(
        penalty=PenaltyF(read_line=1, write_back=4), capacity=3, cold_start=True, policy="fifo"
    )


def test_blank_lines_and_carriage_returns_do_no_harm():
    assert len(read(HEADER, "", json.dumps(DISPATCH) + "\r", "  ", "")) == 1


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("", "is empty"),
        ({"cpus": 2}, "line 1, format: is missing"),
        ({"format": "dfopt-instance/1", "cpus": 2}, "the file holds an instance"),
        ({"format": "dfopt-trace/1"}, "line 1, cpus: is missing"),
        (HEADER | {"cpus": 0}, "line 1, cpus: must be at least 1, not 0"),
        (HEADER | {"cpus": 2.0}, "line 1, cpus: must be an integer, not 2.0"),
        (HEADER | {"cpus": 10**7}, "line 1, cpus: is 10000000; at most 1000000 are supported"),
        (HEADER | {"polcy": "a"}, "line 1, polcy: unknown key; did you mean 'policy'?"),
        (HEADER | {"name": None}, "line 1, name: must not be null; leave the key out"),
        (HEADER | {"capacity": "all"}, "line 1, capacity: must be 'balanced', 'unlimited' or"),
        (HEADER | {"capacity": 0}, "line 1, capacity: must be at least 1"),
        (HEADER | {"cold_start": 1}, "line 1, cold_start: must be true or false, not 1"),
        (HEADER | {"penalty": {"kind": "f"}}, "line 1, penalty.read_line: is missing"),
        (HEADER | {"objective": "best"}, "line 1, objective: must be one of"),
        ('{"format": "dfopt-trace/1", ', "line 1, column 28: the document ends too early"),
        ("\ufeff{}", "begins with a byte order mark"),
        (b"\x7fELF\x00\x00", "line 1: is a binary file"),
        (b"\xff\xfe", "line 1: is not UTF-8 text"),
        ("[1]", "line 1: must be an object {…}, not an array"),
    ],
)
def test_bad_headers(header, message):
    assert message in problem(header, DISPATCH)


BAD_LINES = [
    ('{"cpu": 0, "start": 1', "line 3, column 22: the document ends too early"),
    (b'{"cpu": 0, "st\x00', "line 3: is a binary file"),
    (b'{"cpu": \xff', "line 3: is not UTF-8 text"),
    ("[]", "line 3: must be an object {…}, not an array"),
    (json.dumps(DISPATCH) + ",", "line 3, column 59: this is not JSON"),
    (json.dumps(DISPATCH) * 2, "line 3, column 59: this is not JSON"),
    (f"{json.dumps(DISPATCH)},{json.dumps(DISPATCH)}", "line 3, column 59: this is not JSON"),
    (DISPATCH | {"cpu": 2}, "line 3, cpu: is 2, but the header declares 2 CPUs, numbered from 0"),
    (DISPATCH | {"cpu": -1}, "line 3, cpu: must be at least 0, not -1"),
    (DISPATCH | {"cpu": True}, "line 3, cpu: must be an integer, not True"),
    (DISPATCH | {"start": 10.0}, "line 3, start: must be an integer, not 10.0"),
    (DISPATCH | {"start": "10"}, "line 3, start: must be an integer, not '10'"),
    (DISPATCH | {"end": 2**62 + 1}, "more than 2^62"),
    (DISPATCH | {"end": 2**70}, "more than 2^62"),
    (DISPATCH | {"end": 9}, "line 3, end: is 9, before the start at 10; swap them"),
    (DISPATCH | {"task": 7}, "line 3, task: must be a string, not 7"),
    (DISPATCH | {"task": None}, "line 3, task: must not be null"),
    (DISPATCH | {"df": 7}, "line 3, df: must be a string, not 7"),
    (DISPATCH | {"lines": -1}, "line 3, lines: must be at least 0, not -1"),
    (DISPATCH | {"lines": None}, "line 3, lines: must not be null; leave the key out"),
    (DISPATCH | {"leaves": "filthy"}, "line 3, leaves: must be one of"),
    (DISPATCH | {"leaves": ["dirty"]}, "line 3, leaves: must be one of"),
    (DISPATCH | {"leafs": "dirty"}, "line 3, leafs: unknown key; did you mean 'leaves'?"),
    (DISPATCH | {"gap": [1, 2]}, "line 3, start: unknown key"),
    ({"cpu": 0, "start": 1, "end": 2, "task": "a"}, "line 3, df: is missing; it is required"),
    ('{"cpu": 0, "cpu": 0, "start": 1, "end": 2, "task": "a", "df": null}', "more than once"),
    ('{"cpu": 0, "start": 1, "end": NaN, "task": "a", "df": null}', "NaN"),
    ('{"cpu": 0, "start": 1, "end": 2, "task": "\\ud800", "df": null}', "half a surrogate pair"),
    ('{"cpu": 0, "start": ' + "1" * 5000 + "}", "digits"),
    ('{"cpu": 0, "start": ' + "[" * 100_000, "nested"),
    (GAP | {"gap": 3}, "line 3, gap: must be an array [start, end], not 3"),
    (GAP | {"gap": [1]}, "line 3, gap: must be an array [start, end]"),
    (GAP | {"gap": [1, None]}, "line 3, gap[1]: must be an integer, not None"),
    (GAP | {"gap": [2, 1]}, "line 3, gap[1]: is 1, before the start at 2; swap them"),
    (GAP | {"gap": [{}, 2]}, "line 3, gap[0]: must be an integer"),
    (GAP | {"reason": 1}, "line 3, reason: must be a string, not 1"),
    (GAP | {"cpu": 2}, "line 3, cpu: is 2, but the header declares 2 CPUs"),
    ({"cpu": 0, "gap": [1, 2]}, "line 3, reason: is missing"),
    (GAP | {"task": 3}, "line 3, task: must be a string, not 3"),
    (DISPATCH | {"stop": "stops"}, "line 3, stop: must be one of 'ends', 'preempted', 'sleeps'"),
    (DISPATCH | {"stop": 1}, "line 3, stop: must be one of"),
    (DISPATCH | {"stop": None}, "line 3, stop: must not be null; leave the key out"),
    (DISPATCH | {"wakeup": 1}, "line 3, wakeup: unknown key"),
    (WAKEUP | {"wakeup": -1}, "line 3, wakeup: must be at least 0, not -1"),
    (WAKEUP | {"wakeup": 1.0}, "line 3, wakeup: must be an integer, not 1.0"),
    (WAKEUP | {"task": 1}, "line 3, task: must be a string, not 1"),
    (WAKEUP | {"waker": None}, "line 3, waker: must not be null; leave the key out"),
    (WAKEUP | {"parent": "a"}, "line 3, parent: unknown key"),
    ({"wakeup": 1}, "line 3, task: is missing"),
    ({"first_wakeup": 1, "task": "a", "waker": 3}, "line 3, waker: must be a string"),
    ({"fork": 1, "task": "a"}, "line 3, parent: is missing"),
    (FORK | {"parent": "\ud800"}, "half a surrogate pair"),
    (DISPATCH | {"comm": 3}, "line 3, comm: must be a string, not 3"),
    ({"task": "a", "weight": 0}, "line 3, weight: must be at least 1, not 0"),
    ({"task": 3, "weight": 1}, "line 3, task: must be a string, not 3"),
    ({"weight": 1}, "line 3, task: is missing"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_bad_lines(line, message):
    later = DISPATCH | {"start": 30, "end": 40}
    found = problem(HEADER, DISPATCH, line, later)
    assert message in found
    assert found.startswith("line 3")


def test_dispatches_are_ordered_by_start():
    found = problem(HEADER, DISPATCH, GAP, DISPATCH | {"cpu": 1, "start": 9})
    assert found.startswith("line 4: starts at 9, before the dispatch ahead (10); order the")


def test_one_dispatch_at_a_time():
    other = DISPATCH | {"cpu": 1, "end": 99}
    found = problem(HEADER, DISPATCH, other, "", DISPATCH | {"start": 19, "end": 30})
    assert found.startswith("line 5: starts at 19 on CPU 0, where another dispatch runs until 20")
    assert len(read(HEADER, DISPATCH, DISPATCH | {"start": 20, "end": 20})) == 2


def test_no_dispatch_in_a_gap():
    touching = [GAP | {"cpu": 0, "gap": [0, 10]}, GAP | {"cpu": 0, "gap": [20, 99]}]
    assert len(read(HEADER, DISPATCH, *touching, GAP).gaps) == 3
    found = problem(HEADER, *touching, DISPATCH, GAP | {"cpu": 0, "gap": [19, 20]})
    assert found.startswith("line 5: a dispatch runs on CPU 0 between 19 and 20")


@pytest.mark.slow
@given(traces_with_events(), st.data())
def test_no_damage_but_a_line_naming_it(trace, data):
    whole = written(trace)
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = data.draw(
        st.sampled_from(
            [
                whole[:place],
                whole[:place] + whole[place + 1 :],
                whole[:place] + b"{" + whole[place:],
            ]
        )
    )
    try:
        read_dfopt_trace(io.BytesIO(damaged))
    except DfoptError as error:
        assert error.problem  # noqa: PT017 -- damage may also do no harm


lines = st.sampled_from([DISPATCH | {"lines": 1, "leaves": "dirty"}, GAP])
changed_lines = st.tuples(lines, st.sampled_from([*DISPATCH, *GAP, "lines", "leaves"]), json_values)


@given(st.lists(json_values | changed_lines.map(lambda change: change[0] | {change[1]: change[2]})))
def test_any_json_is_read_or_refused(values):
    lines = [json.dumps(value) for value in values]
    try:
        trace = read(HEADER, *lines)
    except DfoptError as error:
        assert str(error).startswith("line ")  # noqa: PT017 -- some are read
    else:
        assert len(trace) + len(trace.gaps) == len(lines)
