"""Labels inferred from wake-ups: tasks that share data wake each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dfopt.errors import FileError
from dfopt.structs import Record
from dfopt.trace.events import Flags, Numbers, pairs_of
from dfopt.trace.labels.communities import (
    UNASSIGNED,
    Communities,
    Reals,
    WakeupGraph,
    find_communities,
    wakeup_graph,
)
from dfopt.trace.labels.relabelling import label_tasks
from dfopt.trace.trace import Trace

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


EVEN_ODDS = 0.5
"""A task stays unassigned if its fragment is not more likely than this."""

CERTAIN_DIGITS = 9
"""Decimal places of confidence; later digits may differ from machine to machine."""

WEAK = 2.0
"""A task with at most this weight inside its community may be there because of interrupts only."""


class Inferred(Record):
    """The fragment that was inferred for one task, and the confidence in it.

    Parameters
    ----------
    fragment
        Its fragment; None if nothing could be said.
    confidence
        The probability of its fragment, above 0.5 and at most 1; 0 if it has none.
    """

    fragment: str | None
    confidence: float


def infer_fragments(trace: Trace, *, seed: int = 0) -> tuple[Inferred, ...]:
    """Infer from the wake-ups of a trace which tasks share a fragment.

    Parameters
    ----------
    trace
        With wake-ups.
    seed
        The seed of the search for communities.

    Returns
    -------
    tuple of Inferred
        One for each task of the trace.

    Raises
    ------
    FileError
        When the trace has no wake-ups.

    Notes
    -----
    The tasks are the nodes of a graph. The weight of an edge is the square root of the number of
    wake-ups between its two tasks. Threads of the kernel, interrupts and coordinators are left
    out. Coordinators are the tasks that have made most others; where the trace has no forks, it is
    the task that exchanges wake-ups with more than half of the others. Between a descendant of a
    coordinator and any other task, wake-ups count only if they are returned: the others mostly
    come from interrupts.

    Louvain's method [Louvain]_ proposes communities at several resolutions. The fragments are the
    communities that give the shortest description of the wake-ups and the order of forks. They
    gain likelihood by wake-ups that lie inside them and would not by chance [Newman]_. They pay
    for the length of their labels, which is small where tasks forked one after the other share a
    label.

    Then a task is taken out of its community if it has no wake-up inside it, or if it has very few
    and stands within another community in the order of forks. Such a task joins the fragment of its
    nearest neighbours in that order if these agree, and if this is nearly always right for tasks
    whose fragments are known. Where all fragments are blocks of one length in the order, tasks
    between two blocks, and at the ends of the order, join the block in which they stand. All other
    tasks stay unassigned.

    The confidence of a task that took part in wake-ups is the product of two figures. The first is
    the probability of its community among all communities: each unit of weight multiplies the odds
    by a factor, which is small where much weight of the trace lies between communities. The second
    compares the community with the one that the task would have if labels cost little: the number
    of tasks in both, divided by the number of tasks in either. It is low where it is not clear
    whether tasks are one fragment or several. A task that joined by the order of forks has the
    confidence of the task next to it, times the share of cases in which the order is right. A task
    with a confidence of at most 0.5 is unassigned.

    References
    ----------
    .. [Louvain] V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of
       communities in large networks", Journal of Statistical Mechanics, 2008, P10008.
    .. [Newman] M. E. J. Newman, "Equivalence between modularity optimization and maximum
       likelihood methods for community detection", Physical Review E 94, 2016, 052315.
    """
    if not len(trace.wakeups.time):
        raise FileError(
            "has no wake-ups to infer labels from; record sched:sched_waking too, or take "
            "another source of labels"
        )
    graph = wakeup_graph(trace)
    found = find_communities(graph, seed=seed)
    own = _own_weight(graph, found.best)
    community, confidence = found.best.copy(), _confidence(graph, found, own)
    is_weak = own <= WEAK
    confidence *= _agreement(found.best, found.rival)
    confidence = np.round(confidence, CERTAIN_DIGITS)
    community[confidence <= EVEN_ODDS] = UNASSIGNED
    for siblings in graph.siblings:
        community[contradicted(community, is_weak, siblings)] = UNASSIGNED
        fill_in_order(community, confidence, siblings)
    community[confidence <= EVEN_ODDS] = UNASSIGNED
    confidence[community == UNASSIGNED] = 0
    names = _names(community)
    return tuple(
        Inferred(fragment=names.get(number), confidence=sure)
        for number, sure in zip(community.tolist(), confidence.tolist(), strict=True)
    )


def label_by_wakeups(trace: Trace) -> Trace:
    """Return a trace labelled by :func:`infer_fragments`; unassigned tasks are not labelled."""
    return label_by_inferred(trace, infer_fragments(trace))


def label_by_inferred(trace: Trace, inferred: Sequence[Inferred]) -> Trace:
    """Return a trace labelled by the inferred fragments of its tasks."""
    return label_tasks(trace, [found.fragment for found in inferred])


def _confidence(graph: WakeupGraph, found: Communities, own: Reals) -> Reals:
    """Return the probability of each task's community, given its wake-ups; 0 without any inside.

    ``own`` is the weight between each task and the others of its community.
    """
    task = np.concatenate([graph.first, graph.second])
    other = found.best[np.concatenate([graph.second, graph.first])]
    confidence = np.zeros(len(found.best))
    pairs, place = pairs_of(task, other)
    task, other = pairs.first, pairs.second
    weight = np.bincount(place, np.tile(graph.weight, 2), len(task))
    is_own = other == found.best[task]
    # The odds of all other communities against the task's own, also of those without a wake-up.
    met = np.bincount(task, minlength=len(own)) - (own > 0)
    against = np.exp(-found.evidence * own) * np.maximum(0, found.number - 1 - met)
    np.add.at(
        against,
        task[~is_own],
        np.exp(np.minimum(found.evidence * (weight - own[task])[~is_own], 700)),
    )
    confidence[own > 0] = 1 / (1 + against[own > 0])
    return confidence


def _own_weight(graph: WakeupGraph, community: Numbers) -> Reals:
    """Return the weight between each task and the others of its community."""
    inside = community[graph.first] == community[graph.second]
    ends = np.concatenate([graph.first[inside], graph.second[inside]])
    weights = np.concatenate([graph.weight[inside]] * 2)
    strength: Reals = np.bincount(ends, weights, len(community)).astype(np.float64)
    return strength


def _agreement(best: Numbers, rival: Numbers) -> Reals:
    """Return for each task the tasks in both its communities, as a share of those in either."""
    agreement = np.zeros(len(best))
    tasks = np.flatnonzero(best != UNASSIGNED)
    if not len(tasks):
        return agreement
    ours, theirs = best[tasks], rival[tasks]
    pairs, place = pairs_of(ours, theirs)
    common = pairs.count[place]
    either = np.bincount(ours)[ours] + np.bincount(theirs)[theirs] - common
    agreement[tasks] = common / either
    return agreement


def _names(community: Numbers) -> dict[int, str]:
    """Return the names of the communities, in the order of their first tasks."""
    numbers = dict.fromkeys(number for number in community.tolist() if number != UNASSIGNED)
    return {number: f"g{place}" for place, number in enumerate(numbers)}
