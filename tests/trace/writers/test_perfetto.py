"""Files for Perfetto's viewer, read again with the classes of its messages."""

import io
import sys

import numpy as np
import pytest
from hypothesis import given
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as classes

from dfopt import replace
from dfopt.errors import FileError
from dfopt.trace import TraceHeader
from dfopt.trace.perfetto import read_perfetto, write_perfetto
from tests.trace.traces import SMALL, names, trace_from_rows, traces

COSTS = np.array([3, 0, 2, 0, 4])


def packets(trace, costs=None):
    stream = io.BytesIO()
    write_perfetto(trace, stream, costs=costs)
    return classes.Trace.FromString(stream.getvalue()).packet


def test_what_is_written_is_to_look_at_only():
    stream = io.BytesIO()
    write_perfetto(SMALL, stream)
    stream.seek(0)
    with pytest.raises(FileError, match="holds tracks to look at, as dfopt writes them"):
        read_perfetto(stream)


def tracks(found):
    """Return the names of the tracks by their numbers."""
    descriptors = [p.track_descriptor for p in found if p.HasField("track_descriptor")]
    assert len({descriptor.uuid for descriptor in descriptors}) == len(descriptors)
    return {descriptor.uuid: descriptor.name for descriptor in descriptors}


def slices(found):
    """Return the slices as a viewer makes them: an end closes what its track has open."""
    track_names, open_slices, closed = tracks(found), {}, []
    events = [packet for packet in found if packet.HasField("track_event")]
    for packet in sorted(events, key=lambda packet: packet.timestamp):  # stable
        event = packet.track_event
        track = track_names[event.track_uuid]
        if event.type == event.TYPE_SLICE_BEGIN:
            assert track not in open_slices
            open_slices[track] = (packet.timestamp, event.name, tuple(event.categories))
        elif event.type == event.TYPE_SLICE_END:
            start, name, categories = open_slices.pop(track)
            closed.append((track, start, packet.timestamp, name, *categories))
    assert not open_slices
    return sorted(closed)


def counts(found):
    """Return time and value of the counters, by the names of their tracks."""
    track_names, values = tracks(found), {}
    for packet in found:
        event = packet.track_event
        if event.type == event.TYPE_COUNTER:
            track = track_names[event.track_uuid]
            values.setdefault(track, []).append((packet.timestamp, event.counter_value))
    return values


def test_slices():
    found = packets(SMALL)
    assert tracks(found) == {1: "small", 2: "CPU 0", 4: "CPU 1"}
    assert slices(found) == [
        ("CPU 0", 100, 200, "9229", "g3"),
        ("CPU 0", 200, 200, "9231", "g4"),
        ("CPU 0", 250, 400, "9229", "g3"),
        ("CPU 1", 100, 150, "9230"),
        ("CPU 1", 150, 300, "lost events", "gap"),
        ("CPU 1", 300, 450, "9231", "g4"),
    ]
    notes = next(p.track_event.debug_annotations for p in found if p.track_event.name == "9229")
    assert [(note.name, note.int_value or note.string_value) for note in notes] == [
        ("lines", 64),
        ("leaves", "dirty"),
    ]
    assert found[0].sequence_flags == classes.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    assert {packet.trusted_packet_sequence_id for packet in found} == {1}


def test_counters_add_the_costs_up():
    found = packets(SMALL, COSTS)
    assert counts(found) == {
        "CPU 0 penalty": [(100, 0), (100, 3), (200, 5), (400, 5)],
        "CPU 1 penalty": [(100, 0), (300, 4), (450, 4)],
    }
    units = {p.track_descriptor.counter.unit_name for p in found} - {""}
    assert units == {"ns"}
    assert slices(found) == slices(packets(SMALL))


def test_comms_are_shown():
    trace = replace(SMALL, comm=np.array([0, 1, 0, 0, -1], np.int32), comms=("", "hackbench"))
    shown = {name for _, _, _, name, *_ in slices(packets(trace))}
    assert shown == {"9229", "hackbench 9230", "9231", "lost events"}


@pytest.mark.parametrize(("unit", "factor"), [("us", 1000), ("s", 10**9), ("cycle", 1), (None, 1)])
def test_times_are_in_nanoseconds(unit, factor):
    trace = replace(SMALL, header=TraceHeader(time_unit=unit))
    assert slices(packets(trace))[0][1:3] == (100 * factor, 200 * factor)


@given(traces(labels=names.filter(bool)))
def test_every_dispatch_and_gap_is_a_slice_of_its_own(trace):
    trace = replace(trace, header=TraceHeader())
    found = slices(packets(trace, np.zeros(len(trace), np.int64)))
    assert len(found) == len(trace) + len(trace.gaps)
    rows = zip(trace.cpu, trace.start, trace.end, trace.task, strict=True)
    expected = [
        (f"CPU {cpu}", start, end, trace.tasks[task].name) for cpu, start, end, task in rows
    ]
    gaps = trace.gaps
    expected += [
        (f"CPU {cpu}", start, end, gaps.reasons[reason])
        for cpu, start, end, reason in zip(gaps.cpu, gaps.start, gaps.end, gaps.reason, strict=True)
    ]
    assert sorted(row[:4] for row in found) == sorted(expected)


def test_times_that_are_too_long():
    trace = trace_from_rows(
        [(0, 0, 2**62, "a", None, None, None)], header=TraceHeader(time_unit="us")
    )
    with pytest.raises(FileError, match=r"in nanoseconds beyond 2\^62; write it as .jsonl"):
        packets(trace)


def test_without_the_classes(monkeypatch):
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace", None)
    with pytest.raises(FileError, match=r"pip install 'dfopt\[perfetto\]'"):
        packets(SMALL)
