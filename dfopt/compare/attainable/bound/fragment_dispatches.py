"""The dispatches of one fragment, in the order in which they can start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.least_costs import LeastCosts
from dfopt.compare.attainable.bound.permitted_starts import PermittedStarts
from dfopt.compare.dispatches import Rows
from dfopt.trace.events import Integers, Numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FragmentDispatches:
    """The dispatches of one fragment, ordered by the earliest start.

    Parameters
    ----------
    earliest, latest
        Between which times each of them starts.
    length
        Their recorded lengths.
    entry
        What an entry by each of them costs.
    latest_ordered
        The latest starts in increasing order.
    exits
        For each cost of an exit: the earliest and the latest starts of the dispatches with it,
        both in increasing order.
    first, last
        What the first and the last visit of a CPU cost at least.
    """

    earliest: Integers
    latest: Integers
    length: Integers
    entry: Integers
    latest_ordered: Integers
    exits: dict[int, tuple[Integers, Integers]]
    first: int
    last: int

    def within(self, begin: int, end: int, before: int) -> tuple[Integers, Integers, Integers]:
        """Return earliest and latest starts and lengths of some dispatches.

        They start from ``begin`` to ``end`` at the earliest, and certainly before ``before``.
        Those of no length are left out.
        """
        low, high = np.searchsorted(self.earliest, [begin, end + 1])
        earliest, latest = self.earliest[low:high], self.latest[low:high]
        length = self.length[low:high]
        member = (latest < before) & (length > 0)
        return earliest[member], latest[member], length[member]

    def startable(self, times: Integers) -> Integers:
        """Return how many can start between each time (exclusive) and the next (inclusive)."""
        begun = np.searchsorted(self.earliest, times[1:], side="right")
        over = np.searchsorted(self.latest_ordered, times[:-1], side="right")
        startable: Integers = np.maximum(begun - over, 0)
        return startable

    def unpaid_exits(self, begin: int, end: int, price: int, scale: int) -> int:
        """Return by how much exits of those that can start in a stretch are below a price."""
        unpaid = 0
        for cost, (earliest, latest) in self.exits.items():
            if cost * scale < price:
                count = np.searchsorted(earliest, end) - np.searchsorted(latest, begin)
                unpaid += (price - cost * scale) * int(count)
        return unpaid


def dispatches_by_fragment(
    arrivals: Arrivals, starts: PermittedStarts, costs: LeastCosts
) -> dict[int, FragmentDispatches]:
    """Return the dispatches of each fragment that has any."""
    fragments = {}
    for number, rows in rows_by_number(arrivals.fragment).items():
        own = rows[np.argsort(starts.earliest[rows], kind="stable")]
        earliest, latest, leaving = starts.earliest[own], starts.latest[own], costs.exit[own]
        fragments[number] = FragmentDispatches(
            earliest=earliest,
            latest=latest,
            length=arrivals.length[own],
            entry=costs.entry[own],
            latest_ordered=np.sort(latest),
            exits={
                cost: (earliest[leaving == cost], np.sort(latest[leaving == cost]))
                for cost in np.unique(leaving).tolist()
            },
            first=int(costs.first[own].min()),
            last=int(costs.last[own].min()),
        )
    return fragments


def rows_by_number(numbers: Integers | Numbers) -> dict[int, Rows]:
    """Return the rows at which each number stands in a column."""
    if not len(numbers):
        return {}
    order = np.argsort(numbers, kind="stable")
    found, begin = np.unique(numbers[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, begin[1:]), strict=True))
