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
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter, getitem, sub
from random import Random
from typing import NamedTuple

import numpy as np

from dfopt.compare.attainable.check import WaitingLimit, check_schedule
from dfopt.compare.attainable.placement_flow import (
    FAR,
    CpuPrices,
    FixedTimeline,
    PlacementNetwork,
)
from dfopt.compare.comparison_parts import OrderKept
from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.errors import DfoptError
from dfopt.structs import replace
from dfopt.trace.events import Flags

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


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPlacement:
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
    items = timeline_of(dispatches)
    found = best_cpus(items)
    if found is not None:
        return BestPlacement(schedule=_placed(dispatches, items, found[0]), bound=found[1])
    cpus = min(items.given, cpus_by_rule(items), key=items.cost)
    return BestPlacement(schedule=_placed(dispatches, items, cpus), bound=None)


def least_recently_used(dispatches: Dispatches) -> Dispatches:
    """Return the recorded starts with the CPUs of the rule "affinity, else least recently used"."""
    items = timeline_of(dispatches)
    return _placed(dispatches, items, cpus_by_rule(items))


def _placed(dispatches: Dispatches, items: FixedTimeline, cpus: Sequence[int]) -> Dispatches:
    chosen = np.empty(items.fresh, np.int32)
    chosen[items.order] = cpus
    return dispatches.moved(chosen[: len(dispatches)], dispatches.start)


def order_kept_of(dispatches: Dispatches) -> OrderKept:
    """Return what dispatches cost at least that start in their order, and what LRU costs.

    All of them may change the CPU, those of tasks without a fragment that evict, too.
    """
    items = FixedTimeline(in_ranks(dispatches), np.ones((len(dispatches), dispatches.cpus), bool))
    online = items.cost(cpus_by_rule(items))
    found = best_cpus(items)
    if found is None:
        return OrderKept(online=online, best=None, bound=None)
    best = items.cost(found[0])
    return OrderKept(online=online, best=min(best, online), bound=found[1])


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


def timeline_of(dispatches: Dispatches) -> FixedTimeline:
    """Return what is to be placed if every dispatch starts as it does."""
    paying = dispatches.paying
    allowed = _without_fixed(paying, dispatches.fixed)
    is_fixed = np.arange(len(paying)) >= len(dispatches)
    allowed[is_fixed] = paying.cpu[is_fixed, None] == np.arange(dispatches.cpus)
    return FixedTimeline(paying, allowed)


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


def cpus_by_rule(items: FixedTimeline) -> list[int]:
    """Return the CPU of each item by the rule "affinity, else least recently used".

    Each item takes the idle CPU whose last item used its fragment and ended last; if there is none,
    the idle CPU that was not used for the longest time. What keeps its time limits the choice: a
    CPU with a block during the item counts as busy, although the block may lie in the future. Where
    the choices leave a later item without a CPU, that item keeps the recorded one, and those before
    it avoid it.
    """
    rooms = _Rooms(items, range(items.fresh), range(items.cpus), items.given)
    start, end = items.start, [*items.end, -FAR]
    left = [*items.left, NONE]
    states = [(items.fresh,) * items.cpus]  # the last item of each CPU
    cpus: list[int] = []
    while len(cpus) < items.fresh:
        item, state = len(cpus), states[-1]
        ranks = [
            (0, -end[last], cpu) if left[last] == items.fragment[item] else (1, end[last], cpu)
            for cpu, last in ((cpu, state[cpu]) for cpu in rooms.of[item])
            if end[last] <= start[item]
        ]
        if ranks:
            cpu = min(ranks)[-1]
            cpus.append(cpu)
            states.append((*state[:cpu], item, *state[cpu + 1 :]))
        else:
            back = rooms.reserve(item)
            del cpus[back:], states[back + 1 :]
    return cpus


