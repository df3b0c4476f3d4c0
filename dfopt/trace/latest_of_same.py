"""For each dispatch the one before of the same task, or on the same CPU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfopt.trace.events import Flags, Integers, Numbers


def latest_of_same(key: Integers | Numbers) -> NDArray[np.intp]:
    """Return for each entry the index of the latest earlier entry that equals it, or -1."""
    # Numbers of a few bits are sorted in linear time.
    few_bits = np.result_type(*map(np.min_scalar_type, (key.min(initial=0), key.max(initial=0))))
    order = np.argsort(key.astype(few_bits), kind="stable")
    same = key[order][1:] == key[order][:-1]
    latest = np.full(len(key), -1, np.intp)
    latest[order[1:][same]] = order[:-1][same]
    return latest


def changes(value: Integers | Numbers, key: Integers | Numbers, counts: Flags) -> int:
    """Return how many entries that count have another value than the latest one of their key."""
    before = latest_of_same(key)
    return int((counts & (before >= 0) & (value[before] != value)).sum())
