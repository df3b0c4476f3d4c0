"""The placement problem without names of CPUs, as a network, and what CPUs hold in the meantime.

A unit of flow stands for a CPU in the course of time. It passes from the start of each item to its
end. Then it keeps the content that the item left (a line of nodes for each content, from end to
end), or it gives the content up at once (the pool). So an item starts with a unit that holds its
fragment, or with one from the pool, or with a fresh one. Under a matrix there is no pool: an item
starts with a unit of any content. At a cut one unit forgets what it held.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dfopt.compare.attainable.fixed_timeline import FixedTimeline

FAR = 1 << 200
"""More than any way costs, and later than anything ends."""

SOURCE = 0
"""The node of a CPU before its first item."""

Content = tuple[int, int, int, int]


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
