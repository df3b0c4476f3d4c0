"""Perfetto's traces: bundles of events and of columns, losses, damage."""

import io
import sys
import zlib

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as classes

from dfopt.errors import FileError
from dfopt.trace.events import Stop
from dfopt.trace.perfetto import read_perfetto

EXIT_DEAD = 0x10


def framed(packet):
    """Return a packet as it stands in a file, behind tag and length."""
    return classes.Trace(packet=[packet]).SerializeToString()


def bundle(cpu, *events, **fields):
    """Return a packet with events, each a pair of its time and what it says."""
    packet = classes.TracePacket(trusted_packet_sequence_id=7)
    packet.ftrace_events.cpu = cpu
    for time, pid, kind, values in events:
        event = packet.ftrace_events.event.add(timestamp=time, pid=pid)
        getattr(event, kind).SetInParent()
        for key, value in values.items():
            setattr(getattr(event, kind), key, value)
    for key, value in fields.items():
        setattr(packet.ftrace_events, key, value)
    return packet


def switch(time, previous, following, state=1):
    return (
        time,
        previous,
        "sched_switch",
        {
            "prev_pid": previous,
            "prev_comm": f"comm{previous}",
            "prev_state": state,
            "next_pid": following,
            "next_comm": f"comm{following}",
        },
    )


def columns(cpu, rows, wakings=(), **fields):
    """Return a packet with switches as columns; rows are time, thread that comes next."""
    packet = bundle(cpu, **fields)
    compact = packet.ftrace_events.compact_sched
    names = sorted({pid for _, pid in rows})
    compact.intern_table.extend(f"comm{pid}" for pid in names)
    for times, key in ((rows, "switch_timestamp"), (wakings, "waking_timestamp")):
        before = 0
        for time, *_ in times:
            getattr(compact, key).append(time - before)
            before = time
    for _, pid in rows:
        compact.switch_next_pid.append(pid)
        compact.switch_prev_state.append(1)
        compact.switch_next_prio.append(120)
        compact.switch_next_comm_index.append(names.index(pid))
    for _, pid in wakings:
        compact.waking_pid.append(pid)
    return packet


def read(*packets):
    return read_perfetto(io.BytesIO(b"".join(map(framed, packets))))


def rows(trace):
    """Return the dispatches with names for numbers."""
    return [
        (int(cpu), int(start), int(end), trace.tasks[task].name, trace.comms[comm])
        for cpu, start, end, task, comm in zip(
            trace.cpu, trace.start, trace.end, trace.task, trace.comm, strict=True
        )
    ]


EXPECTED = [
    (0, 100, 200, "5", "comm5"),
    (1, 150, 260, "7", "comm7"),
    (0, 250, 300, "6", "comm6"),
]


def test_events_one_by_one():
    trace = read(
        bundle(1, switch(150, 0, 7), switch(260, 7, 0)),
        bundle(0, switch(100, 0, 5), switch(200, 5, 0)),
        bundle(0, switch(250, 0, 6), switch(300, 6, 0)),
    )
    assert rows(trace) == EXPECTED
    assert trace.cpus == 2
    assert (trace.quality.lines, trace.quality.events) == (3, 6)


def test_events_in_columns():
    trace = read(
        columns(1, [(150, 7), (260, 0)]),
        columns(0, [(100, 5), (200, 0)]),
        columns(0, [(250, 6), (300, 0)]),
    )
    assert rows(trace) == EXPECTED
    assert not len(trace.gaps)


def test_weights_follow_the_nice_values_of_events_and_of_columns():
    urgent = switch(100, 0, 5)
    urgent[-1]["next_prio"] = 110
    slow = columns(1, [(150, 7), (260, 0)])
    slow.ftrace_events.compact_sched.switch_next_prio[:] = [130, 120]
    trace = read(slow, bundle(0, urgent, switch(200, 5, 0)))
    assert {task.name: task.weight for task in trace.tasks} == {"5": 9537, "7": 110}


def test_events_and_columns_in_one_bundle():
    both = columns(0, [(200, 0), (300, 0)])
    both.ftrace_events.event.extend(bundle(0, switch(100, 0, 5)).ftrace_events.event)
    both.ftrace_events.event.extend(bundle(0, switch(250, 0, 6)).ftrace_events.event)
    assert rows(read(columns(1, [(150, 7), (260, 0)]), both)) == EXPECTED


