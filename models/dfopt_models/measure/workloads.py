"""Kernels in machine code whose penalties are measured; the module takes long to load."""

from __future__ import annotations

import numpy as np

from dfopt.solvers.compilation.compiled import compiled
from dfopt_models.measure.kernels import WORDS, Words

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

BLOCK = 32
"""Rows and columns of a block of a matrix."""


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
def multiply_block(left: Floats, right: Floats, product: Floats, size: int, block: int) -> int:
    """Add to one block of a product of two square matrices, whose rows follow each other."""
    blocks = size // BLOCK
    row, column = block // blocks * BLOCK, block % blocks * BLOCK
    for middle in range(0, size, BLOCK):
        for i in range(row, row + BLOCK):
            for k in range(middle, middle + BLOCK):
                factor = left[i * size + k]
                for j in range(column, column + BLOCK):
                    product[i * size + j] += factor * right[k * size + j]
    return block
