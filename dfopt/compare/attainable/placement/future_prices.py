"""What the rest of a placement costs at least, as the flow without names of CPUs proves it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.placement.network import PlacementNetwork
from dfopt.compare.attainable.placement.reservations import oldest_running
from dfopt.compare.attainable.placement.timeline import Timeline
from dfopt.compare.attainable.placement.unit_flow import UnitFlow
from dfopt.trace.events import Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FuturePrices:
    """What the rest costs at least: a sum over the CPUs, and a sum over what is to come.

    Parameters
    ----------
    fresh
        For a CPU before its first item.
    after
        For a CPU that runs an item or holds its content, at its end.
    forgot
        For an idle CPU after each cut.
    remaining
        For the items from each one on, and the cuts that are to come.
    surprise
        A cut while an item runs saves at most this.
    """

    fresh: int
    after: Integers
    forgot: Integers
    remaining: Integers
    surprise: int

    def whole(self, cpus: int) -> int:
        """Return what all items cost at least on a number of CPUs."""
        return cpus * self.fresh + int(self.remaining[0])


def future_prices(items: Timeline, network: PlacementNetwork, flow: UnitFlow) -> FuturePrices:
    """Return the prices that a flow proves.

    The cost of any path from a node to the sink is at least the difference of their prices, plus
    the (negative) reduced costs of the single arcs that it passes. Each of these arcs is passed
    once at most, and those of the items exactly once.
    """
    price, arcs = flow.price, network.network
    reduced = arcs.cost + price[arcs.tail] - price[arcs.head]
    by_item = reduced[network.pass_arc] + network.reward
    by_cut = np.minimum(reduced[network.cut_arc], 0)
    surprise = int(items.content_last.max(initial=0))
    if items.matrix.size:
        surprise = max(surprise, int(items.matrix.max()))
    else:
        leaving = (items.content_always + items.content_exit).max(initial=0)
        surprise = max(surprise, int(leaving + items.entry.max(initial=0)))
    passed = items.cuts_before
    to_come = np.append(np.cumsum(by_cut[::-1])[::-1], 0)[passed]
    surprises = np.append(np.cumsum(_while_running(items)[::-1])[::-1], 0)[passed]
    items_to_come = np.append(np.cumsum(by_item[::-1])[::-1], 0)
    return FuturePrices(
        fresh=int(price[-1] - price[0]),
        after=price[-1] - price[network.end],
        forgot=price[-1] - price[network.forgot],
        remaining=items_to_come + to_come - surprise * surprises,
        surprise=surprise,
    )


def _while_running(items: Timeline) -> Integers:
    """Return 1 for each cut at which an item may run on its CPU, otherwise 0."""
    running = np.zeros(len(items.cut_time), np.int64)
    oldest = np.append(0, oldest_running(items))
    begun = np.searchsorted(items.start, items.cut_time)
    for number, (cpu, time) in enumerate(zip(items.cut_cpu, items.cut_time, strict=True)):
        near = slice(oldest[begun[number]], begun[number])
        running[number] = (items.allowed[near, cpu] & (items.end[near] > time)).any()
    return running
