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
from dfopt.trace.perfetto_packets import framed
from dfopt.trace.readers.perfetto import read_perfetto
from tests.trace.readers.test_perfetto import EXIT_DEAD, bundle, columns, switch, waking

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
    for size in range(len(data)):
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
