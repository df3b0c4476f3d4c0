"""The CPUs of dispatches that keep their starts, or only their order: the best ones, and a rule's.

Without blocks and cuts no CPU differs from another, and a flow is the best placement. Otherwise
dynamic programming goes through the starts and keeps states: what each CPU runs or holds. All
placements that lead to one state are alike for the rest, so only the cheapest one is kept. If too
many states remain, those stay that promise most: their cost, and what the rest costs each CPU at
least. Then groups of three or four CPUs exchange what they run, as a smaller problem of the same
kind (a large-neighbourhood search, Shaw 1998).

Where only the order is kept and a CPU is busy, its next dispatch waits, and so do those that come
after it. So times do not matter. Under equal costs this is paging: CPUs are slots, fragments are
pages, and a change is a fault. The best placement is a flow. The rule "on the CPU that holds the
fragment, else on the one that was least recently used" needs no look-ahead, and in the worst case
no such rule is better (Sleator and Tarjan 1985).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter, getitem
from random import Random
from typing import NamedTuple

import numpy as np

from dfopt.compare.attainable.check import WaitingLimit, check_schedule
from dfopt.compare.attainable.placement_flow import FAR, SOURCE, CpuPrices, PlacementNetwork
from dfopt.compare.comparison_parts import OrderKept
from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.errors import DfoptError
from dfopt.structs import Record, replace
from dfopt.trace.events import Flags
from dfopt.trace.trace import UNMANAGED

WIDTH, WIDEST, MOST_KEPT = 16, 256, 800_000
"""For groups at most 16 states are kept after each item. For all CPUs more are kept if there are
few items and CPUs: up to 256, as long as states times items times CPUs are no more than 800,000."""

GROUPS = (3, 4)
"""Numbers of CPUs that exchange what they run."""

FAILURES = 200
"""No further group is tried if 200 in succession found nothing cheaper."""

MOST_STATES = 300_000
"""No further group is tried after about 300,000 states."""

USUAL_ARCS, MOST_FOR_A_FLOW = 5, 5_000_000
"""No best placement is looked for if its network has more than about 5,000,000 arcs: five for each
item and CPU, or under a matrix one for each item, CPU and type."""


class BestPlacement(Record):
    """A schedule that keeps all starts, and what no such schedule falls below.

    Parameters
    ----------
    schedule
        The schedule.
    bound
        No schedule with these starts costs less; if it equals the schedule's cost, this is proven
        to be the best one. None if there are too many dispatches.
    """

    schedule: Dispatches
    bound: int | None


def best_placement(dispatches: Dispatches) -> BestPlacement:
    """Return the best CPUs for dispatches that start as recorded.

    Raises
    ------
    DfoptError
        When dispatches or blocks overlap on a CPU.

    Returns
    -------
    BestPlacement
        The schedule costs at most as much as the recorded one.
    """
    for problem in check_schedule(dispatches, WaitingLimit()):
        raise DfoptError(problem)
    network = timeline_of(dispatches)
    found = best_cpus(network)
    if found is not None:
        return BestPlacement(schedule=_placed(dispatches, network, found[0]), bound=found[1])
    cpus = min(network.items.cpu.tolist(), cpus_by_rule(network), key=network.cost)
    return BestPlacement(schedule=_placed(dispatches, network, cpus), bound=None)


def least_recently_used(dispatches: Dispatches) -> Dispatches:
    """Return the recorded starts with the CPUs of the rule "affinity, else least recently used"."""
    network = timeline_of(dispatches)
    return _placed(dispatches, network, cpus_by_rule(network))


def _placed(dispatches: Dispatches, network: PlacementNetwork, cpus: Sequence[int]) -> Dispatches:
    chosen = np.empty(len(cpus), np.int32)
    chosen[network.order] = cpus
    return dispatches.moved(chosen[: len(dispatches)], dispatches.start)


def order_kept_of(dispatches: Dispatches) -> OrderKept:
    """Return what dispatches cost at least that start in their order, and what LRU costs.

    All of them may change the CPU, those of tasks without a fragment that evict, too.
    """
    anywhere = np.ones((len(dispatches), dispatches.cpus), bool)
    network = PlacementNetwork(in_ranks(dispatches), anywhere)
    online = network.cost(cpus_by_rule(network))
    found = best_cpus(network)
    if found is None:
        return OrderKept(online=online, best=None, bound=None)
    return OrderKept(online=online, best=min(network.cost(found[0]), online), bound=found[1])


def in_ranks(dispatches: Dispatches) -> Dispatches:
    """Return dispatches of which each starts and ends before the next one starts.

    Their times are their ranks.
    """
    cuts, count = dispatches.cuts, len(dispatches)
    return replace(
        dispatches,
        start=np.arange(count),
        length=np.zeros(count, np.int64),
        cuts=replace(cuts, time=np.searchsorted(dispatches.start, cuts.time)),
    )


def timeline_of(dispatches: Dispatches) -> PlacementNetwork:
    """Return what is to be placed if every dispatch starts as it does."""
    paying = dispatches.paying
    allowed = _without_fixed(paying, dispatches.fixed)
    is_fixed = np.arange(len(paying)) >= len(dispatches)
    allowed[is_fixed] = paying.cpu[is_fixed, None] == np.arange(dispatches.cpus)
    return PlacementNetwork(paying, allowed)


def _without_fixed(items: Dispatches, fixed: Dispatches) -> Flags:
    """Return whether on each CPU nothing is fixed between the start and the end of each item."""
    free = np.ones((len(items), items.cpus), bool)
    for cpu in np.unique(fixed.cpu).tolist():
        own = fixed.chosen(fixed.cpu == cpu)
        # Of what starts before an item ends, does any end after the item starts?
        number = np.searchsorted(own.start, items.end, side="left")
        latest_end = np.maximum.accumulate(own.end)
        free[:, cpu] = (number == 0) | (latest_end[np.maximum(number, 1) - 1] <= items.start)
    return free


class _Rooms:
    """The CPUs that items may take, if some of them keep what they were given.

    Parameters
    ----------
    network
        The items.
    given
        A CPU for each item. No two items that overlap have the same one, so that each may keep it.
    moving
        The CPUs whose items may move to any other of them.
    """

    def __init__(
        self, network: PlacementNetwork, given: Sequence[int], moving: Sequence[int]
    ) -> None:
        self._start, self._end = network.items.start.tolist(), network.items.end.tolist()
        self._longest = int(network.items.length.max(initial=0))
        self._given = given
        self.moving = set(moving)
        allowed = [np.flatnonzero(row).tolist() for row in network.allowed]
        self.of = [
            [one for one in moving if one in row] if cpu in self.moving else [cpu]
            for cpu, row in zip(given, allowed, strict=True)
        ]

    def reserve(self, item: int) -> int:
        """Let an item keep its CPU, and take that from those before it; return the first of them.

        Both change what is possible from there on.
        """
        cpu, first = self._given[item], item
        self.of[item] = [cpu]
        earliest = self._start[item] - self._longest
        for other in range(bisect_left(self._start, earliest), item):
            if self._end[other] > self._start[item] and cpu in self.of[other]:
                self.of[other].remove(cpu)
                first = min(first, other)
        return first


def cpus_by_rule(network: PlacementNetwork) -> list[int]:
    """Return the CPU of each item by the rule "affinity, else least recently used".

    Each item takes the idle CPU whose last item used its fragment and ended last; if there is none,
    the idle CPU that was not used for the longest time. What keeps its time limits the choice: a
    CPU with a block during the item counts as busy, although the block may lie in the future. Where
    the choices leave a later item without a CPU, that item keeps the recorded one, and those before
    it avoid it.
    """
    items, fragment = network.items, [*network.fragment, NONE]
    rooms = _Rooms(network, items.cpu.tolist(), range(items.cpus))
    start, end = items.start.tolist(), [*items.end.tolist(), -FAR]
    states = [(len(start),) * items.cpus]  # the last item of each CPU
    cpus: list[int] = []
    while len(cpus) < len(start):
        item, state = len(cpus), states[-1]
        ranks = [
            (0, -end[last], cpu) if holds else (1, end[last], cpu)
            for cpu, last in ((cpu, state[cpu]) for cpu in rooms.of[item])
            if end[last] <= start[item]
            for holds in [fragment[last] == fragment[item] != UNMANAGED]
        ]
        if ranks:
            cpu = min(ranks)[-1]
            cpus.append(cpu)
            states.append((*state[:cpu], item, *state[cpu + 1 :]))
        else:
            back = rooms.reserve(item)
            del cpus[back:], states[back + 1 :]
    return cpus


def best_cpus(network: PlacementNetwork) -> tuple[list[int], int] | None:
    """Return the best CPUs of items that were found, and a bound; None if there are too many."""
    items, cpus = network.items, network.items.cpus
    if len(items) * cpus * max(USUAL_ARCS, len(network.matrix)) > MOST_FOR_A_FLOW:
        return None
    prices = CpuPrices(network)
    if not len(items.cuts.time) and network.allowed.all():
        return prices.cpus(), prices.bound
    given = items.cpu.tolist()
    cost = network.cost(given)
    first = PlacementSearch(prices, _Rooms(network, given, range(cpus)))
    found = first.cheaper_than(cost, max(WIDTH, min(WIDEST, MOST_KEPT // (len(items) * cpus))))
    bound = max(prices.bound, min(cost, first.bound))
    random, failures, states = Random(0), 0, 0
    if found is not None:
        given, cost = found
    while cpus > min(GROUPS) and bound < cost and states < MOST_STATES and failures < FAILURES:
        size = min(random.choice(GROUPS), cpus - 1)
        search = PlacementSearch(prices, _Rooms(network, given, random.sample(range(cpus), size)))
        found = search.cheaper_than(cost, WIDTH)
        states += search.states
        failures += 1
        if found is not None:
            given, cost = found
            failures = 0
    return given, bound


class _State(NamedTuple):
    """What CPUs run or hold after an item, and how it arose.

    Parameters
    ----------
    promise
        No placement by way of it costs less.
    cost
        Paid so far.
    before, cpu
        The number of the state before the item, and the CPU of the item.
    nodes
        Where each CPU is in the network; if it runs something, where it will be after that.
    """

    promise: int
    cost: int
    before: int
    cpu: int
    nodes: tuple[int, ...]


class PlacementSearch:
    """The dynamic program.

    Attributes
    ----------
    bound
        No placement that is cheaper than what was known costs less.
    states
        The number of states so far, of items that have a choice.
    """

    def __init__(self, prices: CpuPrices, rooms: _Rooms) -> None:
        self._network, self._rest, self._rooms = prices.network, prices.rest, rooms
        self._to_come = [*accumulate(reversed(prices.worth), initial=0)][::-1]
        cut = {cpu for cuts in prices.network.cuts for cpu in cuts}
        alike = rooms.moving - cut
        # The last item at which each CPU is one of few that are possible, or that are not.
        cpus = range(len(prices.rest))
        self._last_named = [-1 if cpu in alike else len(rooms.of) for cpu in cpus]
        for item, of in enumerate(rooms.of):
            few = 2 * len(of) <= len(rooms.moving)
            for cpu in of if few else rooms.moving.difference(of):
                self._last_named[cpu] = max(item, self._last_named[cpu])
        self.bound, self.states = FAR, 0

    def cheaper_than(self, known: int, width: int) -> tuple[list[int], int] | None:
        """Return CPUs that cost less than what is known, and their cost; None if none are found."""
        count = len(self._rooms.of)
        layers = [[_State(0, 0, 0, 0, (SOURCE,) * len(self._rest))]]
        while len(layers) <= count:
            item = len(layers) - 1
            states, is_pruned = self._after(item, layers[-1], known)
            self.states += len(states) * (len(self._rooms.of[item]) > 1)
            if len(states) > width:
                states.sort(key=attrgetter("promise"))
                self.bound = min(self.bound, states[width].promise)
                del states[width:]
            if states:
                layers.append(states)
            elif is_pruned or self.bound == FAR:
                # Where nothing was left aside, all other ways lead nowhere or are too costly.
                return None
            else:
                self.bound = 0
                del layers[self._rooms.reserve(item) + 1 :]
        content = self._network.content
        ends = self._merged(count, layers[-1])
        cost, before = min(
            (cost + sum(content[node].last for node in nodes), before)
            for nodes, (cost, before) in ends.items()
        )
        if cost >= known:
            return None
        self.bound = min(self.bound, cost)
        cpus = []
        for layer in reversed(layers[1:]):
            state = layer[before]
            cpus.append(state.cpu)
            before = state.before
        return cpus[::-1], cost

    def _merged(
        self, item: int, states: Sequence[_State]
    ) -> dict[tuple[int, ...], tuple[int, int]]:
        """Return where CPUs are when an item begins, the least cost of that, and its state."""
        alike, begin = self._network.alike, self._network.begin[item]
        cuts = self._network.cuts[item]
        latest: dict[int, int] = {}
        merged: dict[tuple[int, ...], tuple[int, int]] = {}
        for before, state in enumerate(states):
            nodes = state.nodes
            if cuts:
                nodes = tuple([max(node, cuts.get(cpu, 0)) for cpu, node in enumerate(nodes)])
            for node in nodes:
                if node not in latest:
                    same = alike[node]
                    is_idle = node < begin
                    latest[node] = same[bisect_left(same, begin) - 1] if is_idle else node
            nodes = tuple(map(latest.__getitem__, nodes))
            if nodes not in merged or state.cost < merged[nodes][0]:
                merged[nodes] = state.cost, before
        return merged

    def _after(self, item: int, states: Sequence[_State], known: int) -> tuple[list[_State], bool]:
        """Return the states after an item, and whether others were too costly."""
        network = self._network
        now = network.begin[item]
        children: dict[tuple[int, ...], _State] = {}
        is_pruned = False
        # CPUs that are alike from here on.
        named = [cpu for cpu, last in enumerate(self._last_named) if last > item]
        unnamed = [cpu for cpu, last in enumerate(self._last_named) if last <= item]
        for nodes, (cost, before) in self._merged(item, states).items():
            rest = self._to_come[item + 1] + sum(map(getitem, self._rest, nodes))
            for cpu in self._rooms.of[item]:
                node = nodes[cpu]
                if node > now:
                    continue
                paid = cost + network.switch_cost(network.content[node], item)
                after = network.after(item, cpu)
                promise = paid + rest + self._rest[cpu][after] - self._rest[cpu][node]
                if promise >= known:
                    is_pruned = True
                    continue
                moved = (*nodes[:cpu], after, *nodes[cpu + 1 :])
                key = *(moved[cpu] for cpu in named), *sorted(moved[cpu] for cpu in unnamed)
                if key not in children or promise < children[key].promise:
                    children[key] = _State(promise, paid, before, cpu, moved)
        return [*children.values()], is_pruned
