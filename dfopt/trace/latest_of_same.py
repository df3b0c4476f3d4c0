"""For each dispatch the one before of the same task, or on the same CPU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfopt.trace.events import Numbers


def latest_of_same(key: Numbers) -> NDArray[np.intp]:
    """Return for each entry the index of the latest earlier entry that equals it, or -1."""
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    latest = np.full(len(key), -1, np.intp)
    latest[order[1:][same]] = order[:-1][same]
    return latest
