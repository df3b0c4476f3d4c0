"""The cheapest way of a CPU through a stretch of time, see ``core/cpu_path``.

The checker of proofs relies on it: like that folder it uses nothing of the searches.
"""

from __future__ import annotations

from dfopt.native.library import Integers, NativeObject, Rows, native, row

SERVICE = row("fragment", "earliest", "latest", "length", "reward")
STEP = row("time", "fragment", "seen", "entry")
FRAGMENT = row("entry", "leaving", "first", "last")
BLOCK = row("begin", "end")
VISIT = row("fragment", "begin")

LATER = 2**60
"""A time after all others, and a price above all others."""


class CheapestPath(NativeObject):
    """The cheapest way of a CPU.

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

    @native()
    def __init__(self, services: Rows, steps: Rows, fragments: Rows, blocks: Rows) -> None: ...

    @native()
    def price(self) -> int:
        """Return what it costs."""

    @native()
    def services(self) -> Integers:
        """Return the numbers of the services that it runs, from the last to the first one."""

    @native(VISIT)
    def visits(self) -> Rows:
        """Return rows ``VISIT``, from the last to the first one, which begins at -``LATER``.

        Each ends when the one before it here begins.
        """