def test_packets_compressed_together():
    inner = b"".join(
        framed(packet)
        for packet in (
            columns(1, [(150, 7), (260, 0)]),
            columns(0, [(100, 5), (200, 0), (250, 6), (300, 0)]),
        )
    )
    assert rows(read(classes.TracePacket(compressed_packets=zlib.compress(inner)))) == EXPECTED


@pytest.mark.parametrize("make", ["events", "columns"])
def test_lost_events_make_a_gap(make):
    if make == "events":
        first, second = bundle(0, switch(100, 0, 5)), bundle(0, switch(200, 8, 6))
        last = bundle(0, switch(300, 6, 0))
    else:
        first, second = columns(0, [(100, 5)]), columns(0, [(200, 6)])
        last = columns(0, [(300, 0)])
    second.ftrace_events.lost_events = True
    trace = read(first, second, last)
    assert [row[:4] for row in rows(trace)] == [(0, 200, 300, "6")]
    gaps = trace.gaps
    assert (gaps.start.tolist(), gaps.end.tolist()) == ([100], [200])
    assert [gaps.reasons[number] for number in gaps.reason] == ["lost events"]
    assert trace.quality.losses == 1


def test_dropped_packets_make_gaps_everywhere_but_the_first_of_a_sequence_is_none():
    first, second = columns(0, [(100, 5)]), columns(0, [(200, 0)])
    first.previous_packet_dropped = 1
    assert not len(read(first, second).gaps)
    second.previous_packet_dropped = 1
    assert len(read(first, second).gaps) == 1


@pytest.mark.parametrize(
    ("count", "buffer", "losses"),
    [
        ("chunks_overwritten", 1, 1),
        ("chunks_discarded", 1, 1),
        ("chunks_overwritten", 0, 0),
        ("chunks_written", 1, 0),
    ],
)
def test_full_buffers_are_told_but_make_no_gap(count, buffer, losses):
    statistics = classes.TracePacket()
    statistics.trace_stats.writer_stats.add(sequence_id=3, buffer=0)
    statistics.trace_stats.writer_stats.add(sequence_id=7, buffer=1)
    for number in range(2):
        statistics.trace_stats.buffer_stats.add(**{count: 2 if number == buffer else 0})
    trace = read(columns(0, [(100, 5), (200, 0)]), statistics)
    assert trace.quality.losses == losses
    assert len(trace) == 1
    assert not len(trace.gaps)


def test_switches_recorded_twice_are_refused():
    first, second, third = columns(0, [(100, 5)]), columns(1, [(90, 6)]), columns(0, [(100, 5)])
    second.trusted_packet_sequence_id = 8
    read(first, second)
    third.trusted_packet_sequence_id = 8
    with pytest.raises(FileError, match="another data source") as caught:
        read(first, second, third)
    assert caught.value.place == "packet 3"


def test_missing_switch_breaks_the_chain():
    trace = read(bundle(0, switch(100, 0, 5), switch(200, 6, 0)))
    assert trace.quality.breaks == 1
    assert not len(trace)


def test_wakeups_in_columns_name_who_ran():
    packet = columns(0, [(100, 5), (200, 6)], wakings=[(50, 5), (150, 6), (200, 7), (250, 8)])
    packet.ftrace_events.compact_sched.waking_common_flags.extend([0, 0x10, 0, 8])
    wakeups = read(packet).wakeups
    assert wakeups.time.tolist() == [50, 150, 200, 250]
    named = [-1, 0, 1, -1]  # nobody yet, 5 (in a soft interrupt of its own), 6, an interrupt
    assert wakeups.waker.tolist() == named


def waking(time, waker, woken, kind="sched_waking"):
    return time, waker, kind, {"pid": woken}


def test_wakeups_one_by_one_are_in_order_of_time():
    trace = read(
        bundle(0, switch(100, 0, 5), waking(150, 5, 6), switch(200, 5, 0)),
        bundle(1, waking(120, 5, 7), waking(130, 5, 8, "sched_wakeup")),
    )
    assert trace.wakeups.time.tolist() == [120, 150]
    names = [trace.tasks[number].name for number in trace.wakeups.woken]
    assert names == ["7", "6"]


def test_wakeups_of_the_second_kind_where_there_are_no_others():
    trace = read(
        bundle(
            0,
            switch(100, 0, 5),
            waking(150, 5, 6, "sched_wakeup"),
            waking(120, 5, 7, "sched_wakeup_new"),
        )
    )
    assert trace.wakeups.time.tolist() == [120, 150]


