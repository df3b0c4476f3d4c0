"""Which cut of the graph of wake-ups into communities explains it best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.trace.events import Numbers
from dfopt.trace.labels.wakeup_graph import WakeupGraph

if TYPE_CHECKING:
    import networkx

UNASSIGNED = -1

RESOLUTIONS = (0.2, 0.5, 1.0, 1.4)
"""Of the modularity; high ones cut what low ones leave together."""

SIBLING_WEIGHTS = (0, 1)
"""Wake-ups that two tasks made one after the other count for in the search, beside their own."""

CHEAP_LABELS = 0.2
"""Share of the length of the labels that counts for the second opinion."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Communities:
    """Communities of tasks.

    Parameters
    ----------
    best
        The community of each task, or ``UNASSIGNED``.
    rival
        The communities that would be best if labels cost little.
    evidence
        By how much the odds grow that two tasks share a fragment for each unit of weight between
        them: a logarithm.
    number
        How many communities there are of the tasks by which cuts are judged.
    """

    best: Numbers
    rival: Numbers
    evidence: float
    number: int


def find_communities(graph: WakeupGraph, *, seed: int) -> Communities:
    r"""Return the communities that give the shortest description of the wake-ups.

    Notes
    -----
    Louvain's method proposes a cut for each of several resolutions, with and without the order of
    forks. A cut is judged by the tasks that coordinators made (by all, where there is none). Let
    w of a weight W lie inside communities, and let z be the share that would lie there by chance,
    if each task kept its own weight. The cut gains

    .. math:: w \ln\frac{w / W}{z} + (W - w) \ln\frac{1 - w / W}{1 - z}

    in likelihood [Newman]_, if more lies inside than by chance, and pays for the length of its
    labels, the shorter of two: the entropy of the labels; or, where a task is of another community
    than the one made before it, the logarithm of 1 / P(that) and of the number of the other
    communities, and elsewhere the logarithm of 1 / P(not that).

    References
    ----------
    .. [Newman] M. E. J. Newman, "Equivalence between modularity optimization and maximum
       likelihood methods for community detection", Physical Review E 94, 2016, 052315.
    """
    nobody = np.full(len(graph.is_managed), UNASSIGNED, np.int32)
    judge = Judge(graph)
    cuts = [
        (*judge.judged(community), community) for community in _proposed(graph, nobody, seed=seed)
    ]
    if not cuts:
        return Communities(best=nobody, rival=nobody, evidence=0.0, number=0)
    # Of equals the first one is taken, which has the lowest resolution.
    best = max(cuts, key=lambda cut: cut[0] - cut[1])[2]
    rival = max(cuts, key=lambda cut: cut[0] - CHEAP_LABELS * cut[1])[2]
    return Communities(
        best=best, rival=rival, evidence=judge.evidence(best), number=judge.number(best)
    )


def _proposed(graph: WakeupGraph, nobody: Numbers, *, seed: int) -> Iterator[Numbers]:
    """Yield cuts of the graph; none if nobody wakes anybody."""
    from networkx.algorithms.community import louvain_communities

    if not len(graph.first):
        return
    for sibling_weight in SIBLING_WEIGHTS if graph.siblings else (0,):
        network = _network(graph, sibling_weight)
        for resolution in RESOLUTIONS:
            community = nobody.copy()
            found = louvain_communities(network, resolution=resolution, seed=seed)
            for number, members in enumerate(found):
                community[list(members)] = number
            yield community


def _network(graph: WakeupGraph, sibling_weight: float) -> networkx.Graph[Any]:
    """Return the graph, with edges between those made one after the other if these count."""
    import networkx

    network = networkx.Graph()
    # In order, since the order decides what the search for communities finds.
    tasks = np.unique(np.concatenate([graph.first, graph.second, *graph.siblings]))
    # Plain numbers: the search looks them up millions of times, NumPy's take much longer.
    network.add_nodes_from(tasks.tolist())
    edges = (graph.first.tolist(), graph.second.tolist(), graph.weight.tolist())
    network.add_weighted_edges_from(zip(*edges, strict=True))
    for first, second in graph.adjacent if sibling_weight else ():
        woken = network.get_edge_data(first, second, {"weight": 0})["weight"]
        network.add_edge(first, second, weight=woken + sibling_weight)
    return network


class Judge:
    """Says how well communities explain the wake-ups of a graph.

    Parameters
    ----------
    graph
        Whose wake-ups are to be explained.
    """

    def __init__(self, graph: WakeupGraph) -> None:
        counts = graph.is_managed[graph.first] & graph.is_managed[graph.second]
        counts |= not counts.any()
        self._first, self._second = graph.first[counts], graph.second[counts]
        self._weight = graph.weight[counts]
        self._total = float(self._weight.sum())
        ends = np.concatenate([self._first, self._second])
        self._strength = np.bincount(ends, np.tile(self._weight, 2), len(graph.is_managed))
        self._tasks = np.flatnonzero(self._strength)
        adjacent = [pair for pair in graph.adjacent if self._strength[list(pair)].all()]
        self._before, self._after = np.array(adjacent, np.int32).reshape(-1, 2).T

    def judged(self, community: Numbers) -> tuple[float, float]:
        """Return the gain in likelihood and the length of the labels, in natural units."""
        share, by_chance = self._shares(community)
        gain = 0.0
        if by_chance < share:
            gain = self._total * (_surprise(share, by_chance) + _surprise(1 - share, 1 - by_chance))
        return gain, self._length(community)

    def evidence(self, community: Numbers) -> float:
        """Return by how much the log odds of one community grow with each unit of weight."""
        share, by_chance = self._shares(community)
        # As if half a unit more had been seen on either side, since nothing is impossible.
        share = (share * self._total + 0.5) / (self._total + 1)
        if by_chance == 1:
            return 0.0
        return max(0.0, log(share / by_chance) - log((1 - share) / (1 - by_chance)))

    def number(self, community: Numbers) -> int:
        """Return how many communities there are of the tasks that count."""
        return len(np.unique(community[self._tasks]))

    def _shares(self, community: Numbers) -> tuple[float, float]:
        """Return the share of the weight that is inside communities, and would be by chance."""
        inside = self._weight[community[self._first] == community[self._second]]
        strength = np.bincount(community[self._tasks], self._strength[self._tasks])
        by_chance = float((strength**2).sum()) / (2 * self._total) ** 2
        return min(1.0, float(inside.sum()) / self._total), min(1.0, by_chance)

    def _length(self, community: Numbers) -> float:
        sizes = np.bincount(community[self._tasks])
        sizes = sizes[sizes > 0]
        entropy = -float((sizes * np.log(sizes / sizes.sum())).sum())
        in_order = np.unique([self._before, self._after])
        changes = int((community[self._before] != community[self._after]).sum())
        if not len(in_order):
            return entropy
        share = (changes + 0.5) / (len(self._before) + 1)
        others = len(sizes) - 1
        by_order = (
            -changes * log(share / max(1, others))
            - (len(self._before) - changes) * log(1 - share)
            + (len(self._tasks) - len(in_order)) * log(len(sizes))
        )
        return min(entropy, by_order)


def _surprise(share: float, expected: float) -> float:
    return share * log(share / expected) if share > 0 else 0.0
