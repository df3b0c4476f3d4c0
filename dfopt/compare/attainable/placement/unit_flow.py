"""Least-cost paths through an acyclic network, one for each unit: successive shortest paths.

Each unit takes the cheapest path that the units before it leave; it may push them to other arcs
(Busacker and Gowen 1960). Node prices keep all costs non-negative, so that Dijkstra's method finds
the paths (Edmonds and Karp 1972). The prices of the last round prove that the flow is cheapest, and
say what a unit at any node still costs at least.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dfopt.solvers.compilation.compiled import compiled, compiled_in_place
from dfopt.trace.events import Flags, Integers, Numbers

UNREACHED = 1 << 62
"""The distance of a node to which no path is known."""

NODES_PER_CHECK = 200_000
"""At most 200,000 nodes are settled between two calls of ``check``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitNetwork:
    """An acyclic network; the first node is the source and the last one is the sink.

    Parameters
    ----------
    nodes
        Number of nodes. Numbers lead from lower to higher numbers.
    tail, head, cost
        Of each arc, ordered by tail.
    is_single
        Whether at most one unit uses the arc; otherwise all may.
    """

    nodes: int
    tail: Numbers
    head: Numbers
    cost: Integers
    is_single: Flags


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitFlow:
    """A flow of least cost.

    Parameters
    ----------
    used
        Number of units on each arc.
    price
        Of each node. ``cost + price[tail] - price[head]`` is at least 0 on every arc that has room
        and at most 0 on every arc that is used.
    """

    used: Numbers
    price: Integers


def least_cost_flow(network: UnitNetwork, units: int, check: Callable[[], None]) -> UnitFlow:
    """Return a cheapest flow of ``units`` from the source to the sink.

    Parameters
    ----------
    network
        It has an arc from the source to the sink that costs nothing and has room for all.
    units
        Number of paths.
    check
        Called a few times a second; what it raises ends the search.
    """
    nodes, tail, head = network.nodes, network.tail, network.head
    out = np.searchsorted(tail, np.arange(nodes + 1))
    into = np.argsort(head, kind="stable").astype(np.int32)
    into_start = np.concatenate([[0], np.cumsum(np.bincount(head, minlength=nodes))])
    used = np.zeros(len(tail), np.int32)
    price = np.full(nodes, UNREACHED)
    price[0] = 0
    _first_prices(tail, head, network.cost, price)
    distance = np.empty(nodes, np.int64)
    through = np.empty(nodes, np.int32)
    place = np.empty(nodes, np.int32)
    heap = np.empty(nodes, np.int32)
    stack = np.empty(nodes, np.int32)
    sizes = np.zeros(2, np.int64)
    for _ in range(units):
        distance.fill(UNREACHED)
        place.fill(-1)
        distance[0], sizes[0], sizes[1] = 0, 0, 1
        stack[0], place[0] = 0, _SETTLED
        while not _settle(
            nodes - 1, NODES_PER_CHECK, tail, head, network.cost, network.is_single, used, price,
            out, into, into_start, distance, through, place, heap, stack, sizes,
        ):  # fmt: skip
            check()
        reached = price < UNREACHED
        price[reached] += np.minimum(distance[reached], distance[-1])
        if price[-1] >= price[0]:
            break  # all other units go from the source to the sink
        _augment(nodes - 1, tail, head, used, through)
    return UnitFlow(used=used, price=price)


_SETTLED = -2
"""Stands in ``place`` for a node whose distance is final; -1: it is not in the heap."""


@compiled
def _first_prices(tail: Numbers, head: Numbers, cost: Integers, price: Integers) -> None:
    """Set each price to the length of a shortest path, in the order of the nodes."""
    for arc in range(len(tail)):
        if price[tail[arc]] < UNREACHED:
            price[head[arc]] = min(price[head[arc]], price[tail[arc]] + cost[arc])


@compiled_in_place
def _sift_up(position: int, heap: Numbers, place: Numbers, distance: Integers) -> None:
    """Move a node of the heap up to where it belongs."""
    node = heap[position]
    key = distance[node]
    while position:
        above = (position - 1) >> 1
        if distance[heap[above]] <= key:
            break
        heap[position] = heap[above]
        place[heap[position]] = position
        position = above
    heap[position] = node
    place[node] = position


