"""Tries all beginnings of orders that weights do not exclude, as part of the check of a tour.

A beginning is known by the nodes that it has visited and the last one of them: of those that agree
in both only the cheapest matters (Held and Karp 1962). What is still to come costs at least the
weights of the visits that are left, those of the cuts that the order still has to cross, and the
least reduced costs along a walk with as many nodes as are left.
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
    Flags = NDArray[np.bool_]

MOST_NODES = 62
"""Sets of at most 62 nodes are numbers of 64 bits."""

MOST_BEGINNINGS = 10_000_000
"""At most this number of beginnings are looked at, which takes some 200 MB of memory."""

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
    reduced
        The reduced cost of each arc.
    spare
        What arcs of negative reduced cost may save.
    """

    cost: Sequence[Sequence[int | None]]
    leaving: Sequence[int]
    entering: Sequence[int]
    cuts: Sequence[tuple[Sequence[int], Sequence[int], Sequence[int], int]]
    before: Sequence[set[int]]
    reduced: Sequence[Sequence[int]]
    spare: int


def cheapest_order(
    orders: Beginnings,
    budget: int,
    check: Callable[[], None] = lambda: None,
    most: int = MOST_BEGINNINGS,
) -> list[int] | None:
    """Return the cheapest order that costs at most ``budget``, times the scale; None without one.

    Parameters
    ----------
    orders
        The arcs and weights.
    budget
        In units of the weights.
    check
        Called often; what it raises ends the search.
    most
        At most this number of beginnings are looked at.

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
    # Whatever costs more than the budget can hold is left out before numbers exceed 64 bits.
    cost = np.array(
        [[NONE if value is None else min(value, NONE) for value in row] for row in orders.cost],
        dtype=np.int64,
    )
    is_arc = cost < NONE
    weight = sum(map(abs, (*orders.leaving, *orders.entering))) + orders.spare
    weight += sum(weight for *_, weight in orders.cuts)
    dearest = int(cost[is_arc].max(initial=0)) + abs(budget)
    if (weight + dearest) * (size + 2) > NONE // 2:
        raise MethodError("the weights are too large to add them up in 64 bits")
    # An arc takes the place of the weights at its ends.
    change = cost - np.array(orders.leaving)[:, None] - np.array(orders.entering)[None, :]
    to_come = _least_to_come(orders, is_arc)
    before = [_mask(orders.before[node]) for node in range(size)]
    lasts = np.array([node for node in nodes if is_arc[0, node]], dtype=np.int64)
    masks = np.left_shift(1, lasts - 1)
    # The value of a beginning: what it costs, and the weights of all visits that follow.
    values = sum(orders.leaving) + sum(orders.entering) + change[0, lasts]
    looked_at = len(masks)
    layers = []
    for position in range(1, size):
        least = values + np.maximum(to_come[position, lasts], -orders.spare)
        alive = least + _cuts_to_come(orders, masks, lasts, check) <= budget
        masks, lasts, values = masks[alive], lasts[alive], values[alive]
        layers.append((masks, lasts, values))
        if position == size - 1:
            break
        longer = []
        for node in nodes:
            check()
            bit, needed = 1 << node - 1, before[node]
            may = np.flatnonzero((masks & (bit | needed) == needed) & is_arc[lasts, node])
            # Of the beginnings that agree, the first one after sorting is the cheapest.
            following, cheap = masks[may] | bit, values[may] + change[lasts[may], node]
            ranked = np.lexsort((cheap, following))
            following, cheap = following[ranked], cheap[ranked]
            new = np.flatnonzero(np.diff(following, prepend=-1))
            longer.append((following[new], np.full(len(new), node), cheap[new]))
            looked_at += len(new)
            if looked_at > most:
                raise MethodError(f"more than {most} beginnings of orders are too many to check")
        masks, lasts, values = (np.concatenate(parts) for parts in zip(*longer, strict=True))
    values = np.where(is_arc[lasts, 0], values + change[lasts, 0], NONE)
    if values.min(initial=NONE) > budget:
        return None
    return _traced(layers, int(values.argmin()), change)


def _least_to_come(orders: Beginnings, is_arc: Flags) -> Integers:
    """Return the least reduced costs of a walk from each node to the end, by its position.

    Such a walk has as many nodes as an order has after that position. Each of them is where it can
    be: after all nodes that come before it, and before those that come after it.
    """
    import numpy as np

    size = len(is_arc)
    few_bits = [[min(value, NONE) for value in row] for row in orders.reduced]
    reduced = np.where(is_arc, np.array(few_bits, dtype=np.int64), NONE)
    positions = np.arange(size)[:, None]
    earliest = np.array([len(nodes) for nodes in orders.before]) + 1
    follow = [sum(node in nodes for nodes in orders.before) for node in range(size)]
    fits = (positions >= earliest) & (positions <= size - 1 - np.array(follow))
    least = np.full((size, size), NONE)
    least[-1] = np.where(fits[-1], reduced[:, 0], NONE)
    for position in range(size - 2, 0, -1):
        ways = reduced[1:, 1:] + least[position + 1, 1:]
        least[position, 1:] = np.where(fits[position, 1:], ways.min(axis=1), NONE)
        least = np.minimum(least, NONE)
    return least


def _cuts_to_come(
    orders: Beginnings, masks: Integers, lasts: Integers, check: Callable[[], None]
) -> Integers:
    """Return the weights of the cuts that have still to be crossed after beginnings."""
    import numpy as np

    total = np.zeros(len(masks), dtype=np.int64)
    for last_of, first_of, tails, weight in orders.cuts:
        check()
        ahead = masks & _mask(first_of) == 0  # the first of these is still to come
        needed = _mask(last_of)
        open_ = masks & needed != needed  # the last of those too
        total += weight * (ahead & (open_ | np.isin(lasts, tails)))
    return total


def _traced(
    layers: Sequence[tuple[Integers, Integers, Integers]], row: int, change: Integers
) -> list[int]:
    """Return the nodes of a beginning in the last layer, in their order."""
    mask, last, value = (int(column[row]) for column in layers[-1])
    order = [last]
    for masks, lasts, values in reversed(layers[:-1]):
        mask ^= 1 << last - 1
        fits = (masks == mask) & (values + change[lasts, last] == value)
        row = int(fits.argmax())
        last, value = int(lasts[row]), int(values[row])
        order.append(last)
    return order[::-1]


def _mask(nodes: Sequence[int] | set[int]) -> int:
    return sum(1 << node - 1 for node in nodes)
