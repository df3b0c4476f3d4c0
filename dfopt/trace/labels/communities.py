"""The wake-ups of a trace as a graph, and its cut into communities that explains them best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dfopt.trace.events import Flags, Integers, Numbers, Pairs, pairs_of
from dfopt.trace.labels.kernel_threads import kernel_threads
from dfopt.trace.trace import Trace

if TYPE_CHECKING:
    import networkx


Reals = NDArray[np.float64]

UNITS = 1 << 10
"""Weights are multiples of 1 / UNITS, so that their sums are exact.

Otherwise sums would depend on the order of addition and on the version of Python, and so would the
choice between two equally good cuts.
"""

FEWEST_CHILDREN = 3
"""A coordinator has made at least this number of other tasks."""

COORDINATING_SHARE = 0.5
"""A coordinator has made at least this share of the number of tasks that any task has made."""

FEWEST_PARTNERS = 20
HUB_SHARE = 0.5
"""Without forks, a coordinator exchanges wake-ups with at least FEWEST_PARTNERS other tasks, and
with more than HUB_SHARE of them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WakeupGraph:
    """The wake-ups between tasks, without the kernel's threads, interrupts and coordinators.

    Parameters
    ----------
    first, second
        Two tasks, ``first < second``, ...
    weight
        ... and the square root of the number of wake-ups between them. Wake-ups come in bursts: a
        hundred of them are stronger evidence than one, but not a hundred times as strong.
    siblings
        For each coordinator the tasks that it made, in the order in which it made them.
    is_managed
        Whether a task descends from a coordinator; true for all tasks if there is none.
    """

    first: Numbers
    second: Numbers
    weight: Reals
    siblings: tuple[Numbers, ...]
    is_managed: Flags

    @property
    def adjacent(self) -> list[tuple[int, int]]:
        """Return the pairs of tasks that a coordinator made one after the other."""
        return [pair for siblings in self.siblings for pair in pairwise(siblings.tolist())]


def wakeup_graph(trace: Trace) -> WakeupGraph:
    """Return the graph of a trace's wake-ups."""
    waker, woken, times = _wakeups(trace)
    parent = _parents(trace)
    if len(trace.forks.time):
        coordinators = _prolific(parent, waker, woken)
        siblings = tuple(_children(trace, coordinator) for coordinator in coordinators)
        family = _families(parent, coordinators)
        times = _between_families(waker, woken, times, family)
    else:
        coordinators, siblings = _hub(trace, waker, woken)
        family = np.full(len(trace.tasks), -1, np.int32)
        family[[task for order in siblings for task in order.tolist()]] = 0
    kept = (times > 0) & ~np.isin(waker, coordinators) & ~np.isin(woken, coordinators)
    pairs, place = _exchanges(waker[kept], woken[kept])
    return WakeupGraph(
        first=pairs.first,
        second=pairs.second,
        weight=np.round(np.sqrt(np.bincount(place, times[kept], len(pairs.first))) * UNITS) / UNITS,
        siblings=siblings,
        is_managed=family >= 0 if coordinators else np.ones(len(trace.tasks), bool),
    )


def _wakeups(trace: Trace) -> tuple[Numbers, Numbers, Integers]:
    """Return pairs of waker and woken task, and the number of wake-ups of each pair.

    The kernel's threads and interrupts are left out.
    """
    waker, woken = trace.wakeups.waker, trace.wakeups.woken
    left_out = np.append(kernel_threads(trace), True)  # one more at the end, for interrupts
    kept = (waker != woken) & ~left_out[waker] & ~left_out[woken]
    pairs, _ = pairs_of(waker[kept], woken[kept])
    return pairs.first, pairs.second, pairs.count


def _exchanges(waker: Numbers, woken: Numbers) -> tuple[Pairs, NDArray[np.intp]]:
    """Return pairs of tasks in any order, and the place of each wake-up's pair among them."""
    return pairs_of(np.minimum(waker, woken), np.maximum(waker, woken))


def _parents(trace: Trace) -> Numbers:
    """Return for each task the task that made it; -1 where that is not known."""
    parent = np.full(len(trace.tasks) + 1, -1, np.int32)  # one more at the end, for index -1
    parent[trace.forks.child] = trace.forks.parent
    return parent[:-1]


def _children(trace: Trace, parent: int) -> Numbers:
    """Return the tasks that a task made, in that order."""
    forks = trace.forks
    made: Numbers = forks.child[(forks.parent == parent) & (forks.child >= 0)]
    return made


def _prolific(parent: Numbers, waker: Numbers, woken: Numbers) -> list[int]:
    """Return the coordinators: the tasks that have made most others.

    Only children count that exchange wake-ups with other tasks than their parent: a shell has many
    children that do nothing together.
    """
    is_active = np.zeros(len(parent), bool)
    is_active[waker[parent[waker] != woken]] = True
    is_active[woken[parent[woken] != waker]] = True
    children = np.bincount(parent[is_active & (parent >= 0)], minlength=len(parent))
    fewest = max(FEWEST_CHILDREN, COORDINATING_SHARE * int(children.max(initial=0)))
    return np.flatnonzero(children >= fewest).tolist()


def _families(parent: Numbers, coordinators: Sequence[int]) -> Numbers:
    """Return for each task the nearest coordinator that it descends from, or -1."""
    family = np.full(len(parent), -1, np.int32)
    family[np.isin(parent, coordinators)] = parent[np.isin(parent, coordinators)]
    while True:
        found = (family < 0) & (parent >= 0)
        found[found] = family[parent[found]] >= 0
        if not found.any():
            return family
        family[found] = family[parent[found]]


