"""Labels inferred from who wakes whom: tasks that share data wake each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dfopt.errors import FileError
from dfopt.trace.events import Numbers
from dfopt.trace.labels.relabelling import label_tasks
from dfopt.trace.labels.wakeup_graph import WakeupGraph, wakeup_graph
from dfopt.trace.trace import Trace

UNASSIGNED = -1

RESOLUTION = 0.5
"""Of the modularity. Below 1, so that a fragment of which few wake-ups were seen is not cut up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """What was inferred about one task.

    Parameters
    ----------
    fragment
        Its fragment; None if nothing could be said.
    confidence
        Share of its wake-ups, given or received, that it exchanges with tasks of its fragment;
        those of the kernel, of interrupts and of the coordinator do not count. 0 if it has none,
        and its fragment is that of the tasks forked before and after it.
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
    The tasks are the nodes of a graph, and the weight of an edge says how often the two woke each
    other. Threads of the kernel, interrupts and the coordinator are left out: the task that has
    forked most others, or, where the trace has no forks, the one that exchanges wake-ups with
    more than half of them. Tasks that the coordinator forked one after the other count as having
    woken each other once more. Louvain's method [Louvain]_ parts the graph into communities of
    large modularity, which are the fragments. A task without a wake-up inside its community is
    then taken out again. It joins the fragment of its nearest neighbours in fork order if these
    agree; otherwise it stays unassigned.

    References
    ----------
    .. [Louvain] V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of
       communities in large networks", Journal of Statistical Mechanics, 2008, P10008.
    """
    if not len(trace.wakeups.time):
        raise FileError(
            "has no wake-ups to infer labels from; record sched:sched_waking too, or take "
            "another source of labels"
        )
    graph = wakeup_graph(trace)
    community = _communities(graph, len(trace.tasks), seed)
    inside = community[graph.first] == community[graph.second]
    tasks = len(trace.tasks)
    with_own = _wakeups(graph, inside & (community[graph.first] != UNASSIGNED), tasks)
    with_any = _wakeups(graph, np.ones(len(graph.first), bool), tasks)
    community[with_own == 0] = UNASSIGNED
    community = _filled(community, graph.siblings)
    names = _names(community)
    return tuple(
        Inferred(fragment=names.get(number), confidence=float(own / (total or 1)))
        for number, own, total in zip(
            community.tolist(), with_own.tolist(), with_any.tolist(), strict=True
        )
    )


def label_by_wakeups(trace: Trace) -> Trace:
    """Return a trace labelled by :func:`infer_fragments`; unassigned tasks are not labelled."""
    return label_by_inferred(trace, infer_fragments(trace))


def label_by_inferred(trace: Trace, inferred: Sequence[Inferred]) -> Trace:
    """Return a trace labelled by what was inferred about its tasks."""
    return label_tasks(trace, [found.fragment for found in inferred])


def _communities(graph: WakeupGraph, tasks: int, seed: int) -> Numbers:
    """Return the community of each task, or UNASSIGNED."""
    from networkx.algorithms.community import louvain_communities

    community = np.full(tasks, UNASSIGNED, np.int32)
    if len(graph.first):
        found = louvain_communities(graph.with_siblings(), resolution=RESOLUTION, seed=seed)
        for number, members in enumerate(found):
            community[list(members)] = number
    return community


def _wakeups(graph: WakeupGraph, counted: np.ndarray, tasks: int) -> np.ndarray:
    """Return how many of the wake-ups that count each task takes part in."""
    ends = np.concatenate([graph.first[counted], graph.second[counted]])
    weights = np.concatenate([graph.weight[counted]] * 2)
    return np.bincount(ends, weights=weights, minlength=tasks)


def _filled(community: Numbers, siblings: Numbers) -> Numbers:
    """Return the communities, with those unassigned in the one of both their neighbours.

    At either end of the order the one neighbour is enough.
    """
    community = community.copy()
    known = np.flatnonzero(community[siblings] != UNASSIGNED)
    if not len(known):
        return community
    places = np.flatnonzero(community[siblings] == UNASSIGNED)
    after = np.searchsorted(known, places)
    before = community[siblings[known[np.maximum(after - 1, 0)]]]
    behind = community[siblings[known[np.minimum(after, len(known) - 1)]]]
    agree = before == behind
    community[siblings[places[agree]]] = before[agree]
    return community


def _names(community: Numbers) -> dict[int, str]:
    """Return what the communities are called, in the order of their first tasks."""
    numbers = dict.fromkeys(number for number in community.tolist() if number != UNASSIGNED)
    return {number: f"g{place}" for place, number in enumerate(numbers)}
