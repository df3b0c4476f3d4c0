"""The placement problem without names of CPUs, as a flow of one unit for each CPU.

A unit stands for a CPU in the course of time. It passes from the start of each item to its end.
Then it keeps the content that the item left (a line of nodes for each content, from end to end),
or it gives the content up at once (the pool). So an item starts with a unit that holds its
fragment, or with one from the pool, or with a fresh one. Under a matrix there is no pool: an item
starts with a unit of any content. Every item is passed by one unit: a reward that exceeds all costs
makes sure of that.

Blocks that leave the cache alone keep one unit waiting, whatever it holds; as a waiting unit costs
nothing, they do not appear. At a cut one unit, of whatever CPU, forgets what it held. So the flow
costs at most as much as the best placement, and equally much where no block is in the way and
nothing is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.attainable.placement.timeline import FixedTimeline
from dfopt.compare.attainable.placement.unit_flow import UnitNetwork
from dfopt.trace.events import Integers, Numbers

MOST_REWARD = 1 << 58
"""All rewards together are at most 2^58, so that sums stay within 64 bits."""

SOURCE = 0

Nodes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementNetwork:
    """The network, and what its nodes stand for.

    Parameters
    ----------
    network
        The source is a CPU before its first item, the sink one after its last.
    start, end
        The nodes at the start and the end of each item.
    pass_arc
        The arc between them.
    reward
        For passing an item; it is part of the costs of those arcs.
    forgot
        The node after each cut, where a unit holds nothing known.
    cut_arc
        The arc to it.
    end_order
        The items in the order of their end nodes.
    """

    network: UnitNetwork
    start: Nodes
    end: Nodes
    pass_arc: Nodes
    reward: int
    forgot: Nodes
    cut_arc: Nodes
    end_order: Nodes


@dataclass(slots=True)
class ArcList:
    """Arcs in the order in which they are added."""

    parts: list[tuple[Numbers, Numbers, Integers]] = field(default_factory=list)

    def add(self, tail: Nodes | int, head: Nodes | int, cost: Integers | int) -> None:
        """Add arcs; what is a single value holds for all of them."""
        tails, heads, costs = np.broadcast_arrays(*np.atleast_1d(tail, head, cost))
        self.parts.append((tails.astype(np.int32), heads.astype(np.int32), costs))

    def joined(self) -> tuple[Numbers, Numbers, Integers]:
        """Return tails, heads and costs of all arcs."""
        tail, head, cost = zip(*self.parts, strict=True)
        self.parts.clear()
        return np.concatenate(tail), np.concatenate(head), np.concatenate(cost)


class ContentLines:
    """The nodes of each content: the ends of the items that leave it, in the order of time."""

    def __init__(self, content: Integers, end: Nodes) -> None:
        order = np.lexsort((end, content))
        self.content, self.node = content[order], end[order]
        self._beyond = int(end.max(initial=0)) + 1
        self._key = self.content * self._beyond + self.node

    def latest(self, content: Integers, before: Nodes) -> tuple[Nodes, Nodes]:
        """Return where a line has nodes before another node, and the last of them."""
        key = content * self._beyond + np.minimum(before, self._beyond)
        index = np.searchsorted(self._key, key) - 1
        where = np.flatnonzero((index >= 0) & (self.content[np.maximum(index, 0)] == content))
        return where, self.node[index[where]]


def placement_network(items: FixedTimeline) -> PlacementNetwork:
    """Return the network of a timeline."""
    count, cuts = len(items), len(items.cut_time)
    start, end, pool, cut, sink = _nodes(items)
    forgot = cut + 1
    reward = min(_most(items) + 1, MOST_REWARD // (count + 1))
    arcs = ArcList()
    arcs.add(start, end, -reward)
    arcs.add(cut, forgot, 0)
    arcs.add(SOURCE, start, items.first)
    arcs.add(SOURCE, sink, 0)
    lines = ContentLines(items.content, end)
    goes_on = lines.content[1:] == lines.content[:-1]
    arcs.add(lines.node[:-1][goes_on], lines.node[1:][goes_on], 0)
    is_last = np.append(~goes_on, True)
    arcs.add(lines.node[is_last], sink, items.content_last[lines.content[is_last]])
    if items.matrix.size:
        _add_switches(arcs, items, lines, start)
    else:
        _add_reuse(arcs, items, lines, start)
        # By way of the pool.
        after = np.searchsorted(start, end)
        leaves = np.flatnonzero(after < count)
        leaving = (items.content_always + items.content_exit)[items.content]
        arcs.add(end[leaves], pool[after[leaves]], leaving[leaves])
        arcs.add(pool[:-1], pool[1:], 0)
        arcs.add(pool, start, items.entry)
    if cuts:
        _add_cuts(arcs, items, lines, start, cut)
        arcs.add(forgot[-1], sink, 0)
    tail, head, cost = arcs.joined()
    order = np.argsort(tail, kind="stable")
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    is_single = np.zeros(len(order), bool)
    is_single[position[: count + cuts]] = True
    return PlacementNetwork(
        network=UnitNetwork(
            nodes=sink + 1, tail=tail[order], head=head[order], cost=cost[order],
            is_single=is_single,
        ),
        start=start,
        end=end,
        pass_arc=position[:count],
        reward=reward,
        forgot=forgot,
        cut_arc=position[count : count + cuts],
        end_order=np.argsort(end),
    )  # fmt: skip


def _nodes(items: FixedTimeline) -> tuple[Nodes, Nodes, Nodes, Nodes, int]:
    """Return the nodes of starts, ends, the pool before each start, cuts, and the sink.

    They are numbered in the order of time. At one time ends come first, then cuts, then starts.
    What takes no time starts and ends at once.
    """
    count, cuts = len(items), len(items.cut_time)
    every = np.arange(count)
    at_once = items.end == items.start
    time = np.concatenate([items.start, items.end, items.cut_time])
    stage = np.concatenate([np.full(count, 2), np.where(at_once, 2, 0), np.ones(cuts, int)])
    turn = np.concatenate([2 * every, np.where(at_once, 2 * every + 1, every), np.arange(cuts)])
    size = np.concatenate([np.full(count, 2), np.ones(count, int), np.full(cuts, 2)])
    order = np.lexsort((turn, stage, time))
    node = np.empty(len(order), np.int64)
    node[order] = 1 + np.cumsum(size[order]) - size[order]
    pool = node[:count]
    sink = 1 + int(size.sum())
    return pool + 1, node[count : 2 * count], pool, node[2 * count :], sink


def _most(items: FixedTimeline) -> int:
    """Return what no schedule exceeds."""
    if items.matrix.size:
        changes = len(items) * int(items.matrix.max())
    else:
        leaving = (items.content_always + items.content_exit)[items.content]
        changes = int(items.entry.sum() + leaving.sum())
    edges = int(items.first.max(initial=0)) + int(items.content_last.max(initial=0))
    return changes + items.cpus * edges


def _add_switches(arcs: ArcList, items: FixedTimeline, lines: ContentLines, start: Nodes) -> None:
    """Add arcs from the lines of all contents to each item, at the costs of a matrix."""
    for content, fragment in enumerate(items.content_fragment):
        where, node = lines.latest(np.full(len(items), content), start)
        arcs.add(node, start[where], items.matrix[fragment, items.fragment[where]])


def _add_reuse(arcs: ArcList, items: FixedTimeline, lines: ContentLines, start: Nodes) -> None:
    """Add arcs from the lines of the contents with an item's fragment to the item."""
    # Contents are numbered by fragment: those of a fragment follow each other.
    first = np.searchsorted(items.content_fragment, items.fragment, side="left")
    beyond = np.searchsorted(items.content_fragment, items.fragment, side="right")
    for step in range(int((beyond - first).max(initial=0))):
        own = np.flatnonzero(first + step < beyond)
        content = first[own] + step
        where, node = lines.latest(content, start[own])
        arcs.add(node, start[own[where]], items.content_always[content[where]])


def _add_cuts(
    arcs: ArcList, items: FixedTimeline, lines: ContentLines, start: Nodes, cut: Nodes
) -> None:
    """Add arcs from the lines of all contents to each cut, and from there to the items."""
    forgot = cut + 1
    contents = np.arange(len(items.content_fragment))
    arcs.add(SOURCE, cut, 0)
    for node in cut:
        _, held = lines.latest(contents, np.full(len(contents), node))
        arcs.add(held, node, 0)
    arcs.add(forgot[:-1], forgot[1:], 0)
    last = np.searchsorted(forgot, start) - 1
    arcs.add(forgot[last[last >= 0]], start[last >= 0], 0)
