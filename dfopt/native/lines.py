"""Caches of lines, least recently used first out, and passes over lines: ``core/lines``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dfopt.native.library import Integers, NativeObject, Rows, native, row

LINE = row("older", "newer", "state", of=np.int32)
LEDGER = row(
    *("misses", "shared_hits", "write_backs", "invalidations", "touched", "far_hits"),
    *("used", "capacity", "shared"),
)
TIMES = row("miss", "shared_hit", "write_back", "sequential_miss", "far_hit")

BLOCK = 32
"""Rows and columns of a block of a matrix."""

Floats = NDArray[np.float64]


class Caches(NativeObject):
    """The lines that each cache holds: one cache for each CPU, then the shared ones.

    Parameters
    ----------
    memory
        The number of lines of the memory.
    capacity
        How many lines each cache can hold; perhaps none.
    shared
        For each cache the one that its CPU shares with others; a shared cache has itself.
    times
        The times ``TIMES``; a far hit of -1 is not asked for.

    Raises
    ------
    MemoryError
        If the lines do not fit into memory.
    """

    def __init__(
        self,
        memory: int,
        capacity: Sequence[int],
        shared: Sequence[int],
        times: tuple[int, int, int, int, int],
    ) -> None:
        # Zeros take no memory until they are touched, so only the ends get another value.
        lines = np.zeros((len(capacity), memory + 1), LINE)
        lines[:, memory] = memory, memory, 0
        self.ledger: Rows = np.zeros(len(capacity), LEDGER)
        self.ledger["capacity"], self.ledger["shared"] = capacity, shared
        arrays = lines, np.zeros(memory, np.int32), self.ledger
        super().__init__(*arrays, np.array([times], TIMES))

    @native()
    def touch(self, cpu: int, first: int, number: int, leaves: int) -> int:
        """Let a CPU use lines one after the other, and return the time that this takes.

        Unless ``leaves`` is CLEAN, all of them are written, and, if it is INVALIDATED, written back
        at once.
        """


@native()
def chase(chain: Integers, start: int, lines: int) -> int:
    """Follow a chain of lines, each of which says where the next one begins; return the end."""


@native()
def read_in_order(words: Integers, lines: int) -> None:
    """Read the first word of each line, in the order of their addresses."""


@native()
def change(words: Integers, first: int, lines: int, word: int) -> None:
    """Change a word of lines one after another, in the order of their addresses."""


@native()
def chase_and_change(chain: Integers, start: int, lines: int) -> int:
    """Follow a chain of lines, change each of them, and return the end."""


@native()
def multiply_block(left: Floats, right: Floats, product: Floats, size: int, step: int) -> None:
    """Add the product of two blocks to one of a third square matrix, whose rows follow each other.

    All steps from 0 to the cube of the number of blocks in a row are one product of matrices.
    """
