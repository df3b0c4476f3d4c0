"""The cheapest placement where all changes cost the same and no CPU differs from another.

Pair the end of each dispatch with the start that takes up its fragment, as brackets are paired: the
latest end that is still open goes to the next start. A CPU that stays idle from an end to its start
is a *hold*, and each hold saves one change. At most as many holds overlap as CPUs are idle.

*Pairing loses nothing.* Let holds of one fragment cross: from u to y and from v to z, where
u < v < y < z. From u to z and from v to y they cover the same times and save as much. So some best
set of holds is nested. If one of its holds is no pair, then an end or a start within it belongs to
no hold. Let the hold begin or end there; that makes it shorter. Repeat this until all are pairs.

*Greedy.* A dispatch that starts without a hold needs a CPU. If no unused one is left, the hold that
ends last is given up. All holds at that time overlap there, and one of them must go, in every
placement that made the same choices before; the one that ends last is in the way of at least as
much as any other (Belady 1966; Faigle and Nawijn 1995; Carlisle and Lloyd 1995 for intervals). A
hold comes first, then an unused CPU: that costs no more than a change, and no hold ends for it.
"""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.placement.timeline import FixedTimeline
from dfopt.solvers.compilation.compiled import compiled
from dfopt.trace.events import Integers


def costs_are_equal(items: FixedTimeline) -> bool:
    """Whether all changes cost the same, and another CPU no more than a change, nor less than 0."""
    columns = (
        items.entry, items.first, items.content_exit, items.content_always, items.content_last
    )  # fmt: skip
    if items.matrix.size or not all((column == column[:1]).all() for column in columns):
        return False
    entry, first, leaving, always, last = (int(column[0]) for column in columns)
    return 0 <= first + last - always <= entry + leaving


def place_by_farthest_use(items: FixedTimeline) -> Integers:
    """Return a cheapest placement if :func:`costs_are_equal` and no CPU differs from another."""
    count = len(items)
    every = np.arange(count)
    # Starts, then ends. Ends come before starts at the same time, but what takes no time starts
    # and ends at once.
    time = np.concatenate([items.start, items.end])
    ends_at_once = items.end == items.start
    turn = np.concatenate([2 * every + 1, np.where(ends_at_once, 2 * every + 2, 0)])
    order = np.lexsort((turn, time))
    top = np.full(int(items.fragment.max(initial=0)) + 1, -1)
    cpu = np.empty(count, np.int64)
    _place(items.cpus, order, items.fragment, *_pairs(order, items.fragment, top), cpu)
    return cpu


@compiled
def _pairs(order: Integers, fragment: Integers, top: Integers) -> tuple[Integers, Integers]:
    """Return the item whose end is paired with each start, or -1, and when each hold ends."""
    items = len(fragment)
    taken_from = np.full(items, -1)
    until = np.full(items, 2 * items)
    below = np.empty(items, np.int64)
    for turn in range(2 * items):
        item = order[turn] % items
        kept = fragment[item]
        if kept < 0:
            continue
        if order[turn] >= items:
            below[item] = top[kept]
            top[kept] = item
        elif top[kept] >= 0:
            taken_from[item] = top[kept]
            until[top[kept]] = turn
            top[kept] = below[top[kept]]
    return taken_from, until


@compiled
def _place(
    cpus: int, order: Integers, fragment: Integers, taken_from: Integers, until: Integers,
    cpu: Integers,
) -> None:  # fmt: skip
    """Fill in the CPU of each item."""
    items = len(fragment)
    held_from = np.full(cpus, -1)  # the item from whose end on an idle CPU is a hold
    held_until = np.full(cpus, -1)
    used = 0
    for turn in range(2 * items):
        item = order[turn] % items
        if order[turn] >= items:
            held_from[cpu[item]] = item
            held_until[cpu[item]] = until[item]
            continue
        before = taken_from[item]
        if before >= 0 and held_from[cpu[before]] == before:
            chosen = cpu[before]
        elif used < cpus:
            chosen = used
            used += 1
        else:
            chosen = 0
            for other in range(1, cpus):
                if held_until[other] > held_until[chosen]:
                    chosen = other
        cpu[item] = chosen
        held_from[chosen] = -1
        held_until[chosen] = -1
