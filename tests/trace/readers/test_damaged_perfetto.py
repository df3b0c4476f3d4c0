"""Damaged Perfetto files give a trace or an error of one line, and take no memory for nothing."""

import gzip
import io
import os
import threading
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as classes

from dfopt.errors import FileError
from dfopt.trace import Trace, read_trace
from dfopt.trace.perfetto import read_perfetto
from tests.trace.readers.test_perfetto import (
    EXIT_DEAD,
    GOOD,
    bundle,
    columns,
    framed,
    rows,
    switch,
    waking,
)

RECORDED = (Path(__file__).parent / "recorded" / "perfetto.pftrace").read_bytes()

PACKETS = [
    framed(packet)
    for packet in (
        columns(1, [(150, 7), (260, 0)], wakings=[(150, 3)]),
        bundle(0, switch(100, 0, 5), waking(150, 5, 6), switch(200, 5, 0, EXIT_DEAD)),
        bundle(0, (210, 5, "print", {"buf": "dfopt:df=A"}), switch(250, 0, 6)),
    )
]
MADE = b"".join(PACKETS)
COMPRESSED = MADE + framed(classes.TracePacket(compressed_packets=zlib.compress(MADE)))

ENOUGH_MEMORY = 32 << 20
"""Bytes that no file of these tests needs."""


def outcome(data: bytes) -> Trace | FileError:
    """Return the trace in these bytes or the error; anything else that is raised fails the test."""
    found: Trace | FileError
    tracemalloc.start()
    try:
        found = read_perfetto(io.BytesIO(data))
    except FileError as error:
        found = error
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert memory < ENOUGH_MEMORY
    if isinstance(found, FileError):
        assert found.problem
        assert "\n" not in str(found)
    return found


def ends(data: bytes) -> list[int]:
    """Return where the packets of a whole file end."""
    found = [0]
    while found[-1] < len(data):
        position, size, shift, more = found[-1] + 1, 0, 0, True
        while more:
            size |= (data[position] & 0x7F) << shift
            more, position, shift = data[position] >= 0x80, position + 1, shift + 7
        found.append(position + size)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("data", [RECORDED, MADE, COMPRESSED], ids=["recorded", "made", "packed"])
def test_every_beginning_of_a_file_keeps_its_whole_packets(data):
    whole = ends(data)
    assert whole[-1] == len(data)
    # Around the ends of packets every byte, elsewhere one in five.
    near = {end + beside for end in whole for beside in range(-3, 4)}
    for size in sorted({*near, *range(0, len(data), 5)} & {*range(len(data))}):
        before = max(end for end in whole if end <= size)
        if size == before:
            expected = outcome(data[:before])
        found = outcome(data[:size])
        if isinstance(expected, FileError):
            assert isinstance(found, FileError)
            assert ("cut short" in str(found)) == (size not in whole)
            continue
        assert isinstance(found, Trace)
        for column in ("cpu", "start", "end", "task"):
            assert (getattr(found, column) == getattr(expected, column)).all()
        if size not in whole:
            assert found.quality.unparsed == 1
            assert found.quality.first_unparsed == whole.index(before) + 1
            assert "the end of the file could not be understood" in found.quality.warnings[0]


FILES = st.sampled_from([RECORDED, MADE, COMPRESSED])


