"""The cheapest ways for CPUs through a stretch of time, at given prices.

A CPU holds one fragment at each time, and pays for each entry and each exit. For each priced
condition x(u) + e(u, v] ≥ k it is rewarded if it holds the fragment at u, and for each entry in
(u, v]. For each priced service it is rewarded when it runs the dispatch. Services do not overlap,
neither each other nor blocks of the CPU, and none follows itself directly.

Let U(t) be the rewards of a fragment's conditions with u < t, and V(t) those with v < t. A visit
that starts at s and ends at t is rewarded by U(t) - V(s). So a state is the *price* of the CPU
without U of the fragment that it holds now: it does not change while the CPU waits. Leaving the
fragment at time t adds the exit and subtracts U(t); entering another one adds its entry and V(t).
W(t) is the sum of these two.

It is enough to enter where W is about to rise, or where a service begins. And a service needs to
begin only when its dispatch becomes ready, when a block or the service before it ends, or where U
has risen or W has fallen: otherwise it could begin earlier, at the same price. Both need that no
entry is rewarded by more than it costs, U - V ≤ entry: then a visit that ends as soon as it begins
may be left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.bound.visit_costs import FORBIDDEN, TraceStretch
from dfopt.compare.dispatches import Rows
from dfopt.native.cpu_path import BLOCK, FRAGMENT, SERVICE, STEP, cheapest_path
from dfopt.native.library import rows_of
from dfopt.trace.events import Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Conditions:
    """Conditions x(begin) + e(begin, end] ≥ count of fragments in a stretch, as columns.

    Parameters
    ----------
    fragment
        Positions among the fragments of :class:`CpuPaths`.
    begin, end, count
        The intervals. Those with equal ends demand that CPUs hold the fragment then.
    """

    fragment: Rows
    begin: Integers
    end: Integers
    count: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CpuPath:
    """A cheapest way of one or more CPUs through a stretch.

    Parameters
    ----------
    cpus
        The number of CPUs for which it is the cheapest one.
    price
        What one of them pays.
    services
        Positions of its services among those that are priced.
    fragment, begin
        Its visits, from the last to the first one.
    """

    cpus: int
    price: int
    services: Rows
    fragment: Rows
    begin: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CpuPaths:
    """What visits cost in a stretch; costs are multiplied by a scale.

    The last position stands for all fragments without condition: a CPU may hold one of them first.

    Parameters
    ----------
    stretch
        The stretch.
    fragments
        Its fragments that have conditions or services, in increasing order.
    scale
        The factor of all costs.
    time, fragment, step
        When the least cost of an entry changes, of which fragment, and by how much.
    entry, leaving, opening, closing
        For each fragment: what an entry costs first, an exit, and the first and the last visit.
    """

    stretch: TraceStretch
    fragments: Integers
    scale: int
    time: Integers
    fragment: Rows
    step: Integers
    entry: Integers
    leaving: Integers
    opening: Integers
    closing: Integers

    def cheapest(
        self, conditions: Conditions, prices: Integers, services: Rows, rewards: Integers
    ) -> list[CpuPath]:
        """Return the cheapest paths of all CPUs.

        Parameters
        ----------
        conditions, prices
            Conditions, and the price of each of them.
        services, rewards
            Rows of the stretch that CPUs run, in the order of ``first``, and the price for each.
        """
        stretch = self.stretch
        priced = np.flatnonzero(prices)
        fragment, price = conditions.fragment[priced], prices[priced]
        time = np.concatenate([self.time, conditions.begin[priced] + 1, conditions.end[priced] + 1])
        order = np.argsort(time, kind="stable")
        none, no_change = np.zeros_like(price), np.zeros_like(self.step)
        steps = rows_of(
            STEP,
            time=time,
            fragment=np.concatenate([self.fragment, fragment, fragment]),
            seen=np.concatenate([no_change, price, none]),
            entry=np.concatenate([self.step, none, price]),
        )[order]
        of_services = rows_of(
            SERVICE,
            fragment=np.searchsorted(self.fragments, stretch.fragment[services]),
            earliest=stretch.first[services],
            latest=stretch.last[services],
            length=stretch.length[services],
            reward=rewards,
        )
        of_fragments = rows_of(
            FRAGMENT, entry=self.entry, leaving=self.leaving, first=self.opening, last=self.closing
        )
        # CPUs with the same blocks have the same path; without services, blocks do not matter.
        alike: dict[bytes, list[int]] = {}
        for cpu, blocks in enumerate(stretch.blocks):
            key = np.concatenate(blocks).tobytes() if len(services) else b""
            alike.setdefault(key, []).append(cpu)
        paths = []
        for cpus in alike.values():
            begins, ends = stretch.blocks[cpus[0]]
            of_blocks = rows_of(BLOCK, begin=begins, end=ends)
            found = cheapest_path(of_services, steps, of_fragments, of_blocks)
            paths.append(
                CpuPath(
                    cpus=len(cpus),
                    price=found.price,
                    services=found.services,
                    fragment=found.visits["fragment"],
                    begin=found.visits["begin"],
                )
            )
        return paths


def cpu_paths(stretch: TraceStretch, fragments: Integers, scale: int) -> CpuPaths:
    """Return what visits cost in a stretch.

    Parameters
    ----------
    stretch
        The stretch.
    fragments
        The fragments with conditions or services, in increasing order.
    scale
        The factor of all costs.
    """
    rows = np.flatnonzero(np.isin(stretch.fragment, fragments))
    number = np.searchsorted(fragments, stretch.fragment[rows])
    begin, end = stretch.begin, stretch.end - 1
    edges = np.clip(np.concatenate([stretch.first[rows] - 1, stretch.last[rows]]), begin, end)
    times = np.unique([begin, end, *edges])
    ends = np.arange(len(fragments)) * len(times)
    points = np.unique(
        np.concatenate(
            [
                ends,
                ends + len(times) - 1,
                np.tile(number, 2) * len(times) + np.searchsorted(times, edges),
            ]
        )
    )
    cost = stretch.least_entries(fragments, times, points)
    cost = np.where(cost < FORBIDDEN, cost * scale, FORBIDDEN)
    # After a fragment's last point there is no entry, so that nothing changes there.
    owner, position = np.divmod(points, len(times))
    is_first, step = position == 0, np.diff(cost, prepend=0)
    changes = np.flatnonzero(~is_first & (position < len(times) - 1) & (step != 0))

    def least(costs: Integers) -> Integers:
        found = np.full(len(fragments) + 1, FORBIDDEN)
        np.minimum.at(found, number, costs[rows] * scale)
        found[-1] = 0
        return found

    leaving = least(stretch.exit)
    return CpuPaths(
        stretch=stretch,
        fragments=fragments,
        scale=scale,
        time=times[position[changes]] + 1,
        fragment=owner[changes],
        step=step[changes],
        entry=np.append(cost[is_first], FORBIDDEN),
        leaving=leaving,
        opening=least(stretch.opening),
        # A CPU may also end with a fragment that has no condition.
        closing=np.minimum(least(stretch.closing), leaving),
    )
