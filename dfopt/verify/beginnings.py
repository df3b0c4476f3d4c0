"""Tries all beginnings of orders that weights do not exclude, as part of the check of a tour.

A beginning is known by the nodes that it has visited and the last one of them: of those that agree
in both only the cheapest matters (Held and Karp 1962). What is still to come costs at least the
weights of the visits that are left, and of the cuts that the order still has to cross.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dfopt.errors import MethodError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

MOST_NODES = 62
"""Sets of at most 62 nodes are numbers of 64 bits."""

MOST_BEGINNINGS = 1_000_000
"""At most this number of beginnings are looked at."""

NONE = 1 << 61
"""The cost of what there is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginnings:
    """The arcs of orders, with weights that bound what follows a beginning.

    Node 0 is the start of the order as the first node of an arc, its end as the second one.

    Parameters
    ----------
    cost
        What each arc costs, times a scale; None where no order of interest has it.
    leaving, entering
        Weights of the visits, which are one for each node.
    cuts
        For each cut: the nodes of which it follows the last visit and of which it comes before the
        first one, those that its arcs leave, and its weight. The first ones are empty where the
        cut follows the start, or comes before the end.
    before
        The nodes that come before each node.
    spare
        What arcs of negative reduced cost may save.
    """

    cost: Sequence[Sequence[int | None]]
    leaving: Sequence[int]
    entering: Sequence[int]
    cuts: Sequence[tuple[Sequence[int], Sequence[int], Sequence[int], int]]
    before: Sequence[set[int]]
    spare: int


def cheapest_order(
    orders: Beginnings,
    budget: int,
    check: Callable[[], None] = lambda: None,
    most: int = MOST_BEGINNINGS,
) -> list[int] | None:
    """Return the cheapest order that costs at most ``budget``, times the scale; None without one.

    Raises
    ------
    MethodError
        When there are too many beginnings.
    """
    import numpy as np  # small results need not

    size = len(orders.leaving)
    if size - 1 > MOST_NODES:
        raise MethodError(f"orders of {size - 1} nodes have too many beginnings to check")
    nodes = range(1, size)
    bits = [1 << node - 1 for node in nodes]
    before = [_mask(orders.before[node]) for node in nodes]
    whole = np.array(
        [[NONE if cost is None else cost for cost in row] for row in orders.cost], dtype=np.int64
    )
    weight = sum(map(abs, (*orders.leaving, *orders.entering))) + orders.spare
    weight += sum(weight for *_, weight in orders.cuts)
    if weight + size * int(whole[whole < NONE].max(initial=0)) + abs(budget) > NONE // 2:
        raise MethodError("the weights are too large to add them up in 64 bits")
    cost = whole[1:, 1:]
    left = np.array([orders.leaving[node] + orders.entering[node] for node in nodes])
    leaving = np.array(orders.leaving[1:], dtype=np.int64)
    masks = np.array(bits, dtype=np.int64)[[not mask for mask in before]]
    costs = np.full((len(masks), size - 1), NONE, dtype=np.int64)
    for row, mask in enumerate(masks.tolist()):
        node = mask.bit_length()
        costs[row, node - 1] = whole[0, node]
    looked_at = 0
    layers = []
    for _ in range(size - 2):
        check()
        rest = _still_to_come(orders, masks, left, leaving)
        costs[costs + rest > budget] = NONE
        alive = costs.min(axis=1) < NONE
        masks, costs = masks[alive], costs[alive]
        if not len(masks):
            return None
        layers.append((masks, costs))
        # Every beginning goes on to each node that may come next.
        longer, lasts, values = [], [], []
        for node, (bit, needed) in enumerate(zip(bits, before, strict=True)):
            may = np.flatnonzero((masks & bit == 0) & (masks & needed == needed))
            looked_at += len(may)
            if looked_at > most:
                raise MethodError(f"more than {most} beginnings of orders are too many to check")
            longer.append(masks[may] | bit)
            lasts.append(np.full(len(may), node))
            values.append((costs[may] + cost[:, node]).min(axis=1, initial=NONE))
        masks, rows = np.unique(np.concatenate(longer), return_inverse=True)
        costs = np.full((len(masks), size - 1), NONE, dtype=np.int64)
        costs[rows, np.concatenate(lasts)] = np.minimum(np.concatenate(values), NONE)
    ends = (costs + whole[1:, 0]).min(axis=0, initial=NONE)
    last = int(ends.argmin())
    if ends[last] > budget:
        return None
    order, mask = [last + 1], masks[0]
    for masks, costs in reversed(layers):
        mask ^= bits[last]
        row = int(np.searchsorted(masks, mask))
        last = int((costs[row] + cost[:, last]).argmin())
        order.append(last + 1)
    return order[::-1]


def _still_to_come(
    orders: Beginnings, masks: Integers, left: Integers, leaving: Integers
) -> Integers:
    """Return what follows beginnings at least, by the nodes visited and the last of them."""
    import numpy as np

    size = len(left)
    visited = (masks[:, None] >> np.arange(size)) & 1
    rest = (1 - visited) @ left + orders.entering[0] - orders.spare
    follows = np.zeros((len(masks), size), dtype=np.int64) + leaving
    for last_of, first_of, tails, weight in orders.cuts:
        ahead = masks & _mask(first_of) == 0  # the first of these is still to come
        needed = _mask(last_of)
        begun = masks & needed == needed  # the last of those has been visited
        rest += weight * (ahead & ~begun)
        crossing = np.zeros(size, dtype=np.int64)
        crossing[[node - 1 for node in tails if node]] = weight
        inside = np.flatnonzero(ahead & begun)
        follows[inside] += crossing
    return rest[:, None] + follows


def _mask(nodes: Sequence[int] | set[int]) -> int:
    return sum(1 << node - 1 for node in nodes)
