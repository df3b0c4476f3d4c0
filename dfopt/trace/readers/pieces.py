"""Text in pieces of whole lines, so that no file has to be in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from dfopt.errors import FileError

SIZE = 1 << 20
LONGEST_LINE = 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some lines that follow each other.

    Parameters
    ----------
    first_line
        Number of the first one in the file, counted from 1.
    text
        The lines, each with its end.
    cut
        Whether the file ends within the last of them; its end was added.
    """

    first_line: int
    text: bytes
    cut: bool = False


def pieces_of(stream: BinaryIO) -> Iterator[Piece]:
    """Return a text in pieces of about a MiB."""
    line, rest = 1, b""
    while text := stream.read(SIZE):
        text = rest + text
        end = text.rfind(b"\n") + 1
        text, rest = text[:end], text[end:]
        if len(rest) > LONGEST_LINE:
            raise FileError("is longer than any line of a trace", place=f"line {line}")
        if text:
            yield Piece(first_line=line, text=text)
            line += text.count(b"\n")
    if rest:
        yield Piece(first_line=line, text=rest + b"\n", cut=True)