def best_cpus(items: FixedTimeline) -> tuple[list[int], int] | None:
    """Return the best CPUs of items that were found, and a bound; None if there are too many."""
    if items.fresh * items.cpus * max(USUAL_ARCS, len(items.matrix)) > MOST_FOR_A_FLOW:
        return None
    network = PlacementNetwork(items)
    prices = CpuPrices(network)
    if not items.cuts and items.allowed.all():
        return prices.cpus(), prices.bound
    given, cost, states = items.given, items.cost(items.given), 0
    first = PlacementSearch(prices, range(len(given)), range(items.cpus), given)
    found = first.cheaper_than(
        cost, max(WIDTH, min(WIDEST, MOST_KEPT // (len(given) * items.cpus)))
    )
    bound = max(prices.bound, min(cost, first.bound))
    random, failures = Random(0), 0
    if found is not None:
        given, cost = found
    while (
        items.cpus > min(GROUPS) and bound < cost and states < MOST_STATES and failures < FAILURES
    ):
        size = min(random.choice(GROUPS), items.cpus - 1)
        cpus = random.sample(range(items.cpus), size)
        own = [item for item, cpu in enumerate(given) if cpu in cpus]
        group = PlacementSearch(prices, own, cpus, given)
        known = items.cost((given[item] for item in own), own)
        found = group.cheaper_than(known, WIDTH)
        states += group.states
        failures += 1
        if found is not None:
            for item, cpu in zip(own, found[0], strict=True):
                given[item] = cpu
            cost += found[1] - known
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
        The number of the state before the item, and the CPU of the item, which is counted among
        those of the search.
    codes
        See :class:`~dfopt.compare.attainable.placement_flow.PlacementNetwork`.
    """

    promise: int
    cost: int
    before: int
    cpu: int
    codes: tuple[int, ...]


class PlacementSearch:
    """The dynamic program for the items of some CPUs.

    Attributes
    ----------
    bound
        No placement that is cheaper than what was known costs less.
    states
        The number of states so far.
    """

    def __init__(
        self, prices: CpuPrices, own: Sequence[int], cpus: Sequence[int], given: Sequence[int]
    ) -> None:
        self._network, self._own, self._cpus = prices.network, own, cpus
        self._rest = [prices.rest[cpu] for cpu in cpus]
        worth = [prices.worth[item] for item in own]
        self._to_come = [*accumulate(reversed(worth), initial=0)][::-1]
        self._rooms = _Rooms(prices.network.items, own, cpus, given)
        # The last item at which each CPU is one of few that are possible, or that are not.
        cut = {cpu for _, cpu in prices.network.items.cuts}
        self._last_named = [len(own) if cpu in cut else -1 for cpu in cpus]
        for number, of in enumerate(self._rooms.of):
            if len(of) < len(cpus):
                few = 2 * len(of) <= len(cpus)
                for cpu in range(len(cpus)):
                    if (cpu in of) == few:
                        self._last_named[cpu] = max(number, self._last_named[cpu])
        self.bound, self.states = FAR, 0

    def cheaper_than(self, known: int, width: int) -> tuple[list[int], int] | None:
        """Return CPUs that cost less than what is known, and their cost; None if none are found."""
        own, items = self._own, self._network.items
        layers = [[_State(0, 0, 0, 0, (items.fresh,) * len(self._cpus))]]
        while len(layers) <= len(own):
            number = len(layers) - 1
            states, is_pruned = self._after(number, layers[-1], known)
            self.states += len(states)
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
                del layers[self._rooms.reserve(number) + 1 :]
        ends = self._merged(len(own), layers[-1])
        cost, before = min(
            (cost + items.end_cost(codes), before) for codes, (cost, before) in ends.items()
        )
        if cost >= known:
            return None
        self.bound = min(self.bound, cost)
        cpus = []
        for layer in reversed(layers[1:]):
            state = layer[before]
            cpus.append(self._cpus[state.cpu])
            before = state.before
        return cpus[::-1], cost

    def _merged(
        self, number: int, states: Sequence[_State]
    ) -> dict[tuple[int, ...], tuple[int, int]]:
        """Return what CPUs run or hold before an item, the least cost of that, and its state."""
        network, own = self._network, self._own
        item = own[number] if number < len(own) else len(network.begin)
        changes, cuts = network.changes_between(own[number - 1] if number else -1, item)
        merged: dict[tuple[int, ...], tuple[int, int]] = {}
        for before, state in enumerate(states):
            codes = tuple(map(changes.get, state.codes, state.codes)) if changes else state.codes
            if cuts:
                codes = tuple(
                    network.cut_code(code, item) if cpu in cuts else code
                    for cpu, code in zip(self._cpus, codes, strict=True)
                )
            if codes not in merged or state.cost < merged[codes][0]:
                merged[codes] = state.cost, before
        return merged

    def _after(
        self, number: int, states: Sequence[_State], known: int
    ) -> tuple[list[_State], bool]:
        """Return the states after an item, and whether others were too costly."""
        item, end = self._own[number], self._network.end
        now, switch_cost = self._network.items.start[item], self._network.items.switch_cost
        children: dict[tuple[int, ...], _State] = {}
        is_pruned = False
        # CPUs that are alike from here on.
        named = [cpu for cpu, last in enumerate(self._last_named) if last > number]
        unnamed = [cpu for cpu, last in enumerate(self._last_named) if last <= number]
        for codes, (cost, before) in self._merged(number, states).items():
            rest = self._to_come[number + 1] + sum(map(getitem, self._rest, codes))
            for cpu in self._rooms.of[number]:
                code = codes[cpu]
                if end[code] > now:
                    continue
                paid = cost + switch_cost(code, item)
                promise = paid + rest + self._rest[cpu][item] - self._rest[cpu][code]
                if promise >= known:
                    is_pruned = True
                    continue
                after = (*codes[:cpu], item, *codes[cpu + 1 :])
                key = *(after[cpu] for cpu in named), *sorted(after[cpu] for cpu in unnamed)
                if key not in children or promise < children[key].promise:
                    children[key] = _State(promise, paid, before, cpu, after)
        return [*children.values()], is_pruned


class _Rooms:
    """The CPUs that items may still take, if some of them keep what they were given."""

    def __init__(
        self, items: FixedTimeline, own: Sequence[int], cpus: Sequence[int], given: Sequence[int]
    ) -> None:
        self._start = [items.start[item] for item in own]
        self._end = [items.end[item] for item in own]
        self._longest = max(map(sub, self._end, self._start), default=0)
        self._given = [cpus.index(given[item]) for item in own]
        allowed = items.allowed[np.ix_(own, cpus)].tolist()
        self.of = [[cpu for cpu, may in enumerate(row) if may] for row in allowed]

    def reserve(self, item: int) -> int:
        """Let an item keep its CPU, and take that from those before it; return the first of them.

        No two items that overlap were given the same CPU, so that each keeps one.
        """
        cpu, first = self._given[item], item
        self.of[item] = [cpu]
        earliest = self._start[item] - self._longest
        for other in range(bisect_left(self._start, earliest), item):
            if self._end[other] > self._start[item] and cpu in self.of[other]:
                self.of[other].remove(cpu)
                first = min(first, other)
        return first
