"""What the order in which tasks were made says of those about whom wake-ups say nothing."""

from __future__ import annotations

import numpy as np

from dfopt.trace.events import Flags, Numbers
from dfopt.trace.labels.communities import UNASSIGNED
from dfopt.trace.labels.wakeup_graph import Reals

LEAST_TRUST = 0.9
"""The order decides only where it is right at least this often."""


def fill_in_order(community: Numbers, confidence: Reals, siblings: Numbers) -> None:
    """Assign the unassigned of the tasks that one coordinator made, as far as their order tells.

    Parameters
    ----------
    community, confidence
        Of all tasks; changed in place. Who is filled in is as sure as the nearest task of the
        community that it joins, times the trust in the order.
    siblings
        Tasks in the order in which they were made.
    """
    order, sure = community[siblings], confidence[siblings]
    known, places = np.flatnonzero(order != UNASSIGNED), np.flatnonzero(order == UNASSIGNED)
    if not len(known) or not len(places):
        return
    following = np.searchsorted(known, places)
    left = known[np.maximum(following - 1, 0)]
    right = known[np.minimum(following, len(known) - 1)]
    blocks, trust = equal_blocks(order)
    for place, before, behind in zip(places.tolist(), left.tolist(), right.tolist(), strict=True):
        joined = before
        if blocks:
            length = len(order) // blocks
            joined = before if before // length == place // length else behind
            believed = trust
        else:
            # At an end all stand or fall with the last one: a fragment may begin among them.
            last = 0 if place < before else len(order) - 1 if place > behind else place
            believed = trust_in_neighbours(order, last, before, behind)
        if believed >= LEAST_TRUST:
            community[siblings[place]] = order[joined]
            confidence[siblings[place]] = believed * sure[joined]


def contradicted(community: Numbers, is_weak: Flags, siblings: Numbers) -> Numbers:
    """Return the tasks that stand amid another community in the order, and joined theirs weakly.

    Parameters
    ----------
    community
        Of all tasks.
    is_weak
        Which tasks are in their community for so few wake-ups that all may be an interrupt's.
    siblings
        Tasks in the order in which one coordinator made them.
    """
    order = community[siblings]
    weak = is_weak[siblings] & (order != UNASSIGNED)
    known = np.flatnonzero((order != UNASSIGNED) & ~weak)
    places = np.flatnonzero(weak)
    following = np.searchsorted(known, places)
    amid = (following > 0) & (following < len(known))
    found = [
        place
        for place, behind in zip(places[amid].tolist(), following[amid].tolist(), strict=True)
        if order[known[behind]] != order[place]
        and trust_in_neighbours(order, place, int(known[behind - 1]), int(known[behind]))
        >= LEAST_TRUST
    ]
    return siblings[found]


def equal_blocks(order: Numbers) -> tuple[int, float]:
    """Return of how many equal blocks an order of communities consists, and the trust in that.

    A program that starts equal groups one after the other has boundaries at the multiples of the
    length of a block. Of some boundaries it is not known where exactly they are, because tasks
    there are unassigned. The chance that all of them allow those multiples by accident is the
    product of the shares of places, out of such a length, at which each may be; the trust is
    what is missing to 1. It is 0 blocks where they do not allow it.
    """
    known = np.flatnonzero(order != UNASSIGNED)
    changes = np.flatnonzero(order[known[1:]] != order[known[:-1]])
    blocks = len(changes) + 1
    if blocks == 1 or blocks != len(np.unique(order[known])) or len(order) % blocks:
        return 0, 0.0
    length = len(order) // blocks
    multiples = np.arange(1, blocks) * length
    # Where the first task of the next community may stand.
    lowest, highest = known[changes] + 1, known[changes + 1]
    if ((multiples < lowest) | (highest < multiples)).any():
        return 0, 0.0
    chance = float(np.minimum(1, (highest - lowest + 1) / length).prod())
    return (blocks, 1 - chance) if 1 - chance >= LEAST_TRUST else (0, 0.0)


def trust_in_neighbours(order: Numbers, place: int, before: int, behind: int) -> float:
    """Return how often a task is of the community of those known before and behind it.

    Counted are the places whose communities are known, and which have others at the same
    distances before and behind them that agree with each other; with one that is right and one
    that is wrong added. It is 0 where the neighbours of the place do not agree. At either end of
    the order there is one neighbour.
    """
    if order[before] != order[behind]:
        return 0.0
    middle = np.arange(len(order))
    first, last = middle + (before - place), middle + (behind - place)
    inside = (np.minimum(first, last) >= 0) & (np.maximum(first, last) < len(order))
    middle, first, last = middle[inside], first[inside], last[inside]
    counted = (order[middle] != UNASSIGNED) & (order[first] != UNASSIGNED)
    counted &= order[first] == order[last]
    right = int((order[middle] == order[first])[counted].sum())
    return (right + 1) / (int(counted.sum()) + 2)
