"""The wake-ups of a trace as a graph of the tasks that may share a fragment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dfopt.trace.events import Flags, Integers, Numbers, Pairs, pairs_of
from dfopt.trace.labels.kernel_threads import kernel_threads
from dfopt.trace.trace import Trace

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
