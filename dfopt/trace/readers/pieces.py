"""Text in pieces of whole lines, so that no file has to be in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from dfopt.errors import FileError

END_OF_LINE = ord("\n")
SIZE = 1 << 17
"""Bytes in a piece: what is made of them should stay in the processor's caches."""

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
    """Return a text in pieces of about :data:`SIZE` bytes."""
    line = 1
    while text := stream.read(SIZE):
        text += stream.readline(LONGEST_LINE)
        cut = not text.endswith(b"\n")
        if cut and len(text) >= LONGEST_LINE:
            raise FileError("is longer than any line of a trace", place=f"line {line}")
        yield Piece(first_line=line, text=text + b"\n" if cut else text, cut=cut)
        line += int(np.count_nonzero(np.frombuffer(text, np.uint8) == END_OF_LINE))
