"""Who wakes whom, as a graph of the tasks that may share a fragment."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.trace.events import Integers, Numbers
from dfopt.trace.labels.kernel_threads import kernel_threads
from dfopt.trace.trace import Trace

if TYPE_CHECKING:
    import networkx

FEWEST_CHILDREN = 3
"""A task that has made fewer others coordinates nothing."""

FEWEST_PARTNERS = 20
HUB_SHARE = 0.5
"""Where nothing is known about forks, a task coordinates the others if it exchanges wake-ups with
at least so many, and with more than this share of them."""

SIBLING_WEIGHT = 1
"""Wake-ups that two tasks forked one after the other count for, even if neither woke the other."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WakeupGraph:
    """The wake-ups between tasks, without the kernel's threads, interrupts and the coordinator.

    Parameters
    ----------
    first, second
        Two tasks, ``first < second``, ...
    weight
        ... and how often one of them woke the other.
    coordinator
        The task that made the others, or wakes them all, which says nothing about what they
        share; -1 if there is none.
    siblings
        Tasks in the order in which the coordinator made them.
    """

    first: Numbers
    second: Numbers
    weight: Integers
    coordinator: int
    siblings: Numbers

    def with_siblings(self) -> networkx.Graph[Any]:
        """Return the graph with an edge also between those forked one after the other."""
        import networkx

        graph = networkx.Graph()
        # In order, since the order decides what the search for communities finds.
        graph.add_nodes_from(np.unique(np.concatenate([self.first, self.second, self.siblings])))
        for first, second, weight in zip(self.first, self.second, self.weight, strict=True):
            graph.add_edge(int(first), int(second), weight=int(weight))
        for first, second in pairwise(self.siblings.tolist()):
            woken = graph.get_edge_data(first, second, {"weight": 0})["weight"]
            graph.add_edge(first, second, weight=woken + SIBLING_WEIGHT)
        return graph


def wakeup_graph(trace: Trace) -> WakeupGraph:
    """Return who wakes whom in a trace."""
    waker, woken = trace.wakeups.waker, trace.wakeups.woken
    left_out = np.append(kernel_threads(trace), True)  # one more at the end, for interrupts
    kept = (waker != woken) & ~left_out[waker] & ~left_out[woken]
    first, second = np.minimum(waker, woken)[kept], np.maximum(waker, woken)[kept]
    keys, weight = np.unique(first.astype(np.int64) << 32 | second, return_counts=True)
    pairs = np.stack([keys >> 32, keys & 0xFFFFFFFF]).astype(np.int32)
    coordinator, siblings = _coordinator(trace, pairs)
    apart = (pairs != coordinator).all(axis=0)
    return WakeupGraph(
        first=pairs[0, apart],
        second=pairs[1, apart],
        weight=weight[apart].astype(np.int64),
        coordinator=coordinator,
        siblings=siblings,
    )


def _coordinator(trace: Trace, pairs: Numbers) -> tuple[int, Numbers]:
    """Return the task that coordinates the others, and these in the order of their making."""
    forks = trace.forks
    if len(forks.time):
        parents, children = np.unique(forks.parent[forks.parent >= 0], return_counts=True)
        if not len(parents) or children.max() < FEWEST_CHILDREN:
            return -1, np.empty(0, np.int32)
        parent = int(parents[np.argmax(children)])
        return parent, forks.child[forks.parent == parent]
    tasks, partners = np.unique(pairs, return_counts=True)
    if not len(tasks) or partners.max() < max(FEWEST_PARTNERS, HUB_SHARE * len(tasks)):
        return -1, np.empty(0, np.int32)
    hub = int(tasks[np.argmax(partners)])
    others = tasks[tasks != hub]
    # The kernel counts its threads up, so their numbers tell in which order they were made.
    tids = [trace.tasks[task].tid or 0 for task in others.tolist()]
    return hub, others[np.argsort(tids, kind="stable")].astype(np.int32)
