"""Loops over lines in machine code; the module takes long to load."""

from __future__ import annotations

import numpy as np

from dfopt.solvers.compilation.compiled import compiled

Words = np.ndarray[tuple[int], np.dtype[np.int64]]

WORDS = 8
"""Words of a line."""


@compiled
def chase(chain: Words, start: int, lines: int) -> int:
    """Follow a chain of lines, each of which says where the next one begins; return the end."""
    at = start
    for _ in range(lines):
        at = chain[at]
    return at


@compiled
def read_in_order(words: Words, lines: int) -> int:
    """Read the first word of each line, in the order of their addresses."""
    total = 0
    for line in range(lines):
        total += words[line * WORDS]
    return total


@compiled
def write_lines(words: Words, lines: int) -> int:
    """Change a word of each line that is not the first one."""
    for line in range(lines):
        words[line * WORDS + 1] += 1
    return lines
