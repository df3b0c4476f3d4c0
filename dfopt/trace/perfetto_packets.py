"""Packets of Perfetto's traces: their classes, and their form in a file."""

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
"""The bit of a varint's byte that says that another byte follows."""

LARGEST_PACKET = (1 << 28) - 1
"""Bytes of the longest packet: Perfetto writes lengths as four bytes of seven bits each."""

AT_ONCE = 1 << 20
"""At most this many bytes of a packet are read together."""

MOST_INFLATED = 1 << 26
"""A packet that unpacks to more bytes than this is damaged: Perfetto compresses 512 KiB at once."""

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
            "Perfetto's traces need a package more; type 'make venv' in a checkout, or "
            "python -m pip install 'dfopt[perfetto]' in dfopt's environment"
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


class PacketCutError(FileError):
    """The file ends within a packet.

    Parameters
    ----------
    number
        The number of the packet, counted from 1.
    """

    def __init__(self, number: int) -> None:
        super().__init__(
            "the file ends within it; it may have been cut short, copy it again",
            place=f"packet {number}",
        )
        self.number = number


def packets(stream: BinaryIO) -> Iterator[tuple[int, Any]]:
    """Yield the packets of a file with their numbers, counted from 1.

    Packets that are compressed together are unpacked. They have the number of the packet that
    held them. The lengths in the file are not trusted: the memory taken is at most the size of the
    file.

    Raises
    ------
    PacketCutError
        When the file ends within a packet. All packets before it have been yielded.
    FileError
        When the file holds something else than packets.
    """
    from google.protobuf.message import DecodeError

    packet_class = perfetto_classes().TracePacket
    for number, data in _messages(stream):
        try:
            for message in _unpacked(packet_class, data):
                yield number, message
        except DecodeError:
            raise FileError(
                "cannot be decoded; the file is damaged, copy it again", place=f"packet {number}"
            ) from None
        except PacketCutError:
            raise FileError(
                "is damaged (what is compressed in it ends too early); copy it again",
                place=f"packet {number}",
            ) from None
        except FileError as error:
            raise FileError(error.problem, place=f"packet {number}") from None


def _unpacked(packet_class: Any, data: bytes, depth: int = 0) -> Iterator[Any]:
    """Yield the packet in these bytes, or the packets that are compressed in it."""
    packet = packet_class.FromString(data)
    if not packet.HasField("compressed_packets"):
        yield packet
        return
    if depth == DEEPEST_COMPRESSION:
        raise FileError("is compressed again and again")
    for _, inner in _messages(BytesIO(_inflated(packet.compressed_packets))):
        yield from _unpacked(packet_class, inner, depth + 1)


def _inflated(data: bytes) -> bytes:
    inflating = zlib.decompressobj()
    try:
        inflated = inflating.decompress(data, MOST_INFLATED)
    except zlib.error as error:
        raise FileError(f"is damaged ({error}); copy it again") from None
    if inflating.unconsumed_tail:
        raise FileError("unpacks to more than 64 MiB; the file is damaged, copy it again")
    if not inflating.eof:
        raise FileError("is damaged (what is compressed in it ends too early); copy it again")
    return inflated


def _messages(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes of the packets in a stream, without tag and length, with their numbers."""
    number = 0
    while tag := stream.read(1):
        number += 1
        place = f"packet {number}"
        if tag != PACKET_TAG:
            raise FileError(
                "is no packet of a trace; the file is damaged, copy it again", place=place
            )
        size = _length(stream, number)
        if size > LARGEST_PACKET:
            raise FileError(
                f"claims to have {size} bytes; the file is damaged, copy it again", place=place
            )
        yield number, _read(stream, size, number)


def _length(stream: BinaryIO, number: int) -> int:
    size = 0
    for position in range(LONGEST_VARINT):
        byte = stream.read(1)
        if not byte:
            raise PacketCutError(number)
        size |= (byte[0] & (MORE - 1)) << (7 * position)
        if byte[0] < MORE:
            return size
    raise FileError("has no length; the file is damaged, copy it again", place=f"packet {number}")


def _read(stream: BinaryIO, size: int, number: int) -> bytes:
    """Return the next bytes of a stream; ask for memory only as far as the stream has them."""
    if size <= AT_ONCE:
        data = stream.read(size)
    else:
        parts = []
        left = size
        while left and (part := stream.read(min(left, AT_ONCE))):
            parts.append(part)
            left -= len(part)
        data = b"".join(parts)
    if len(data) < size:
        raise PacketCutError(number)
    return data
