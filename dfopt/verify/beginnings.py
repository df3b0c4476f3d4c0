"""Tries all beginnings of orders that weights do not exclude, as part of the check of a tour.

A beginning is known by the nodes that it has visited and the last one of them: of those that agree
in both only the cheapest matters (Held and Karp 1962). What is still to come costs at least the
weights of the visits that are left, those of the cuts that the order still has to cross, and the
least reduced costs along a walk with as many nodes as are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dfopt.errors import MethodError
from dfopt.verify.arcs import ArcWeights
from dfopt.verify.tree import UnprovenError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

MOST_NODES = 62
"""Sets of at most 62 nodes are numbers of 64 bits."""

MOST_BEGINNINGS = 10_000_000
"""At most this number of beginnings are looked at, which takes some 200 MB of memory."""

NONE = 1 << 61
"""The cost of what there is not."""

AT_ONCE = 1 << 15
"""At most this number of beginnings are bounded at once, so that they stay in the cache."""

CUTS_AT_ONCE = 16
"""After 16 cuts the beginnings that are dropped already are left out."""


def cheapest_order(weights: ArcWeights, budget: int) -> list[int] | None:
    """Return the cheapest order that costs at most ``budget``, times the scale; None without one.

    Parameters
    ----------
    weights
        Weights that bound what follows a beginning. Each node is visited once.
    budget
        In units of the weights.

    Raises
    ------
    MethodError
        When there are too many beginnings.
    """
    import numpy as np  # small results need not

    tours, check = weights.tours, weights.tours.check
    size = tours.size
    if size - 1 > MOST_NODES:
        raise MethodError(f"orders of {size - 1} nodes have too many beginnings to check")
    nodes = range(1, size)
    # Whatever costs more than the budget can hold is left out before numbers exceed 64 bits.
    cost = np.array(
        [
            [
                min(weights.scale * value, NONE) if weights.range(tail, head)[1] else NONE
                for head, value in enumerate(row)
            ]
            for tail, row in enumerate(tours.cost)
        ],
        dtype=np.int64,
    )
    is_arc = cost < NONE
    largest = int(cost[is_arc].max(initial=0)) + abs(budget)
    before = [_mask(nodes) for nodes in tours.before]
    tables = _WeightTables(weights, is_arc, budget, largest)
    lasts = np.array([node for node in nodes if is_arc[0, node]], dtype=np.int64)
    masks = np.left_shift(1, lasts - 1)
    values = cost[0, lasts]
    looked_at = len(masks)
    layers = []
    for position in range(1, size):
        alive, least = tables.left(position, masks, lasts, values)
        masks, lasts, values = masks[alive], lasts[alive], values[alive]
        layers.append((masks, lasts, values))
        if position == size - 1:
            break
        longer = []
        for node in nodes:
            check()
            bit, needed = 1 << node - 1, before[node]
            promising = least + tables.along(position, node)[lasts] <= budget
            may = np.flatnonzero(promising & (masks & (bit | needed) == needed))
            # Of the beginnings that agree, the first one after sorting is the cheapest.
            following, cheap = masks[may] | bit, values[may] + cost[lasts[may], node]
            ranked = np.lexsort((cheap, following))
            following, cheap = following[ranked], cheap[ranked]
            new = np.flatnonzero(np.diff(following, prepend=-1))
            longer.append((following[new], np.full(len(new), node), cheap[new]))
            looked_at += len(new)
            if looked_at > MOST_BEGINNINGS:
                raise MethodError(
                    f"more than {MOST_BEGINNINGS} beginnings of orders are too many to check"
                )
        masks, lasts, values = (np.concatenate(parts) for parts in zip(*longer, strict=True))
    values = np.where(is_arc[lasts, 0], values + cost[lasts, 0], NONE)
    if values.min(initial=NONE) > budget:
        return None
    return _traced(layers, int(values.argmin()), cost)


class _WeightTables:
    """Weights in the form in which they bound many beginnings at once."""

    def __init__(self, weights: ArcWeights, is_arc: Flags, budget: int, largest: int) -> None:
        import numpy as np

        size = len(is_arc)
        # What arcs of negative reduced cost may save.
        self._spare = sum(
            -cost * weights.range(tail, head)[1]
            for tail, row in enumerate(weights.reduced)
            for head, cost in enumerate(row)
            if cost < 0
        )
        weight = sum(map(abs, (*weights.leaving, *weights.entering))) + self._spare
        weight += sum(price for _, price in weights.cuts)
        if (weight + largest) * (size + 2) > NONE // 2:
            raise UnprovenError("the weights are too large to add them up in 64 bits")
        self._budget, self._check = budget, weights.tours.check
        self._leaving = np.array(weights.leaving, dtype=np.int64)
        self._visits = (self._leaving + np.array(weights.entering, dtype=np.int64))[1:]
        self._all = weights.entering[0] + int(self._visits.sum())
        few_bits = [[min(value, NONE) for value in row] for row in weights.reduced]
        self._reduced = np.where(is_arc, np.array(few_bits, dtype=np.int64), NONE)
        self._to_come = _least_to_come(weights.tours.before, self._reduced)
        # The largest weights first: they drop most of the beginnings.
        self._cuts = [
            (
                _mask(cut.claim.last_of),
                _mask(cut.claim.first_of),
                np.isin(np.arange(size), cut.tails),
                price,
            )
            for cut, price in sorted(weights.cuts, key=lambda row: -row[1])
        ]

    def along(self, position: int, node: int) -> Integers:
        """Return what a walk has at least in reduced costs that goes on to a node, by the last."""
        import numpy as np

        walk: Integers = self._reduced[:, node] + self._to_come[position + 1, node]
        return np.clip(walk, -self._spare, NONE)

    def left(
        self,
        position: int,
        masks: Integers,
        lasts: Integers,
        values: Integers,
    ) -> tuple[Integers, Integers]:
        """Return which beginnings the weights leave, and their bounds but for reduced costs."""
        import numpy as np

        to_come = np.maximum(self._to_come[position], -self._spare)
        rows, bounds = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        bits = np.arange(len(self._visits))
        for begin in range(0, len(masks), AT_ONCE):
            alive = np.arange(begin, min(begin + AT_ONCE, len(masks)))
            mask, last = masks[alive], lasts[alive]
            least = values[alive] + self._leaving[last] + self._all
            least -= (mask[:, None] >> bits & 1) @ self._visits
            for number, (needed, ahead, is_tail, price) in enumerate(self._cuts):
                # The first of Y is still to come, and the last of X is, or the cut is not left.
                is_open = (mask & ahead == 0) & ((mask & needed != needed) | is_tail[last])
                least += price * is_open
                if number % CUTS_AT_ONCE == 0:
                    self._check()
                    promising = np.flatnonzero(least + to_come[last] <= self._budget)
                    alive, least = alive[promising], least[promising]
                    mask, last = mask[promising], last[promising]
            promising = np.flatnonzero(least + to_come[last] <= self._budget)
            rows.append(alive[promising])
            bounds.append(least[promising])
        return np.concatenate(rows), np.concatenate(bounds)


def _least_to_come(before: Sequence[set[int]], reduced: Integers) -> Integers:
    """Return the least reduced costs of a walk from each node to the end, by its position.

    Such a walk has as many nodes as an order has after that position. Each of them is where it can
    be: after all nodes that come before it, and before those that come after it.
    """
    import numpy as np

    size = len(reduced)
    positions = np.arange(size)[:, None]
    earliest = np.array([len(nodes) for nodes in before]) + 1
    follow = [sum(node in nodes for nodes in before) for node in range(size)]
    fits = (positions >= earliest) & (positions <= size - 1 - np.array(follow))
    least = np.full((size, size), NONE)
    least[-1] = np.where(fits[-1], reduced[:, 0], NONE)
    for position in range(size - 2, 0, -1):
        ways = reduced[1:, 1:] + least[position + 1, 1:]
        least[position, 1:] = np.where(fits[position, 1:], ways.min(axis=1), NONE)
        least = np.minimum(least, NONE)
    return least


def _traced(
    layers: Sequence[tuple[Integers, Integers, Integers]], row: int, cost: Integers
) -> list[int]:
    """Return the nodes of a beginning in the last layer, in their order."""
    mask, last, value = (int(column[row]) for column in layers[-1])
    order = [last]
    for masks, lasts, values in reversed(layers[:-1]):
        mask ^= 1 << last - 1
        fits = (masks == mask) & (values + cost[lasts, last] == value)
        row = int(fits.argmax())
        last, value = int(lasts[row]), int(values[row])
        order.append(last)
    return order[::-1]


def _mask(nodes: Sequence[int] | set[int]) -> int:
    return sum(1 << node - 1 for node in nodes)
