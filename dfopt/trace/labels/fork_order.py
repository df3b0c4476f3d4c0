"""The fragments of tasks without wake-ups, told by the order in which all tasks were made."""

from __future__ import annotations

import numpy as np

from dfopt.trace.events import Flags, Numbers
from dfopt.trace.labels.communities import UNASSIGNED
from dfopt.trace.labels.wakeup_graph import Reals

LEAST_TRUST = 0.9
"""The order decides only where it is right in at least this share of the known cases."""


def fill_in_order(community: Numbers, confidence: Reals, siblings: Numbers) -> None:
    """Assign unassigned tasks of one coordinator to communities, as far as their order tells.

    Parameters
    ----------
    community, confidence
        Of all tasks; changed in place. The confidence of a task that is filled in is that of the
        nearest task of the community that it joins, times the trust in the order.
    siblings
        Tasks in the order in which they were made.
    """
    order, sure = community[siblings], confidence[siblings]
    known, positions = np.flatnonzero(order != UNASSIGNED), np.flatnonzero(order == UNASSIGNED)
    if not len(known) or not len(positions):
        return
    following = np.searchsorted(known, positions)
    left = known[np.maximum(following - 1, 0)]
    right = known[np.minimum(following, len(known) - 1)]
    blocks, trust = equal_blocks(order)
    for position, before, behind in zip(
        positions.tolist(), left.tolist(), right.tolist(), strict=True
    ):
        joined = before
        if blocks:
            length = len(order) // blocks
            joined = before if before // length == position // length else behind
            believed = trust
        else:
            # At either end of the order a fragment may begin among the unassigned tasks. So the
            # outermost of them decides for all.
            last = 0 if position < before else len(order) - 1 if position > behind else position
            believed = trust_in_neighbours(order, last, before, behind)
        if believed >= LEAST_TRUST:
            community[siblings[position]] = order[joined]
            confidence[siblings[position]] = believed * sure[joined]


def contradicted(community: Numbers, is_weak: Flags, siblings: Numbers) -> Numbers:
    """Return tasks that joined their community weakly and stand within another one in the order.

    Parameters
    ----------
    community
        Of all tasks.
    is_weak
        Whether a task has only a few wake-ups in its community: interrupts may explain them all.
    siblings
        Tasks in the order in which one coordinator made them.
    """
    order = community[siblings]
    weak = is_weak[siblings] & (order != UNASSIGNED)
    known = np.flatnonzero((order != UNASSIGNED) & ~weak)
    positions = np.flatnonzero(weak)
    following = np.searchsorted(known, positions)
    inside = (following > 0) & (following < len(known))
    found = [
        position
        for position, behind in zip(
            positions[inside].tolist(), following[inside].tolist(), strict=True
        )
        if order[known[behind]] != order[position]
        and trust_in_neighbours(order, position, int(known[behind - 1]), int(known[behind]))
        >= LEAST_TRUST
    ]
    return siblings[found]


def equal_blocks(order: Numbers) -> tuple[int, float]:
    """Return the number of equal blocks in an order of communities, and the trust in it.

    A program that starts equal groups one after the other has its boundaries at multiples of the
    length of a block. Where tasks at a boundary are unassigned, its position is not known exactly.
    Each boundary may stand at a share of the positions in a block. The product of these shares is
    the probability that all boundaries allow the multiples by accident; the trust is 1 minus that.
    Where the boundaries do not allow the multiples, there are 0 blocks.
    """
    known = np.flatnonzero(order != UNASSIGNED)
    changes = np.flatnonzero(order[known[1:]] != order[known[:-1]])
    blocks = len(changes) + 1
    if blocks == 1 or blocks != len(np.unique(order[known])) or len(order) % blocks:
        return 0, 0.0
    length = len(order) // blocks
    multiples = np.arange(1, blocks) * length
    # The lowest and the highest position at which the next community may begin.
    lowest, highest = known[changes] + 1, known[changes + 1]
    if ((multiples < lowest) | (highest < multiples)).any():
        return 0, 0.0
    chance = float(np.minimum(1, (highest - lowest + 1) / length).prod())
    return (blocks, 1 - chance) if 1 - chance >= LEAST_TRUST else (0, 0.0)


def trust_in_neighbours(order: Numbers, position: int, before: int, behind: int) -> float:
    """Return the share of tasks that are in the community on which their two neighbours agree.

    Neighbours are the tasks at the same distances as ``before`` and ``behind`` have from
    ``position``. A task counts only if its own community is known and its neighbours agree. One
    right and one wrong case are added (Laplace's rule of succession). The share is 0 if ``before``
    and ``behind`` do not agree. At either end of the order both are the same task.
    """
    if order[before] != order[behind]:
        return 0.0
    middle = np.arange(len(order))
    first, last = middle + (before - position), middle + (behind - position)
    inside = (np.minimum(first, last) >= 0) & (np.maximum(first, last) < len(order))
    middle, first, last = middle[inside], first[inside], last[inside]
    counted = (order[middle] != UNASSIGNED) & (order[first] != UNASSIGNED)
    counted &= order[first] == order[last]
    right = int((order[middle] == order[first])[counted].sum())
    return (right + 1) / (int(counted.sum()) + 2)
