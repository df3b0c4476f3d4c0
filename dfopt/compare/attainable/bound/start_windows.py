"""The times between which each dispatch starts in every schedule within a waiting limit."""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.compare.dispatches import Rows
from dfopt.trace.events import Integers, Numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StartWindows:
    """Dispatches of a trace, and the times between which they start.

    Parameters
    ----------
    dispatch
        Rows of the arrivals.
    fragment
        Their fragments.
    first, last
        Each starts from ``first`` to ``last``, in every schedule within the limit.
    length
        The recorded length; not used by a bound that holds for all lengths.
    """

    dispatch: Rows
    fragment: Numbers
    first: Integers
    last: Integers
    length: Integers

    def part(self, rows: Rows) -> StartWindows:
        """Return some of the dispatches."""
        return StartWindows(
            dispatch=self.dispatch[rows],
            fragment=self.fragment[rows],
            first=self.first[rows],
            last=self.last[rows],
            length=self.length[rows],
        )

    @property
    def seen_from(self) -> Integers:
        """Times at which a CPU holds the fragment, unless a visit to it starts after them.

        A dispatch without any length may end a visit at the very moment at which it is ready: it is
        looked at one unit of time before.
        """
        times: Integers = self.first - (self.length == 0)
        return times
