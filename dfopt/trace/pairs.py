"""Pairs of numbers that stand side by side in two columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfopt.trace.events import Columns, Integers, Numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs(Columns):
    """Different pairs, in order.

    Parameters
    ----------
    first, second
        ``int32``: the two numbers, from 0 on.
    count
        ``int64``: the number of rows with this pair.
    """

    first: Numbers
    second: Numbers
    count: Integers


def pairs_of(first: NDArray[Any], second: NDArray[Any]) -> tuple[Pairs, NDArray[np.intp]]:
    """Return the pairs that two columns have, and the place among them of each row's pair."""
    key, place, count = np.unique(
        first.astype(np.int64) << 32 | second, return_inverse=True, return_counts=True
    )
    pairs = Pairs(
        first=(key >> 32).astype(np.int32),
        second=(key & 0xFFFFFFFF).astype(np.int32),
        count=count.astype(np.int64),
    )
    return pairs, place
