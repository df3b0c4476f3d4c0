"""The cheapest way of a CPU through a stretch of time, see ``core/cpu_path``.

The checker of proofs relies on it: like that folder it uses nothing of the searches.
"""

from __future__ import annotations

from dfopt.native.library import Integers, NativeObject, Rows, native, row

SERVICE = row("fragment", "earliest", "latest", "length", "reward")
STEP = row("time", "fragment", "seen", "entry")
FRAGMENT = row("entry", "leaving", "first", "last")
BLOCK = row("begin", "end")
CONDITION = row("fragment", "begin", "end", "count")


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
    conditions
        Rows ``CONDITION``; their counts do not matter for it.
    """

    @native()
    def __init__(
        self, services: Rows, steps: Rows, fragments: Rows, blocks: Rows, conditions: Rows
    ) -> None: ...

    @native()
    def price(self) -> int:
        """Return what it costs."""

    @native()
    def met(self) -> Integers:
        """Return how often it meets each condition, and then how often it runs each service."""
