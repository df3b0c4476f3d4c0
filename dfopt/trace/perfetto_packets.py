"""Packets of Perfetto's traces: their classes, and how they stand in a file."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO

from dfopt.errors import FileError

PACKET_TAG = b"\x0a"
"""Before each packet: field 1, length-delimited."""

LONGEST_VARINT = 10
MORE = 0x80
"""The bit of a varint's byte that says that another one follows."""

DEEPEST_COMPRESSION = 2


def perfetto_classes() -> Any:
    """Return the module of Perfetto's message classes.

    Raises
    ------
    FileError
        When the package is not installed.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError:
        raise FileError(
            "Perfetto's traces need a package more; install it: pip install 'dfopt[perfetto]'"
        ) from None
    return perfetto_trace_pb2


def framed(packet: Any) -> bytes:
    """Return a packet as it stands in a file, behind tag and length."""
    data: bytes = packet.SerializeToString()
    size = len(data)
    length = bytearray()
    while size >= MORE:
        length.append(size & (MORE - 1) | MORE)
        size >>= 7
    length.append(size)
    return PACKET_TAG + bytes(length) + data


def packets(stream: BinaryIO) -> Iterator[tuple[int, Any]]:
    """Yield the packets of a file with their numbers, counted from 1.

    Those that are compressed together are unpacked, and have the number of what held them.

    Raises
    ------
    FileError
        When the file ends within a packet, or holds something else.
    """
    return _packets(stream, perfetto_classes().TracePacket)


def _packets(
    stream: BinaryIO, kind: Any, number: int | None = None, depth: int = 0
) -> Iterator[tuple[int, Any]]:
    from google.protobuf.message import DecodeError

    count = 0
    while tag := stream.read(1):
        count += 1
        shown = number or count
        place = f"packet {shown}"
        if tag != PACKET_TAG:
            raise FileError(
                "is no packet of a trace; the file is damaged, copy it again", place=place
            )
        size = _length(stream, place)
        data = stream.read(size)
        if len(data) < size:
            raise _cut(place)
        try:
            packet = kind.FromString(data)
        except DecodeError:
            raise FileError(
                "cannot be decoded; the file is damaged, copy it again", place=place
            ) from None
        if packet.HasField("compressed_packets"):
            if depth == DEEPEST_COMPRESSION:
                raise FileError("is compressed again and again", place=place)
            try:
                inner = zlib.decompress(packet.compressed_packets)
            except zlib.error as error:
                raise FileError(f"is damaged ({error}); copy it again", place=place) from None
            yield from _packets(BytesIO(inner), kind, shown, depth + 1)
        else:
            yield shown, packet


def _length(stream: BinaryIO, place: str) -> int:
    size = 0
    for position in range(LONGEST_VARINT):
        byte = stream.read(1)
        if not byte:
            raise _cut(place)
        size |= (byte[0] & (MORE - 1)) << (7 * position)
        if byte[0] < MORE:
            return size
    raise FileError("has no length; the file is damaged, copy it again", place=place)


def _cut(place: str) -> FileError:
    return FileError(
        "the file ends within it; it may have been cut short, copy it again", place=place
    )
