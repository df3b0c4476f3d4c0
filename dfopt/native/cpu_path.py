"""The cheapest way of a CPU through a stretch of time, see ``core/cpu_path``.

The checker of proofs relies on it: like that folder it uses nothing of the searches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.native.library import INT, INTS, POINTER, ArrayOf, Functions, Made, Rows, checked, row

SERVICE = row("fragment", "earliest", "latest", "length", "reward")
STEP = row("time", "fragment", "seen", "entry")
FRAGMENT = row("entry", "leaving", "first", "last")
BLOCK = row("begin", "end")
VISIT = row("fragment", "begin")

LATER = 2**60
"""A time after all others, and a price above all others."""

_path = Functions(
    "path",
    create=(POINTER, ArrayOf(SERVICE), ArrayOf(STEP), ArrayOf(FRAGMENT), ArrayOf(BLOCK)),
    destroy=(None, POINTER),
    price=(INT, POINTER),
    services=(INT, POINTER),
    visits=(INT, POINTER),
    write=(INT, POINTER, INTS, ArrayOf(VISIT)),
)


class CheapestPath(NamedTuple):
    """The cheapest way of a CPU.

    Parameters
    ----------
    price
        What it costs.
    services
        The numbers of the services that it runs, from the last to the first one.
    visits
        Rows ``VISIT``, from the last to the first one, which begins at -``LATER``. Each ends when
        the one before it here begins.
    """

    price: int
    services: NDArray[np.int64]
    visits: Rows


def cheapest_path(services: Rows, steps: Rows, fragments: Rows, blocks: Rows) -> CheapestPath:
    """Return the cheapest way of a CPU.

    Parameters
    ----------
    services
        Rows ``SERVICE``, ordered by ``earliest``; all lengths are above 0.
    steps
        Rows ``STEP``, ordered by time.
    fragments
        A row ``FRAGMENT`` for each fragment, at least one.
    blocks
        Rows ``BLOCK``: those of the CPU, ordered and disjoint.
    """
    path = Made(_path, services, steps, fragments, blocks)
    used = np.empty(_path.services(path), np.int64)
    visits = np.empty(_path.visits(path), VISIT)
    checked(_path.write(path, used, visits))
    return CheapestPath(int(_path.price(path)), used, visits)
