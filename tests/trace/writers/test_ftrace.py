"""The kernel's own text, read again by the reader of such text."""

import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import FileError
from dfopt.trace import TraceHeader, TraceTask
from dfopt.trace.events import Stop
from dfopt.trace.reading import read_ftrace
from dfopt.trace.trace import BROKEN_CHAIN
from dfopt.trace.writers.ftrace import write_ftrace
from tests.trace.traces import SMALL, names, trace_from_rows, traces


def written(trace):
    stream = io.BytesIO()
    write_ftrace(trace, stream)
    return stream.getvalue().decode()


def read(text):
    return read_ftrace(io.BytesIO(text.encode()))


def stretches(source):
    return sorted(zip(source.cpu.tolist(), source.start.tolist(), source.end.tolist(), strict=True))


def runs(trace):
    """Return the dispatches of each task, whatever it is called."""
    found = {}
    for cpu, start, end, task in zip(trace.cpu, trace.start, trace.end, trace.task, strict=True):
        found.setdefault(task, []).append((int(start), int(end), int(cpu)))
    return sorted(map(sorted, found.values()))


def test_lines():
    rows = [
        (0, 1_500_000_000, 2_000_000_123, "9229", "g3", None, None),
        (0, 2_000_000_123, 3_000_000_000, "worker", None, None, None),
    ]
    assert written(trace_from_rows(rows, cpus=1, gaps=[(0, 4 * 10**9, 5 * 10**9, "r")])) == (
        "# tracer: nop\n#\n# entries-in-buffer/entries-written: 7/7   #P:1\n#\n"
        "          <idle>-0       [000] d..2. 1.500000000: sched_switch: "
        "prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> "
        "next_comm=9229 next_pid=9229 next_prio=120\n"
        "            9229-9229    [000] d..2. 1.500000000: tracing_mark_write: dfopt:df=g3\n"
        "            9229-9229    [000] d..2. 2.000000123: sched_switch: "
        "prev_comm=9229 prev_pid=9229 prev_prio=120 prev_state=S ==> "
        "next_comm=worker next_pid=9230 next_prio=120\n"
        "          worker-9230    [000] d..2. 3.000000000: sched_switch: "
        "prev_comm=worker prev_pid=9230 prev_prio=120 prev_state=S ==> "
        "next_comm=swapper/0 next_pid=0 next_prio=120\n"
        "          <idle>-0       [000] d..2. 4.000000000: sched_switch: "
        "prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> "
        "next_comm=swapper/0 next_pid=0 next_prio=120\n"
        "CPU:0 [LOST EVENTS]\n"
        "          <idle>-0       [000] d..2. 5.000000000: sched_switch: "
        "prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> "
        "next_comm=swapper/0 next_pid=0 next_prio=120\n"
    )


def test_numbers_of_threads_stay():
    trace = read(written(SMALL))
    assert [task.name for task in trace.tasks] == ["9229", "9230", "9231"]
    assert stretches(trace) == stretches(SMALL)
    assert stretches(trace.gaps) == stretches(SMALL.gaps)
    assert trace.cpus == 2
    assert trace.quality.unparsed == 0


def test_weights_become_priorities_and_weights_again():
    trace = trace_from_rows([(0, 1, 2, "7", "x", None, None), (0, 3, 4, "8", "x", None, None)])
    seven, eight = trace.tasks
    text = written(replace(trace, tasks=(replace(seven, weight=110), eight)))
    assert "next_pid=7 next_prio=130" in text
    assert "prev_pid=7 prev_prio=130" in text
    assert {task.name: task.weight for task in read(text).tasks} == {"7": 110, "8": None}


def test_threads_that_could_have_gone_on_are_told():
    trace = replace(SMALL, stop=np.array([Stop.PREEMPTED, -1, Stop.SLEEPS, 1, Stop.ENDS], np.int8))
    again = read(written(trace))
    assert again.stop.tolist() == [1, 0, 0, 1, 0]


def test_marks_say_where_the_fragment_changes():
    rows = [
        (0, time, time + 1, "7", df, None, None)
        for time, df in enumerate(["A", "A", "B", None, "B", "A"])
    ]
    marks = read(written(trace_from_rows(rows))).marks
    assert marks.time.tolist() == [0, 2, 5]
    assert [marks.names[number] for number in marks.df] == ["A", "B", "A"]


def test_lives_share_a_number_one_after_the_other():
    rows = [
        (0, 0, 5, "7", None, None, None),
        (0, 10, 15, "7.2", None, None, None),
        (0, 20, 25, "7.2", None, None, None),
        (0, 30, 35, "7.3", None, None, None),
    ]
    trace = read(written(trace_from_rows(rows)))
    assert [task.name for task in trace.tasks] == ["7", "7.2", "7.3"]
    assert trace.task.tolist() == [0, 1, 1, 2]


def test_thread_numbers_and_comms_of_a_recording():
    trace = replace(
        SMALL,
        tasks=(TraceTask(name="x", tid=4), TraceTask(name="y", tid=5), TraceTask(name="z")),
        comm=np.array([0, 1, 0, 0, 0], np.int32),
        comms=("kworker/0:1", "a comm\nthat is too long"),
    )
    found = read(written(trace))
    assert [task.tid for task in found.tasks] == [4, 5, 6]
    assert set(found.comms) >= {"kworker/0:1", "a comm?that is "}


@given(traces(labels=names | st.sampled_from(["7", "7.2", "007", "999999999", "0"])))
def test_the_same_dispatches_are_read_again(trace):
    trace = replace(trace, header=TraceHeader(time_unit="ns"))
    if not len(trace) + len(trace.gaps):
        return
    found = read(written(trace))
    assert stretches(found.gaps) == stretches(trace.gaps)
    assert runs(found) == runs(trace)
    assert found.cpus == trace.cpus
    assert found.quality.unparsed == 0
    broken = [trace.gaps.reasons[number] == BROKEN_CHAIN for number in trace.gaps.reason]
    assert found.quality.breaks == sum(broken)


def test_too_many_cpus():
    with pytest.raises(FileError, match="the text has room for 100000 CPUs"):
        written(trace_from_rows([], cpus=100_001))