def _between_families(waker: Numbers, woken: Numbers, times: Integers, family: Numbers) -> Integers:
    """Return the number of wake-ups of each pair; between families only returned ones count.

    If an interrupt wakes a task, the trace names the task that happens to run as the waker. Tasks
    of different families that work together wake each other in both directions.
    """
    pairs = list(zip(waker.tolist(), woken.tolist(), strict=True))
    times_of = dict(zip(pairs, times.tolist(), strict=True))
    back = np.array([times_of.get((woken, waker), 0) for waker, woken in pairs], np.int64)
    return np.where(family[waker] == family[woken], times, np.minimum(times, back))


def _hub(trace: Trace, waker: Numbers, woken: Numbers) -> tuple[list[int], tuple[Numbers, ...]]:
    """Return the task that exchanges wake-ups with most others, and the others by their numbers."""
    pairs, _ = _exchanges(waker, woken)
    tasks, partners = np.unique([pairs.first, pairs.second], return_counts=True)
    if not len(tasks) or partners.max() < max(FEWEST_PARTNERS, HUB_SHARE * len(tasks)):
        return [], ()
    hub = int(tasks[np.argmax(partners)])
    others = tasks[tasks != hub]
    # The kernel numbers its threads in ascending order, so the numbers tell the order of making.
    tids = [trace.tasks[task].tid or 0 for task in others.tolist()]
    return [hub], (others[np.argsort(tids, kind="stable")].astype(np.int32),)


UNASSIGNED = -1

RESOLUTIONS = (0.2, 0.5, 1.0, 1.4)
"""Resolutions of the modularity; a high one cuts communities that a low one keeps together."""

SIBLING_WEIGHTS = (0, 1)
"""Weights that the search adds between two tasks made one after the other; each one is tried."""

CHEAP_LABELS = 0.2
"""For the rival communities only this share of the length of the labels counts."""


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
        The logarithm of the factor by which each unit of weight between two tasks multiplies the
        odds that they share a fragment.
    number
        The number of communities among the tasks by which cuts are judged.
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
    forks. A cut is judged by the tasks that coordinators made, or by all tasks without a
    coordinator. Let w of the weight W lie inside communities. Let z be the share that would lie
    there by chance, if each task kept its own weight. If more lies inside than by chance, the cut
    gains

    .. math:: w \ln\frac{w / W}{z} + (W - w) \ln\frac{1 - w / W}{1 - z}

    in likelihood [Newman]_. It pays for the length of its labels. That is the entropy of the
    labels, or, if shorter, the length of their changes in the order of forks: with P the
    probability of a change, a task in another community than the task made before it costs the
    logarithms of 1 / P and of the number of other communities, and any other task costs the
    logarithm of 1 / (1 - P).

    References
    ----------
    .. [Newman] M. E. J. Newman, "Equivalence between modularity optimization and maximum
       likelihood methods for community detection", Physical Review E 94, 2016, 052315.
    """
    unassigned = np.full(len(graph.is_managed), UNASSIGNED, np.int32)
    judge = Judge(graph)
    cuts = [
        (*judge.judged(community), community)
        for community in _proposed(graph, unassigned, seed=seed)
    ]
    if not cuts:
        return Communities(best=unassigned, rival=unassigned, evidence=0.0, number=0)
    # Of equally good cuts max takes the first one, which has the lowest resolution.
    best = max(cuts, key=lambda cut: cut[0] - cut[1])[2]
    rival = max(cuts, key=lambda cut: cut[0] - CHEAP_LABELS * cut[1])[2]
    return Communities(
        best=best, rival=rival, evidence=judge.evidence(best), number=judge.number(best)
    )


def _proposed(graph: WakeupGraph, unassigned: Numbers, *, seed: int) -> Iterator[Numbers]:
    """Yield cuts of the graph; none if no task wakes another one."""
    from networkx.algorithms.community import louvain_communities

    if not len(graph.first):
        return
    for sibling_weight in SIBLING_WEIGHTS if graph.siblings else (0,):
        network = _network(graph, sibling_weight)
        for resolution in RESOLUTIONS:
            community = unassigned.copy()
            found = louvain_communities(network, resolution=resolution, seed=seed)
            for number, members in enumerate(found):
                community[list(members)] = number
            yield community


def _network(graph: WakeupGraph, sibling_weight: float) -> networkx.Graph[Any]:
    """Return the graph for the search; ``sibling_weight`` is that of two consecutive siblings."""
    import networkx

    network = networkx.Graph()
    # In order, since the order decides what the search for communities finds.
    tasks = np.unique(np.concatenate([graph.first, graph.second, *graph.siblings]))
    # Python's own numbers: the search looks them up millions of times, and NumPy's are slow there.
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
        The wake-ups.
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
        """Return by how much each unit of weight raises the log odds of a community."""
        share, by_chance = self._shares(community)
        # Half a unit is added on either side, so that no probability is 0 or 1.
        share = (share * self._total + 0.5) / (self._total + 1)
        if by_chance == 1:
            return 0.0
        return max(0.0, log(share / by_chance) - log((1 - share) / (1 - by_chance)))

    def number(self, community: Numbers) -> int:
        """Return the number of communities among the tasks that count."""
        return len(np.unique(community[self._tasks]))

    def _shares(self, community: Numbers) -> tuple[float, float]:
        """Return the share of the weight inside communities, and the share expected by chance."""
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
