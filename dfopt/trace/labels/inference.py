"""Labels inferred from who wakes whom: tasks that share data wake each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dfopt.errors import FileError
from dfopt.trace.events import Numbers
from dfopt.trace.labels.communities import UNASSIGNED, Communities, find_communities
from dfopt.trace.labels.fork_order import contradicted, fill_in_order
from dfopt.trace.labels.relabelling import label_tasks
from dfopt.trace.labels.wakeup_graph import Reals, WakeupGraph, wakeup_graph
from dfopt.trace.trace import Trace

EVEN_ODDS = 0.5
"""A task whose fragment is no more likely than that stays unassigned: chance would decide."""

CERTAIN_DIGITS = 9
"""Decimal places of confidence; what is beyond may differ from machine to machine."""

WEAK = 2.0
"""With so little weight inside its community, a task may be there for interrupts alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """What was inferred about one task.

    Parameters
    ----------
    fragment
        Its fragment; None if nothing could be said.
    confidence
        How likely its fragment is, above 0.5 and up to 1; 0 if it has none.
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
        Of the search for communities.

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
    The tasks are the nodes of a graph, and the weight of an edge grows with the root of how often
    the two woke each other. Threads of the kernel, interrupts and coordinators are left out: the
    tasks that have made most others, or, where the trace has no forks, the one that exchanges
    wake-ups with more than half of them. Between a descendant of a coordinator and another task
    only those wake-ups count that are returned; the others are mostly an interrupt's.

    Louvain's method [Louvain]_ proposes communities at several resolutions. Those are the
    fragments that describe the wake-ups and the order of forks in the shortest way: they gain in
    likelihood by what lies inside them and would not by chance [Newman]_, and pay for the length
    of their labels, which is small where those forked one after the other share them.

    A task without a wake-up inside its community is then taken out again, and so is one with very
    few that stands amid another community in the order of forks. It joins the fragment of its
    nearest neighbours in that order if these agree, and if that is right nearly always for tasks
    whose fragments are known. Where all fragments are blocks of one length in the order, those
    between two of them, and at its ends, join the block in which they stand. All others stay
    unassigned.

    The confidence of a task that took part in wake-ups is the product of two figures. One is the
    probability of its community among all of them: each unit of weight multiplies the odds by
    what it is worth in this trace, which is little where much of it lies between communities. The
    other one says how far the community is the same if labels cost little: what both have in
    common, of what either has. So it is low where it is not clear whether something is one
    fragment or several. Who joined by the order of forks is as sure as the task next to which he
    stands, times how often the order is right. Up to 0.5 a task is unassigned.

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
    community, confidence = found.best.copy(), _confidence(graph, found)
    is_weak = _own_weight(graph, found.best) <= WEAK
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
    """Return a trace labelled by what was inferred about its tasks."""
    return label_tasks(trace, [found.fragment for found in inferred])


def _confidence(graph: WakeupGraph, found: Communities) -> Reals:
    """Return how likely each task's community is, given its wake-ups; 0 if it has none inside."""
    task = np.concatenate([graph.first, graph.second])
    other = found.best[np.concatenate([graph.second, graph.first])]
    communities = int(found.best.max(initial=UNASSIGNED)) + 1
    confidence = np.zeros(len(found.best))
    key, place = np.unique(task.astype(np.int64) * communities + other, return_inverse=True)
    weight = np.bincount(place, np.tile(graph.weight, 2), len(key))
    task, other = key // communities, key % communities
    own = np.zeros(len(found.best))
    is_own = other == found.best[task]
    own[task[is_own]] = weight[is_own]
    # The odds of each other community against the task's own; of those it never met, too.
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
    """Return for each task what its two communities have in common, of what either has."""
    agreement = np.zeros(len(best))
    tasks = np.flatnonzero(best != UNASSIGNED)
    if not len(tasks):
        return agreement
    pairs = best[tasks].astype(np.int64) << 32 | rival[tasks]
    _, place, common = np.unique(pairs, return_inverse=True, return_counts=True)
    ours, theirs = np.bincount(best[tasks])[best[tasks]], np.bincount(rival[tasks])[rival[tasks]]
    agreement[tasks] = common[place] / (ours + theirs - common[place])
    return agreement


def _names(community: Numbers) -> dict[int, str]:
    """Return what the communities are called, in the order of their first tasks."""
    numbers = dict.fromkeys(number for number in community.tolist() if number != UNASSIGNED)
    return {number: f"g{place}" for place, number in enumerate(numbers)}
