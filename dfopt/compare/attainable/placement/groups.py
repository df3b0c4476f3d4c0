"""Better CPUs for the items of a few CPUs at a time, as good as a search can make them.

What runs on a few CPUs has few states, so that a search often finds the best placement of it. Doing
so for one group after the other improves the placement of all (a large-neighbourhood search; Shaw
1998).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from dfopt.compare.attainable.placement.relaxation import relaxation
from dfopt.compare.attainable.placement.search import search_placement
from dfopt.compare.attainable.placement.timeline import FixedTimeline
from dfopt.trace.events import Integers

WIDTH = 128
"""At most this number of states is kept after each item."""

ROUNDS = {3: 3, 4: 8}
"""Rounds for groups of each size, for each CPU."""


def improve_in_groups(
    items: FixedTimeline, *, bound: int, most_steps: int, check: Callable[[], None]
) -> FixedTimeline:
    """Return the timeline with CPUs that cost at most as much as those given.

    Parameters
    ----------
    items
        What to place; the CPUs are given.
    bound
        The search ends if the cost equals this bound.
    most_steps
        The search begins no group after this number of steps. An item in a group counts as a step
        for each CPU of the group, and so does each state.
    check
        Called a few times a second; what it raises ends the search.
    """
    cpu, cost, steps = items.given.copy(), items.cost(), 0
    for cpus in _groups(items.cpus):
        if cost <= bound or steps >= most_steps:
            break
        own, group = items.on(cpus, cpu)
        if not len(own):
            continue
        steps += len(own) * len(cpus)
        known = group.cost()
        relaxed = relaxation(group, check)
        if relaxed.bound >= known:
            continue
        if group.cpus_differ:
            found = search_placement(group, relaxed, known=known, width=WIDTH, check=check)
            steps += found.states
            if found.cpu is None:
                continue
            chosen, saved = found.cpu, known - found.cost
        else:
            chosen, saved = relaxed.cpus(group.cpus), known - relaxed.bound
        cpu[own] = cpus[chosen]
        cost -= saved
    return replace(items, given=cpu)


def _groups(cpus: int) -> Iterator[Integers]:
    """Yield groups of CPUs, small ones first; each round has each CPU in at most one of them."""
    random = np.random.default_rng(0)
    for size, rounds in ROUNDS.items():
        if size >= cpus:
            return
        for _ in range(rounds * cpus):
            order = random.permutation(cpus)
            for first in range(0, cpus - size + 1, size):
                yield np.sort(order[first : first + size])
