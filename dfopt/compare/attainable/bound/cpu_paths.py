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
from heapq import heappop, heappush

import numpy as np

from dfopt.compare.attainable.bound.visit_costs import FORBIDDEN, TraceStretch
from dfopt.compare.dispatches import Rows
from dfopt.solvers.compilation.compiled import compiled
from dfopt.trace.events import Integers

LATER = 2**60
"""A time after all others, and a price above all others."""


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
        inputs = (
            np.searchsorted(self.fragments, stretch.fragment[services]),
            stretch.first[services],
            stretch.last[services],
            stretch.length[services],
            rewards,
            time[order],
            np.concatenate([self.fragment, fragment, fragment])[order],
            np.concatenate([no_change, price, none])[order],
            np.concatenate([self.step, none, price])[order],
            self.entry,
            self.leaving,
            self.opening,
            self.closing,
        )
        # CPUs with the same blocks have the same path; without services, blocks do not matter.
        alike: dict[bytes, list[int]] = {}
        for cpu, blocks in enumerate(stretch.blocks):
            key = np.concatenate(blocks).tobytes() if len(services) else b""
            alike.setdefault(key, []).append(cpu)
        paths = []
        for cpus in alike.values():
            cost, used, visited, visits = cheapest_path(*inputs, *stretch.blocks[cpus[0]])
            paths.append(
                CpuPath(
                    cpus=len(cpus), price=int(cost), services=used, fragment=visited, begin=visits
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


@compiled
def cheapest_path(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    fragment: Rows,
    earliest: Integers,
    latest: Integers,
    length: Integers,
    reward: Integers,
    step_time: Integers,
    step_fragment: Rows,
    step_seen: Integers,
    step_entry: Integers,
    entry: Integers,
    leaving: Integers,
    first: Integers,
    last: Integers,
    block_begin: Integers,
    block_end: Integers,
) -> tuple[int, Rows, Rows, Integers]:
    """Return the least price, and the services and visits that have it.

    Parameters
    ----------
    fragment, earliest, latest, length, reward
        The services, ordered by ``earliest``; all lengths are above 0.
    step_time, step_fragment, step_seen, step_entry
        From the time on, U and W of the fragment are larger by these numbers. Ordered by time.
    entry
        W of each fragment before all steps.
    leaving, first, last
        For each fragment: what an exit costs, and its first and last visit.
    block_begin, block_end
        The blocks of the CPU, ordered and disjoint.

    Returns
    -------
    tuple
        The price; the rows of its services; fragment and begin of each visit from the last one to
        the first one. Each visit ends where the one that is listed before it begins.
    """
    fragments = len(entry)
    seen, entering = np.zeros(fragments, np.int64), entry.copy()
    # For each fragment the cheapest state and the cheapest one after another dispatch, each with
    # its label. Labels below 0 stand for what is held first.
    price, other = first.copy(), np.full(fragments, LATER)
    label, other_label = -1 - np.arange(fragments), np.zeros(fragments, np.int64)
    after = np.full(fragments, -1)
    dispatches, befores, begins = [-1], [-1], [-1]
    prices, held = [0], [0]
    ends = [(LATER, 0)]
    begun = np.full(len(reward), LATER)
    waiting = np.empty(len(reward), np.int64)
    count = row = step = rise = block = 0
    while True:
        time = ends[0][0]
        if step < len(step_time):
            time = min(time, step_time[step])
        if rise < len(step_time):
            time = min(time, step_time[rise] - 1)
        if row < len(reward):
            time = min(time, earliest[row])
        if block < len(block_end):
            time = min(time, block_end[block])
        if time == LATER:
            break
        is_changed = False
        while ends[0][0] == time:
            _, found = heappop(ends)
            dispatch, own, cost = dispatches[found], held[found], prices[found]
            if cost < price[own]:
                if after[own] != dispatch:
                    other[own], other_label[own] = price[own], label[own]
                price[own], label[own], after[own] = cost, found, dispatch
                is_changed = True
            elif after[own] != dispatch and cost < other[own]:
                other[own], other_label[own] = cost, found
                is_changed = True
        while step < len(step_time) and step_time[step] == time:
            seen[step_fragment[step]] += step_seen[step]
            entering[step_fragment[step]] += step_entry[step]
            is_changed = is_changed or step_seen[step] > 0 or step_entry[step] < 0
            step += 1
        while block < len(block_end) and block_end[block] <= time:
            block += 1
            is_changed = True
        # The cheapest fragment to leave, and the next cheapest one.
        best, second = -1, -1
        for own in range(fragments):
            cost = price[own] + leaving[own] - seen[own]
            if best < 0 or cost < price[best] + leaving[best] - seen[best]:
                best, second = own, best
            elif second < 0 or cost < price[second] + leaving[second] - seen[second]:
                second = own
        while rise < len(step_time) and step_time[rise] - 1 == time:
            own = step_fragment[rise]
            if step_entry[rise] > 0 and own != best:
                cost = price[best] + leaving[best] - seen[best] + entering[own]
                if cost < price[own]:
                    dispatches.append(-1)
                    befores.append(label[best])
                    begins.append(time)
                    prices.append(cost)
                    held.append(own)
                    if after[own] >= 0:
                        other[own], other_label[own] = price[own], label[own]
                    price[own], label[own], after[own] = cost, len(held) - 1, -1
                    is_changed = True
            rise += 1
        new = count
        while row < len(reward) and earliest[row] == time:
            waiting[count] = row
            count += 1
            row += 1
        if not is_changed and new == count:
            continue
        free_until = LATER
        if block < len(block_end):
            free_until = block_begin[block]
        kept = 0
        for position in range(count):
            dispatch = waiting[position]
            if latest[dispatch] < time:
                continue
            waiting[kept] = dispatch
            kept += 1
            if time + length[dispatch] > free_until or (position < new and not is_changed):
                continue
            own = fragment[dispatch]
            cost, before, begin = price[own], label[own], -LATER
            if after[own] == dispatch:
                cost, before = other[own], other_label[own]
            source = second if best == own else best
            if source >= 0:
                change = price[source] + leaving[source] - seen[source] + entering[own]
                if change < cost:
                    cost, before, begin = change, label[source], time
            if cost < begun[dispatch]:
                begun[dispatch] = cost
                dispatches.append(dispatch)
                befores.append(before)
                begins.append(begin)
                prices.append(cost - reward[dispatch])
                held.append(own)
                heappush(ends, (time + length[dispatch], len(held) - 1))
        count = kept
    final = np.argmin(price + last - seen)
    services, visits, starts = [-1], [-1], [-1]
    found = label[final]
    while found >= 0:
        if dispatches[found] >= 0:
            services.append(dispatches[found])
        if begins[found] != -LATER:
            visits.append(held[found])
            starts.append(begins[found])
        found = befores[found]
    visits.append(-1 - found)
    starts.append(-LATER)
    return (
        price[final] + last[final] - seen[final],
        np.array(services)[1:],
        np.array(visits)[1:],
        np.array(starts)[1:],
    )
