"""The ways of CPUs through dispatches that keep their starts, and prices for these.

The ways are a network, through which each CPU sends a unit. Nodes are numbered in the order of
time. An item (a dispatch that pays) has a node where it begins and one where it ends. An idle CPU
stands at the latest node of what it holds: wherever an item leaves the same, all CPUs that hold it
may move on to the node of its end. Whatever is given up leads to a common node (the pool), from
which another fragment is entered.

A flow of least cost is the best placement if no CPU differs from another. If something fixed or a
cut makes them differ, the flow still gives prices: what each item is worth, and what the way of
each CPU costs at least from each node on, less what the items on it are worth. No placement costs
less than all worth together with the cheapest way of each CPU.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dfopt.compare.dispatches import UNKNOWN, Dispatches, Rows
from dfopt.compare.paid import cost_of
from dfopt.trace.events import Flags
from dfopt.trace.trace import UNMANAGED

FAR = 1 << 200
"""More than any way costs."""

SOURCE = 0
"""The node of a CPU before its first item."""


class LeftContent(NamedTuple):
    """What a CPU holds, and what is paid for it by what follows and at the end."""

    fragment: int
    exit: int = 0
    always: int = 0
    last: int = 0


FRESH, FORGOTTEN = LeftContent(UNKNOWN - 1), LeftContent(UNKNOWN)
"""The content of a CPU before its first item, and of one of which nothing is known."""


class PlacementNetwork:
    """Items in the order of their starts, then of their ends, and the ways of CPUs through them.

    Parameters
    ----------
    dispatches
        The items, in any order.
    allowed
        Whether each may run on each CPU; shape (items, CPUs).

    Attributes
    ----------
    order, items
        Which of the given dispatches each item is; the items, with CPUs as recorded.
    arcs
        The heads of the arcs from each node with their costs; those through items are left out. The
        last node is the sink. These, and all that is below, :meth:`build` finds.
    begin, finish
        The nodes of each item. The sink comes last in ``begin``.
    content, alike
        For each node where CPUs may be idle: what they hold, and all nodes where they hold the
        same.
    cuts
        The CPUs that are cut between the start of the item before and that of each item, with the
        node to which a cut leads. The last entry is for the end.
    """

    def __init__(self, dispatches: Dispatches, allowed: Flags) -> None:
        self.order: Rows = np.lexsort((dispatches.row, dispatches.end, dispatches.start))
        self.items = items = dispatches.chosen(self.order)
        self.allowed = allowed[self.order]
        self.matrix: list[list[int]] = items.matrix.tolist()
        self.fragment: list[int] = items.fragment.tolist()
        self._entry: list[int] = items.entry.tolist()
        self._first: list[int] = items.first.tolist()
        columns = (items.fragment, items.exit, items.always, items.last)
        left = zip(*(column.tolist() for column in columns), strict=True)
        self._left = [LeftContent(*one) for one in left]
        self.arcs: list[dict[int, int]] = []
        self.begin, self.finish = [0] * len(items), [0] * len(items)
        self.content: dict[int, LeftContent] = {}
        self.alike: dict[int, list[int]] = {}
        self.cuts: list[dict[int, int]] = [{}]
        # By fragment and content the nodes of the content so far.
        self._nodes: defaultdict[int, dict[LeftContent, list[int]]] = defaultdict(dict)
        self._hold(self._node(), FRESH)
        self._pool, self._given_up = self._node(), list[int]()
        self._running: set[int] = set()
        self._cut_while_running: dict[tuple[int, int], int] = {}

    def switch_cost(self, held: LeftContent, item: int) -> int:
        """Return what it costs if an item follows on a CPU."""
        if held == FRESH:
            return self._first[item]
        if held == FORGOTTEN:
            return 0
        used = self.fragment[item]
        if self.matrix:
            return self.matrix[held.fragment][used]
        changes = held.fragment != used or used == UNMANAGED
        return held.always + changes * (held.exit + self._entry[item])

    def after(self, item: int, cpu: int) -> int:
        """Return the node to which an item leads on a CPU."""
        return self._cut_while_running.get((item, cpu), self.finish[item])

    def cost(self, cpus: Sequence[int]) -> int:
        """Return what items cost on these CPUs."""
        return cost_of(self.items.moved(np.array(cpus), self.items.start))

    def build(self) -> None:
        """Find the nodes and arcs, which only a flow needs; call it once."""
        items = self.items
        start, end, cuts = items.start.tolist(), items.end.tolist(), items.cuts
        # At one time ends come first, then cuts, then starts. What takes no time ends at once.
        events = [(time, 2, 2 * item) for item, time in enumerate(start)]
        events += [
            (time, 0, 2 * item + 1) if time > start[item] else (time, 2, 2 * item + 1)
            for item, time in enumerate(end)
        ]
        events += [
            (time, 1, cpu) for time, cpu in zip(cuts.time.tolist(), cuts.cpu.tolist(), strict=True)
        ]
        for _, kind, number in sorted(events):
            if kind == 1:
                self._cut(number)
            elif number % 2:
                self._finish(number // 2)
            else:
                self._begin(number // 2)
        sink = self._node()
        self.begin.append(sink)
        for nodes in self._nodes.values():
            for held, same in nodes.items():
                self.arcs[same[-1]][sink] = held.last

    def _node(self) -> int:
        self.arcs.append({})
        return len(self.arcs) - 1

    def _hold(self, node: int, held: LeftContent) -> None:
        """Let all CPUs that hold something move on to a node."""
        same = self._nodes[held.fragment].setdefault(held, [])
        if same:
            self.arcs[same[-1]][node] = 0
        same.append(node)
        self.content[node], self.alike[node] = held, same

    def _begin(self, item: int) -> None:
        holding = list(self._nodes)
        if not self.matrix:
            pool = self._node()
            self.arcs[self._pool][pool] = 0
            self._pool = pool
            for node in self._given_up:
                held = self.content[node]
                self.arcs[node][pool] = held.always + held.exit
            self._given_up.clear()
            holding = [self.fragment[item], FRESH.fragment, FORGOTTEN.fragment]
        self.begin[item] = node = self._node()
        if not self.matrix:
            self.arcs[self._pool][node] = self._entry[item]
        for fragment in holding:
            for held, same in self._nodes[fragment].items():
                self.arcs[same[-1]][node] = self.switch_cost(held, item)
        self._running.add(item)
        self.cuts.append({})

    def _finish(self, item: int) -> None:
        self.finish[item] = node = self._node()
        self._hold(node, self._left[item])
        self._given_up.append(node)
        self._running.discard(item)
        cut_on = [cpu for cpu in range(self.items.cpus) if (item, cpu) in self._cut_while_running]
        if cut_on:
            node = self._node()
            self._hold(node, FORGOTTEN)
            self._cut_while_running.update(((item, cpu), node) for cpu in cut_on)

    def _cut(self, cpu: int) -> None:
        before, after = self._node(), self._node()
        for nodes in self._nodes.values():
            for held, same in nodes.items():
                if held != FORGOTTEN:
                    self.arcs[same[-1]][before] = 0
        self.arcs[before][after] = 0
        self._hold(after, FORGOTTEN)
        self.cuts[-1][cpu] = after
        for item in self._running:
            if self.allowed[item, cpu]:
                self._cut_while_running[item, cpu] = after


class CpuPrices:
    """A flow of least cost, and what it proves.

    Attributes
    ----------
    worth
        What each item is worth.
    rest
        For each CPU what its way costs at least from each node on, less what the items on it are
        worth.
    bound
        No placement costs less.
    """

    def __init__(self, network: PlacementNetwork) -> None:
        self.network = network
        network.build()
        self._cut_of = {node: cpu for cuts in network.cuts for cpu, node in cuts.items()}
        self._flow: Counter[tuple[int, int]] = Counter()
        distance = self._send_units()
        self.worth = [
            distance[tail] - distance[head]
            for tail, head in zip(network.begin, network.finish, strict=False)
        ]
        closed = [self._closed(cpu) for cpu in range(network.items.cpus)]
        rest_of = {nodes: self._rest(nodes, closed.index(nodes)) for nodes in {*closed}}
        self.rest = [rest_of[nodes] for nodes in closed]
        self.bound = sum(self.worth) + sum(rest[SOURCE] for rest in self.rest)

    def _send_units(self) -> list[int]:
        """Send a unit for each CPU on the shortest way; return how far nodes are at the end."""
        network = self.network
        cpus, sink = network.items.cpus, network.begin[-1]
        left = [dict(heads) for heads in network.arcs]  # the arcs that may still be used
        reward = 1 + sum(max(heads.values(), default=0) for heads in left) * cpus
        singles = dict(zip(network.begin, network.finish, strict=False))
        for tail, head in singles.items():
            left[tail][head] = -reward
        cost = [dict(heads) for heads in left]
        singles.update((node - 1, node) for node in self._cut_of)
        for unit in range(cpus + 1):
            distance, before = [FAR] * len(left), [SOURCE] * len(left)
            distance[SOURCE], waiting, tail = 0, bytearray(len(left)), SOURCE
            # The first node that waits comes first: only the ways of units lead back.
            while tail >= 0:
                waiting[tail] = False
                first, so_far = tail, distance[tail]
                for head, length in left[tail].items():
                    if so_far + length < distance[head]:
                        distance[head], before[head] = so_far + length, tail
                        waiting[head] = True
                        first = min(first, head)
                tail = waiting.find(True, first)
            if unit == cpus:
                break
            head = sink
            while head != SOURCE:
                tail = before[head]
                arc, units = ((tail, head), 1) if tail < head else ((head, tail), -1)
                self._flow[arc] += units
                if units < 0:
                    left[head][tail] = cost[head][tail]
                else:
                    left[head][tail] = -cost[tail][head]
                if (units < 0 and not self._flow[arc]) or (units > 0 and singles.get(tail) == head):
                    del left[tail][head]
                head = tail
        return distance

    def _closed(self, cpu: int) -> frozenset[int]:
        """Return the nodes through which a CPU must not go."""
        network = self.network
        refused = {network.begin[item] for item in (~network.allowed[:, cpu]).nonzero()[0]}
        return frozenset(refused | {node - 1 for node, cut in self._cut_of.items() if cut != cpu})

    def _rest(self, closed: frozenset[int], cpu: int) -> list[int]:
        """Return the rest for all CPUs with these closed nodes, of which ``cpu`` is one."""
        network = self.network
        item_at = {node: item for item, node in enumerate(network.begin[:-1])}
        rest = [0] * len(network.arcs)
        for tail in range(len(rest) - 2, -1, -1):
            if tail in item_at:
                item = item_at[tail]
                rest[tail] = rest[network.after(item, cpu)] - self.worth[item]
            else:
                ways = network.arcs[tail].items()
                rest[tail] = min(
                    (cost + rest[head] for head, cost in ways if head not in closed), default=FAR
                )
        return rest

    def cpus(self) -> list[int]:
        """Return the CPU of each item in the flow, where CPUs do not differ."""
        cpu_at = dict.fromkeys(self.network.begin[:-1], 0)
        heads: dict[int, list[int]] = {}
        for (tail, head), units in self._flow.items():
            heads.setdefault(tail, []).extend([head] * units)
        for cpu in range(self.network.items.cpus):
            node = SOURCE
            while node in heads:
                node = heads[node].pop()
                if node in cpu_at:
                    cpu_at[node] = cpu
        return [*cpu_at.values()]
