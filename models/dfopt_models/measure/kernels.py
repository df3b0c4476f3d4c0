"""Loops over lines and kernels in machine code; the module takes long to load."""

from __future__ import annotations

import numpy as np

from dfopt.solvers.compilation.compiled import compiled
from dfopt_models.measure.machine import WORDS

Words = np.ndarray[tuple[int], np.dtype[np.int64]]
Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

BLOCK = 32
"""Rows and columns of a block of a matrix."""


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


@compiled
def chase_and_change(chain: Words, start: int, lines: int) -> int:
    """Follow a chain of lines, change each of them, and return the end."""
    at = start
    for _ in range(lines):
        chain[at + 1] += 1
        at = chain[at]
    return at


@compiled
def stream(words: Words, first: int, lines: int) -> int:
    """Read and change lines one after another, in the order of their addresses."""
    for line in range(first, first + lines):
        words[line * WORDS] += 1
    return lines


@compiled
def multiply_block(left: Floats, right: Floats, product: Floats, size: int, step: int) -> int:
    """Add the product of two blocks to one of a third square matrix, whose rows follow each other.

    All steps from 0 to the cube of the number of blocks in a row are one product of matrices.
    """
    blocks = size // BLOCK
    middle = step % blocks * BLOCK
    column = step // blocks % blocks * BLOCK
    row = step // (blocks * blocks) * BLOCK
    for i in range(row, row + BLOCK):
        for k in range(middle, middle + BLOCK):
            factor = left[i * size + k]
            for j in range(column, column + BLOCK):
                product[i * size + j] += factor * right[k * size + j]
    return step
