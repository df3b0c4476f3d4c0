"""The CPUs of dispatches that keep their starts: the best ones, and those of a rule.

Without blocks and cuts no CPU differs from another, and a flow is the best placement. Otherwise
dynamic programming goes through the starts and keeps states: what each CPU runs or holds. All
placements that lead to one state are alike for the rest, so only the cheapest one is kept. If too
many states remain, those stay that promise most: their cost, and what the rest costs each CPU at
least. Then groups of three or four CPUs exchange what they run, as a smaller problem of the same
kind (a large-neighbourhood search, Shaw 1998).
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
from dfopt.compare.attainable.cpu_prices import CpuPrices
from dfopt.compare.attainable.fixed_timeline import FixedTimeline, timeline_of
from dfopt.compare.attainable.placement_network import FAR, PlacementNetwork
from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.errors import DfoptError

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
        See :class:`~dfopt.compare.attainable.placement_network.PlacementNetwork`.
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