@given(FILES, st.data())
def test_flipped_bits(data, draw):
    damaged = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        damaged[draw.draw(st.integers(0, len(data) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    outcome(bytes(damaged))


@given(FILES, st.data(), st.binary(max_size=12), st.integers(0, 12))
def test_bytes_put_in_or_taken_out(data, draw, put, removed):
    place = draw.draw(st.integers(0, len(data)))
    outcome(data[:place] + put + data[place + removed :])


def varint(number: int) -> bytes:
    digits = bytearray()
    while number >= 0x80:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


@given(FILES, st.data(), st.integers(1, 1 << 69))
def test_wrong_lengths(data, draw, length):
    place = draw.draw(st.sampled_from(ends(data)))
    found = outcome(data[:place] + b"\x0a" + varint(length) + data[place + 2 :])
    if length >= 1 << 28:
        assert isinstance(found, FileError)
        assert f"claims to have {length} bytes" in str(found)


@given(st.binary(max_size=60))
def test_any_bytes_as_a_packet(data):
    outcome(MADE + b"\x0a" + varint(len(data)) + data)


@given(FILES, st.data())
def test_damage_in_files_that_are_compressed(tmp_path_factory, data, draw):
    path = tmp_path_factory.mktemp("damaged") / "trace.pftrace.gz"
    packed = bytearray(gzip.compress(data))
    cut = draw.draw(st.integers(1, len(packed)))
    packed[draw.draw(st.integers(0, len(packed) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    path.write_bytes(packed[:cut])
    problem = None
    try:
        read_trace(path)
    except FileError as error:
        problem = error
    if problem is not None:
        assert problem.file == str(path)
        assert "\n" not in str(problem)


@pytest.mark.parametrize("data", [MADE[:-1], MADE + b"\x0a" + varint(1 << 27)])
def test_a_pipe_that_ends_within_a_packet(tmp_path, data):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writing = threading.Thread(target=path.write_bytes, args=(data,))
    writing.start()
    trace = read_trace(path)
    writing.join()
    assert len(trace) == 2
    assert trace.quality.unparsed == 1


@pytest.mark.parametrize(
    "packet",
    [
        bundle(3),
        bundle(0, waking(100, 5, 6)),
        classes.TracePacket(trusted_packet_sequence_id=1),
        columns(0, [], wakings=[(50, 5)]),
    ],
)
@pytest.mark.parametrize("count", [1, 3])
def test_files_without_switches_are_told_what_to_record(tmp_path, packet, count):
    path = tmp_path / "trace"
    path.write_bytes(framed(packet) * count)
    with pytest.raises(FileError, match="record the data source linux"):
        read_trace(path)


@pytest.mark.parametrize("size", range(1, len(GOOD)))
def test_cut_short(size):
    half = len(GOOD) // 2
    if size < half:
        with pytest.raises(FileError, match="it may have been cut short, copy it again") as caught:
            read_perfetto(io.BytesIO(GOOD[:size]))
        assert caught.value.place == "packet 1"
        return
    trace = read_perfetto(io.BytesIO(GOOD[:size]))
    assert rows(trace) == [(0, 100, 200, "5", "comm5")]
    cut = size > half
    assert (trace.quality.lines, trace.quality.unparsed) == (1 + cut, cut)
    assert trace.quality.first_unparsed == (2 if cut else None)
    assert any("may have been cut short" in warning for warning in trace.quality.warnings) == cut


def shorter(packet):
    del packet.ftrace_events.compact_sched.switch_next_pid[-1]
    return packet


def without_comms(packet):
    del packet.ftrace_events.compact_sched.intern_table[:]
    return packet


def with_cpus(number):
    packet = classes.TracePacket()
    packet.system_info.num_cpus = number
    return packet


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds no sched_switch event of the kernel; record the data source"),
        (framed(classes.TracePacket()), "holds no sched_switch event"),
        (GOOD + b"# tracer: nop", "packet 3: is no packet of a trace; the file is damaged"),
        (GOOD + b"\x0a" + b"\xff" * 12, "packet 3: has no length"),
        (GOOD + b"\x0a" + b"\xff" * 4 + b"\x01", "packet 3: claims to have 536870911 bytes"),
        (b"\x0a" + b"\xff" * 8 + b"\x7f" + GOOD, "packet 1: claims to have 9223372036854775807"),
        (GOOD + b"\x0a\x02\xff\xff", "packet 3: cannot be decoded"),
        (framed(bundle(2**31)), "packet 1: is about CPU 2147483648"),
        (framed(bundle(0, switch(2**63, 0, 1))), "packet 1: holds a time beyond 2^62"),
        (framed(columns(0, [(2**63, 0)])), "packet 1: holds a time beyond 2^62"),
        (framed(bundle(0, switch(1, 1, -4))), "packet 1: holds the thread -4"),
        (framed(columns(0, [(1, -4)])), "packet 1: holds the number -4"),
        (framed(shorter(columns(0, [(1, 4)]))), "packet 1: holds columns of unequal length"),
        (framed(without_comms(columns(0, [(1, 4)]))), "packet 1: names a comm that it does not"),
        (
            framed(classes.TracePacket(compressed_packets=b"no")),
            "packet 1: is damaged (Error -3 while decompressing data",
        ),
        (
            framed(classes.TracePacket(compressed_packets=zlib.compress(GOOD)[:-1])),
            "packet 1: is damaged (what is compressed in it ends too early)",
        ),
        (
            framed(classes.TracePacket(compressed_packets=zlib.compress(GOOD[:-1]))),
            "packet 1: is damaged (what is compressed in it ends too early)",
        ),
        (
            framed(classes.TracePacket(compressed_packets=zlib.compress(bytes(1 << 27)))),
            "packet 1: unpacks to more than 64 MiB",
        ),
        (framed(with_cpus(4_000_000_000)), "packet 1: declares 4000000000 CPUs"),
        (
            framed(classes.TracePacket(zstd_compressed_packets=b"no")),
            "packet 1: is compressed with zstd",
        ),
        (
            GOOD + framed(columns(0, [(300, 5)], ftrace_clock=classes.FTRACE_CLOCK_LOCAL)),
            "packet 3: uses another clock than the packets before; record with one clock",
        ),
    ],
)
def test_bad_files(data, message):
    with pytest.raises(FileError) as caught:
        read_perfetto(io.BytesIO(data))
    assert message in str(caught.value)
