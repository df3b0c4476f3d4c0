"""The placement of dispatches that keep their starts, as a network, and the prices of a flow in it.

A unit of flow stands for a CPU in the course of time. It passes from the start of each item to its
end. Then it keeps the content that the item left (a line of nodes for each content, from end to
end), or it gives the content up at once (the pool). So an item starts with a unit that holds its
fragment, or with one from the pool, or with a fresh one. Under a matrix there is no pool: an item
starts with a unit of any content. At a cut one unit forgets what it held.

The flow has a unit for each CPU, and every item is passed by one unit: a reward that exceeds all
costs makes sure of that. Where no CPU differs from another, a flow of least cost is a placement of
least cost. Otherwise its prices say what each item is worth. Let every CPU go for itself on the
cheapest way that its own blocks and cuts permit, and earn for each item what that is worth. All
CPUs together then cost no more than the best placement (a Lagrangian relaxation, Geoffrion 1974).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

import numpy as np

from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.compare.paid import cost_of
from dfopt.trace.events import Flags
from dfopt.trace.trace import UNMANAGED

FOREIGN = -2
"""What a dispatch that evicts uses: no CPU ever holds it."""

FAR = 1 << 200
"""More than any way costs, and later than anything ends."""

SOURCE = 0
"""The node of a CPU before its first item."""

Content = tuple[int, int, int, int]


class FixedTimeline:
    """Items (dispatches that pay) in the order of their starts, then of their ends.

    An item stands for a CPU that runs it, or holds what it left. After the items comes ``fresh``,
    which stands for a CPU before its first item; all larger numbers stand for CPUs of which nothing
    is known.

    Parameters
    ----------
    dispatches
        The items, in any order.
    allowed
        Whether each may run on each CPU; shape (items, CPUs).

    Attributes
    ----------
    items
        The items, with CPUs as recorded.
    order
        Which of the given dispatches each is.
    start, end, fragment, given
        Of the items; ``given`` is the CPU.
    left
        What it leaves in the cache.
    entry, exit, always, first, last, matrix
        What it costs.
    cuts
        Time and CPU of each cut.
    """

    def __init__(self, dispatches: Dispatches, allowed: Flags) -> None:
        self.order: Rows = np.lexsort((dispatches.row, dispatches.end, dispatches.start))
        self.items = items = dispatches.chosen(self.order)
        self.allowed, self.cpus, self.fresh = allowed[self.order], items.cpus, len(items)
        self.start: list[int] = items.start.tolist()
        self.end: list[int] = items.end.tolist()
        self.given: list[int] = items.cpu.tolist()
        self.left: list[int] = items.fragment.tolist()
        self.fragment = [FOREIGN if one == UNMANAGED else one for one in self.left]
        self.entry: list[int] = items.entry.tolist()
        self.exit: list[int] = items.exit.tolist()
        self.always: list[int] = items.always.tolist()
        self.first: list[int] = items.first.tolist()
        self.last: list[int] = items.last.tolist()
        self.matrix: list[list[int]] = items.matrix.tolist()
        cuts = items.cuts
        self.cuts = list(zip(cuts.time.tolist(), cuts.cpu.tolist(), strict=True))

    def switch_cost(self, before: int, item: int) -> int:
        """Return what it costs if an item follows on a CPU."""
        if before == self.fresh:
            return self.first[item]
        if before > self.fresh:
            return 0
        if self.matrix:
            return self.matrix[self.left[before]][self.fragment[item]]
        changes = self.left[before] != self.fragment[item]
        return self.always[before] + changes * (self.exit[before] + self.entry[item])

    def end_cost(self, holds: Iterable[int]) -> int:
        """Return what is paid at the end for what CPUs hold."""
        return sum(self.last[item] for item in holds if item < self.fresh)

    def cost(self, cpus: Iterable[int], own: Sequence[int] | slice = slice(None)) -> int:
        """Return what items, all or some, cost on these CPUs."""
        items = self.items.chosen(own)
        return cost_of(items.moved(np.fromiter(cpus, np.int32), items.start))


class PlacementNetwork:
    """The network of a timeline, and how the codes of CPUs change in the course of time.

    A CPU that runs an item has the item's number as its code. An idle CPU has the number of the
    item that was the last to leave what it holds, on any CPU. After the numbers of items come the
    codes of a fresh CPU, of one of which nothing is known after each cut, and for each item of a
    CPU that was cut while it ran.

    Attributes
    ----------
    arcs
        The heads of the arcs from each node with their costs, those through items left out. Nodes
        are numbered in the order of time; the last one is the sink.
    begin, finish, forgot
        The nodes at the start and the end of each item, and after each cut.
    changes, cuts
        How codes change between the start of the item before and that of each item, and the CPUs
        that are cut. The last entries are for the end.
    end
        When what runs on a CPU with each code ends.
    across
        The items that may run at some cut on its CPU, with the number of the cut.
    """

    def __init__(self, items: FixedTimeline) -> None:
        self.items, start = items, items.start
        self.cut_while_running = items.fresh + 1 + len(items.cuts)
        self.end = [*items.end, *[-FAR] * (1 + len(items.cuts)), *items.end]
        self.arcs: list[dict[int, int]] = [{}]
        self.begin, self.finish = [0] * len(start), [0] * len(start)
        self.forgot: list[int] = []
        self.changes: list[dict[int, int]] = []
        self.cuts: list[set[int]] = []
        self.unknown: list[int] = []
        self.across: list[tuple[int, int]] = []
        # What costs the same afterwards.
        self._content = list(zip(items.left, items.exit, items.always, items.last, strict=True))
        self._latest: dict[Content, int] = {}  # the item that was the last to leave each content
        self._with_fragment: defaultdict[int, set[Content]] = defaultdict(set)
        self._running: set[int] = set()
        self._pool, self._given_up = self._node(), list[int]()
        self._pending, self._cut = list[tuple[int, int]](), set[int]()
        # At one time ends come first, then cuts, then starts. What takes no time ends at once.
        events = [(time, 2, 2 * item) for item, time in enumerate(start)]
        events += [
            (time, 0, item) if time > start[item] else (time, 2, 2 * item + 1)
            for item, time in enumerate(items.end)
        ]
        events += [(time, 1, number) for number, (time, _) in enumerate(items.cuts)]
        for _, kind, number in sorted(events):
            if kind == 1:
                self._forget(number)
            elif kind == 0:
                self._finish(number)
            elif number % 2:
                self._finish(number // 2)
            else:
                self._begin(number // 2)
        self._next_changes()
        sink = self._node()
        self.arcs[SOURCE][sink] = 0
        for item in self._latest.values():
            self.arcs[self.finish[item]][sink] = self.items.last[item]
        if self.forgot:
            self.arcs[self.forgot[-1]][sink] = 0

    def changes_between(self, before: int, after: int) -> tuple[dict[int, int], set[int]]:
        """Return how codes change between the starts of two items, and the CPUs that are cut."""
        if after == before + 1:
            return self.changes[after], self.cuts[after]
        changes: dict[int, int] = {}
        for item in range(after, before, -1):
            for code, later in self.changes[item].items():
                changes[code] = changes.get(later, later)
        return changes, set().union(*self.cuts[before + 1 : after + 1])

    def cut_code(self, code: int, item: int) -> int:
        """Return the code at the start of an item of a CPU that was cut."""
        is_running = item < len(self.begin) and self.end[code] > self.items.start[item]
        if not is_running:
            return self.unknown[item]
        return code if code > self.items.fresh else self.cut_while_running + code

    def _node(self) -> int:
        self.arcs.append({})
        return len(self.arcs) - 1

    def _next_changes(self) -> None:
        changes: dict[int, int] = {}
        for before, after in reversed(self._pending):
            changes[before] = changes.get(after, after)
        self.changes.append(changes)
        self.cuts.append(self._cut)
        self.unknown.append(self.items.fresh + len(self.forgot))
        self._pending, self._cut = [], set()

    def _begin(self, item: int) -> None:
        self._next_changes()
        items = self.items
        holding: Iterable[int] = self._latest.values()
        if not items.matrix:
            pool = self._node()
            self.arcs[self._pool][pool] = 0
            self._pool = pool
            for other in self._given_up:
                self.arcs[self.finish[other]][pool] = items.always[other] + items.exit[other]
            self._given_up.clear()
            holding = [self._latest[number] for number in self._with_fragment[items.fragment[item]]]
        self.begin[item] = node = self._node()
        self.arcs[SOURCE][node] = items.first[item]
        if not items.matrix:
            self.arcs[self._pool][node] = items.entry[item]
        for other in holding:
            self.arcs[self.finish[other]][node] = items.switch_cost(other, item)
        if self.forgot:
            self.arcs[self.forgot[-1]][node] = 0
        self._running.add(item)

    def _finish(self, item: int) -> None:
        self.finish[item] = node = self._node()
        content = self._content[item]
        if content in self._latest:
            before = self._latest[content]
            self.arcs[self.finish[before]][node] = 0
            self._pending.append((before, item))
        if self.forgot:
            self._pending.append(
                (self.cut_while_running + item, self.items.fresh + len(self.forgot))
            )
        self._latest[content] = item
        self._with_fragment[self.items.left[item]].add(content)
        self._given_up.append(item)
        self._running.discard(item)

    def _forget(self, number: int) -> None:
        _, cpu = self.items.cuts[number]
        before, after = self._node(), self._node()
        for tail in (SOURCE, *(self.finish[item] for item in self._latest.values())):
            self.arcs[tail][before] = 0
        self.arcs[before][after] = 0
        if self.forgot:
            self.arcs[self.forgot[-1]][after] = 0
            self._pending.append((self.items.fresh + number, self.items.fresh + 1 + number))
        self.forgot.append(after)
        self._cut.add(cpu)
        self.across += [(item, number) for item in self._running if self.items.allowed[item, cpu]]


class CpuPrices:
    """A flow of least cost, and what it proves.

    Attributes
    ----------
    worth
        What each item is worth.
    rest
        For each CPU and code, what the CPU costs at least from now on, less what the items on its
        way are worth.
    bound
        No placement costs less.
    """

    def __init__(self, network: PlacementNetwork) -> None:
        self.network = network
        self.flow: Counter[tuple[int, int]] = Counter()
        distance = self._send_units()
        begin, finish = network.begin, network.finish
        self.worth = [
            distance[tail] - distance[head] for tail, head in zip(begin, finish, strict=True)
        ]
        arcs = [[*heads.items()] for heads in network.arcs]
        for item, worth in enumerate(self.worth):
            arcs[begin[item]].append((finish[item], -worth))
        for item, cut in network.across:
            arcs[begin[item]].append((network.forgot[cut] - 1, -self.worth[item]))
        cut_at = {item: network.forgot[cut] for item, cut in reversed(network.across)}
        nodes = [SOURCE, *network.forgot]
        nodes += [cut_at.get(item, SOURCE) for item in range(len(begin))]
        self.rest, self.bound = [], sum(self.worth)
        for cpu in range(network.items.cpus):
            rest = self._rest(cpu, arcs)
            # What an item leaves may be forgotten while it runs.
            after = [rest[node] + worth for node, worth in zip(begin, self.worth, strict=True)]
            self.rest.append(after + [rest[node] for node in nodes])
            self.bound += rest[SOURCE]

    def _send_units(self) -> list[int]:
        """Send a unit for each CPU on the shortest way; return how far nodes are at the end."""
        network = self.network
        left = [dict(heads) for heads in network.arcs]  # the arcs that may still be used
        singles = dict(zip(network.begin, network.finish, strict=True))
        reward = 1 + sum(max(heads.values(), default=0) for heads in left) * network.items.cpus
        for tail, head in singles.items():
            left[tail][head] = -reward
        cost = [dict(heads) for heads in left]
        singles.update((node - 1, node) for node in network.forgot)
        for unit in range(network.items.cpus + 1):
            distance, before = [FAR] * len(left), [SOURCE] * len(left)
            distance[SOURCE], queue, waiting = 0, [SOURCE], {SOURCE}
            # The first node first: only the ways of units lead back.
            while queue:
                tail = heappop(queue)
                waiting.discard(tail)
                for head, length in left[tail].items():
                    if distance[tail] + length < distance[head]:
                        distance[head], before[head] = distance[tail] + length, tail
                        if head not in waiting:
                            waiting.add(head)
                            heappush(queue, head)
            if unit == network.items.cpus:
                break
            head = len(left) - 1
            while head != SOURCE:
                tail = before[head]
                if tail < head:
                    self.flow[tail, head] += 1
                    left[head][tail] = -cost[tail][head]
                    if singles.get(tail) == head:
                        del left[tail][head]
                else:
                    self.flow[head, tail] -= 1
                    left[head][tail] = cost[head][tail]
                    if not self.flow[head, tail]:
                        del left[tail][head]
                head = tail
        return distance

    def _rest(self, cpu: int, arcs: list[list[tuple[int, int]]]) -> list[int]:
        """Return what the way of a CPU costs at least from each node on."""
        network, items = self.network, self.network.items
        closed = {network.begin[item] for item in (~items.allowed[:, cpu]).nonzero()[0]}
        closed.update(
            node - 1
            for node, (_, cut) in zip(network.forgot, items.cuts, strict=True)
            if cut != cpu
        )
        rest = [0] * len(arcs)
        for tail in range(len(arcs) - 2, -1, -1):
            rest[tail] = min(
                (length + rest[head] for head, length in arcs[tail] if head not in closed),
                default=FAR,
            )
        return rest

    def cpus(self) -> list[int]:
        """Return the CPU of each item in the flow, for a timeline on which CPUs do not differ."""
        network = self.network
        item_at = {node: item for item, node in enumerate(network.begin)}
        heads: dict[int, list[int]] = {}
        for (tail, head), units in self.flow.items():
            heads.setdefault(tail, []).extend([head] * units)
        cpus = [0] * len(network.begin)
        for cpu in range(network.items.cpus):
            node = SOURCE
            while node in heads:
                if node in item_at:
                    cpus[item_at[node]] = cpu
                node = heads[node].pop()
        return cpus
