"""What the rest of a placement costs at least, as the flow without names of CPUs proves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.placement.network import PlacementNetwork, placement_network
from dfopt.compare.attainable.placement.reservations import oldest_running
from dfopt.compare.attainable.placement.timeline import FixedTimeline
from dfopt.compare.attainable.placement.unit_flow import UnitFlow, least_cost_flow, paths_of
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relaxation:
    """The best placement if CPUs could exchange their names at any time.

    Parameters
    ----------
    network, flow
        The problem as a flow, and a flow of least cost.
    prices
        What the flow proves.
    bound
        No placement costs less.
    """

    network: PlacementNetwork
    flow: UnitFlow
    prices: FuturePrices
    bound: int

    def cpus(self, units: int) -> Integers:
        """Return the CPU of each item in the flow, for a timeline on which CPUs do not differ."""
        paths = paths_of(self.network.network, self.flow, units)
        return paths[self.network.pass_arc]


def relaxation(items: FixedTimeline, check: Callable[[], None]) -> Relaxation:
    """Return the relaxation of a placement problem; ``check`` is called a few times a second."""
    network = placement_network(items)
    flow = least_cost_flow(network.network, items.cpus, check)
    prices = _future_prices(items, network, flow)
    bound = items.cpus * prices.fresh + int(prices.remaining[0])
    return Relaxation(network=network, flow=flow, prices=prices, bound=bound)


def _future_prices(items: FixedTimeline, network: PlacementNetwork, flow: UnitFlow) -> FuturePrices:
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


def _while_running(items: FixedTimeline) -> Integers:
    """Return 1 for each cut at which an item may run on its CPU, otherwise 0."""
    running = np.zeros(len(items.cut_time), np.int64)
    oldest = np.append(0, oldest_running(items))
    begun = np.searchsorted(items.start, items.cut_time)
    for number, (cpu, time) in enumerate(zip(items.cut_cpu, items.cut_time, strict=True)):
        near = slice(oldest[begun[number]], begun[number])
        running[number] = (items.allowed[near, cpu] & (items.end[near] > time)).any()
    return running