def test_first_wakeups():
    trace = read(
        bundle(
            0,
            switch(100, 0, 5),
            waking(120, 5, 7, "sched_wakeup_new"),
            waking(150, 5, 6),
            switch(200, 5, 7),
            switch(300, 7, 6),
        )
    )
    assert trace.wakeups.time.tolist() == [150]
    assert trace.first_wakeups.time.tolist() == [120]
    assert [trace.tasks[number].name for number in trace.first_wakeups.woken] == ["7"]


def test_why_tasks_stop():
    states = {0: "R", 0x100: "R", 1: "S", 2: "S", 0x80: "S", 0x40: "S", 0x10: "X", 0x20: "X"}
    expected = {"R": Stop.PREEMPTED, "S": Stop.SLEEPS, "X": Stop.ENDS}
    for state, stop in states.items():
        trace = read(bundle(0, switch(100, 0, 5), switch(200, 5, 0, state)))
        assert trace.stop.tolist() == [expected[stop]], state
        packet = columns(0, [(100, 5), (200, 0)])
        packet.ftrace_events.compact_sched.switch_prev_state[1] = state
        assert read(packet).stop.tolist() == [expected[stop]], state


def test_identities():
    tree = classes.TracePacket(timestamp=1)
    tree.process_tree.processes.add(pid=4)
    tree.process_tree.threads.add(tid=5, tgid=4)
    trace = read(
        tree,
        bundle(
            0,
            switch(100, 4, 5),
            (120, 5, "task_newtask", {"pid": 6}),
            switch(200, 5, 4, EXIT_DEAD),
            switch(250, 4, 5),
            switch(300, 5, 4),
            switch(400, 4, 6),
        ),
    )
    assert [(task.name, task.tgid) for task in trace.tasks] == [
        ("4", 4),
        ("5", 4),
        ("5.2", None),
        ("6", 6),
    ]
    assert trace.forks.time.tolist() == [120]


def test_processes_of_threads_that_the_recorder_never_saw():
    tree = classes.TracePacket(timestamp=900)
    tree.process_tree.threads.add(tid=5, tgid=4)
    new = {"clone_flags": 0x10100}
    trace = read(
        bundle(
            0,
            switch(100, 0, 5),
            (110, 5, "task_newtask", {"pid": 6, **new}),
            (120, 5, "task_newtask", {"pid": 7}),
            switch(130, 5, 7),
            (140, 7, "task_newtask", {"pid": 8, **new}),
            switch(150, 7, 9),
            (160, 9, "task_newtask", {"pid": 10, **new}),
            switch(170, 9, 0),
        ),
        tree,
    )
    groups = {task.name: task.tgid for task in trace.tasks}
    assert groups == {"5": 4, "6": 4, "7": 7, "8": 7, "9": None, "10": None}


def test_marks():
    trace = read(
        bundle(
            0,
            switch(100, 0, 5),
            (110, 5, "print", {"buf": "dfopt:df=pool 3\n"}),
            (120, 5, "print", {"buf": "B|5|dfopt:df= other"}),
            (130, 5, "print", {"buf": "something else"}),
            switch(200, 5, 0),
        )
    )
    assert trace.marks.time.tolist() == [110, 120]
    assert [trace.marks.names[number] for number in trace.marks.df] == ["pool 3", "other"]


def test_comms_that_are_not_utf8():
    data = framed(bundle(0, switch(100, 0, 5), switch(200, 5, 0))).replace(b"comm5", b"c\xffmm5")
    trace = read_perfetto(io.BytesIO(data))
    assert rows(trace) == [(0, 100, 200, "5", "c\\xffmm5")]


def test_declared_cpus():
    info, system = classes.TracePacket(), classes.TracePacket()
    for _ in range(4):
        info.cpu_info.cpus.add()
    system.system_info.num_cpus = 2
    switches = columns(0, [(100, 5), (200, 0)])
    assert read(system, switches).quality.silent_cpus == (1,)
    for packets in ((info, system, switches), (system, info, switches)):
        trace = read(*packets)
        assert trace.cpus == 4
        assert trace.quality.silent_cpus == (1, 2, 3)


GOOD = b"".join(framed(columns(cpu, [(100, 5), (200, 0)])) for cpu in (0, 1))


def test_a_clock_that_goes_back():
    times = [1000 - time for time in range(40)]
    with pytest.raises(FileError, match="the time goes back on a CPU at"):
        read(bundle(0, *(switch(time, 5, 5) for time in times)))


def test_without_the_classes(monkeypatch):
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace", None)
    with pytest.raises(FileError, match=r"pip install 'dfopt\[perfetto\]'"):
        read_perfetto(io.BytesIO(GOOD))