@compiled_in_place
def _sift_down(position: int, size: int, heap: Numbers, place: Numbers, distance: Integers) -> None:
    """Move a node of the heap down to where it belongs."""
    node = heap[position]
    key = distance[node]
    while True:
        below = 2 * position + 1
        if below >= size:
            break
        if below + 1 < size and distance[heap[below + 1]] < distance[heap[below]]:
            below += 1
        if distance[heap[below]] >= key:
            break
        heap[position] = heap[below]
        place[heap[position]] = position
        position = below
    heap[position] = node
    place[node] = position


@compiled_in_place
def _reach(
    node: int, arc: int, near: int, length: int,
    distance: Integers, through: Numbers, place: Numbers, heap: Numbers, stack: Numbers,
    sizes: Integers,
) -> None:  # fmt: skip
    """Note a path to a node that ends with an arc of a length, from a node at distance near."""
    if near + length >= distance[node]:
        return
    distance[node] = near + length
    through[node] = arc
    position = place[node]
    if length == 0:
        # It is as near as the node that is being settled, so its distance is final.
        if position >= 0:
            sizes[0] -= 1
            last = heap[sizes[0]]
            if last != node:
                heap[position] = last
                place[last] = position
                _sift_down(position, sizes[0], heap, place, distance)
                _sift_up(place[last], heap, place, distance)
        place[node] = _SETTLED
        stack[sizes[1]] = node
        sizes[1] += 1
        return
    if position < 0:
        position = sizes[0]
        heap[position] = node
        sizes[0] += 1
    _sift_up(position, heap, place, distance)


@compiled
def _settle(
    sink: int, most: int, tail: Numbers, head: Numbers, cost: Integers, is_single: Flags,
    used: Numbers, price: Integers, out: Integers, into: Numbers, into_start: Integers,
    distance: Integers, through: Numbers, place: Numbers, heap: Numbers, stack: Numbers,
    sizes: Integers,
) -> bool:  # fmt: skip
    """Settle at most a number of nodes; return whether the sink is settled.

    Nodes at the distance of the one before wait on the stack, the others in the heap: most arcs of
    a long timeline have length 0, and so most nodes never see the heap. ``sizes`` holds the sizes
    of heap and stack.
    """
    for _ in range(most):
        if sizes[1]:
            sizes[1] -= 1
            node = stack[sizes[1]]
        else:
            node = heap[0]
            place[node] = _SETTLED
            sizes[0] -= 1
            if sizes[0]:
                heap[0] = heap[sizes[0]]
                place[heap[0]] = 0
                _sift_down(0, sizes[0], heap, place, distance)
        if node == sink:
            return True
        near = distance[node]
        for arc in range(out[node], out[node + 1]):
            other = head[arc]
            if place[other] != _SETTLED and not (is_single[arc] and used[arc]):
                length = cost[arc] + price[node] - price[other]
                _reach(other, arc, near, length, distance, through, place, heap, stack, sizes)
        for index in range(into_start[node], into_start[node + 1]):
            arc = into[index]
            other = tail[arc]
            if used[arc] and place[other] != _SETTLED:
                length = price[node] - price[other] - cost[arc]
                _reach(other, arc, near, length, distance, through, place, heap, stack, sizes)
    return False


@compiled
def _augment(sink: int, tail: Numbers, head: Numbers, used: Numbers, through: Numbers) -> None:
    """Send one unit along the path that was found, against arcs that it takes back."""
    node = sink
    while node:
        arc = through[node]
        if head[arc] == node:
            used[arc] += 1
            node = tail[arc]
        else:
            used[arc] -= 1
            node = head[arc]


def paths_of(network: UnitNetwork, flow: UnitFlow, units: int) -> Integers:
    """Return the number of a unit on each arc, so that each unit has a path to the sink."""
    top = np.full(network.nodes, -1)
    top[0] = units - 1
    below = np.arange(units) - 1
    unit = np.full(len(network.tail), -1)
    _follow(network.tail, network.head, flow.used, top, below, unit)
    return unit


@compiled
def _follow(
    tail: Numbers, head: Numbers, used: Numbers, top: Integers, below: Integers, unit: Integers
) -> None:
    """Pass the units on, in the order of the nodes. Those at a node are a list: top, below."""
    for arc in range(len(tail)):
        for _ in range(used[arc]):
            moved = top[tail[arc]]
            top[tail[arc]] = below[moved]
            below[moved] = top[head[arc]]
            top[head[arc]] = moved
            unit[arc] = moved
