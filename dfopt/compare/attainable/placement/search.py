"""Placing items on named CPUs: a search from state to state, as exact as its width permits.

The states after an item say what runs on each CPU or what it holds. All placements that lead to
one state are alike for the rest, so only the cheapest is kept: dynamic programming. What the rest
costs at least follows from the prices of the flow without names of CPUs. States that cannot lead
to less than a known cost are dropped. If more than ``width`` remain, those that promise the least
cost stay, and the least promise of the others is noted: no placement by way of them costs less
(a beam search that yields a bound).

An item may find that all CPUs are taken, apart from those with a block during its time. Then it is
*reserved* the CPU of the given schedule, and the search goes back to where earlier items could take
that CPU. Each return reserves an item, and the given schedule respects all reservations, so the
search ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.placement.network import PlacementNetwork
from dfopt.compare.attainable.placement.relaxation import Relaxation
from dfopt.compare.attainable.placement.reservations import Reservations
from dfopt.compare.attainable.placement.states import (
    CUTS,
    ENDS,
    EXAMINED,
    FRESH,
    HOLDS,
    LEAST,
    STATES,
    TOO_COSTLY,
    Codes,
    ItemColumns,
    Layers,
    PriceColumns,
    advance,
    go_back,
    trace_back,
)
from dfopt.compare.attainable.placement.timeline import FixedTimeline
from dfopt.trace.events import Flags, Integers

UNLIMITED = 1 << 62
"""A cost that no placement reaches."""

ITEMS_PER_SNAPSHOT = 64
"""The states are copied every 64 items, so that the search can go back."""

STATES_PER_CHECK = 100_000
"""About 100,000 states are left between two calls of ``check``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchResult:
    """What a search found.

    Parameters
    ----------
    cpu
        Of each item; None if no placement was found that costs less than the known one.
    cost
        Of that placement, or the known cost.
    bound
        No placement costs less.
    states
        Number of states that were looked at.
    """

    cpu: Integers | None
    cost: int
    bound: int
    states: int


def search_placement(
    items: FixedTimeline,
    relaxed: Relaxation,
    *,
    known: int,
    width: int,
    check: Callable[[], None],
) -> SearchResult:
    """Return the cheapest placement that a search with a width finds, and a bound.

    Parameters
    ----------
    items, relaxed
        What to place, and the same without names of CPUs.
    known
        Only placements that cost less are looked for.
    width
        At most this number of states is kept after each item.
    check
        Called a few times a second; what it raises ends the search.
    """
    count = len(items)
    network, prices = relaxed.network, relaxed.prices
    reservations = Reservations(items)
    item_columns = _item_columns(items, network, reservations)
    price_columns = PriceColumns(
        fresh=prices.fresh,
        after=prices.after,
        forgot=prices.forgot,
        remaining=prices.remaining,
        surprise=prices.surprise,
        waiting=np.zeros(len(items.content_fragment), np.int64),
    )
    layers = _layers(count, items.cpus, width)
    counters = layers.counters
    previous = _previous_in_line(items, network)
    cuts_before = items.cuts_before
    snapshots: list[tuple[int, Codes, Integers]] = []
    item = unchecked = 0
    while item < count:
        states = int(counters[STATES])
        if len(snapshots) == item // ITEMS_PER_SNAPSHOT:
            kept = layers.codes[:states].copy(), layers.costs[:states].copy()
            snapshots.append((int(counters[ENDS]), *kept))
        stop = min(count, item + ITEMS_PER_SNAPSHOT)
        item = advance(item, stop, known, item_columns, price_columns, layers)
        unchecked += ITEMS_PER_SNAPSHOT * width
        if unchecked >= STATES_PER_CHECK:
            unchecked = 0
            check()
        if counters[STATES]:
            continue
        if counters[TOO_COSTLY]:
            return _nothing_cheaper(known, counters)
        item = min(item, reservations.reserve(item))
        del snapshots[item // ITEMS_PER_SNAPSHOT + 1 :]
        item = ITEMS_PER_SNAPSHOT * (len(snapshots) - 1)
        ends, codes, costs = snapshots[-1]
        layers.codes[: len(codes)], layers.costs[: len(codes)] = codes, costs
        counters[STATES] = len(codes)
        counters[CUTS] = cuts_before[item]
        go_back(ends, item_columns, previous, price_columns, layers)
    states = int(counters[STATES])
    totals = layers.costs[:states] + _ends(items, layers.codes[:states])
    cheapest = int(totals.argmin())
    cost = int(totals[cheapest])
    if cost >= known:
        return _nothing_cheaper(known, counters)
    cpu = np.empty(count, np.int64)
    trace_back(cheapest, layers.parent, layers.chosen, cpu)
    least, examined = int(counters[LEAST]), int(counters[EXAMINED])
    return SearchResult(cpu=cpu, cost=cost, bound=min(cost, least), states=examined)


def _nothing_cheaper(known: int, counters: Integers) -> SearchResult:
    least, examined = int(counters[LEAST]), int(counters[EXAMINED])
    return SearchResult(cpu=None, cost=known, bound=min(known, least), states=examined)


def _item_columns(
    items: FixedTimeline, network: PlacementNetwork, reservations: Reservations
) -> ItemColumns:
    free = reservations.allowed.copy()
    return ItemColumns(
        start=items.start,
        end=items.end,
        fragment=items.fragment,
        entry=items.entry,
        first=items.first,
        content=items.content,
        content_fragment=items.content_fragment,
        content_exit=items.content_exit,
        content_always=items.content_always,
        matrix=items.matrix,
        cut_cpu=items.cut_cpu,
        cut_time=items.cut_time,
        start_node=network.start,
        end_node=network.end,
        end_order=network.end_order,
        free=free,
        allowed=reservations.allowed,
        named_until=_named_until(items, free),
    )


def _layers(count: int, cpus: int, width: int) -> Layers:
    """Return one state, in which no CPU was used, and room for ``width`` of them."""
    most = width * cpus
    counters = np.zeros(7, np.int64)
    counters[STATES], counters[LEAST] = 1, UNLIMITED
    return Layers(
        codes=np.full((width, cpus), FRESH),
        costs=np.zeros(width, np.int64),
        next_codes=np.empty((width, cpus), np.int64),
        next_costs=np.empty(width, np.int64),
        children=np.empty((most, 5), np.int64),
        table=np.zeros((2 * most, 2), np.int64),
        parent=np.empty((count, width), np.int32),
        chosen=np.empty((count, width), np.int16),
        counters=counters,
    )


def _named_until(items: FixedTimeline, free: Flags) -> Integers:
    """Return the item from which on a CPU is like all others of which this is true."""
    count = len(items)
    # An item with few CPUs names these, and one with many names the others.
    few = 2 * free.sum(axis=1) <= items.cpus
    special = free == few[:, None]
    until: Integers = np.where(special.any(axis=0), count - special[::-1].argmax(axis=0), 0)
    until[items.cut_cpu] = count
    return until


def _previous_in_line(items: FixedTimeline, network: PlacementNetwork) -> Integers:
    """Return the item that left the same content last before each item's end, or -1."""
    order = np.lexsort((network.end, items.content))
    previous = np.full(len(items), -1)
    same = items.content[order][1:] == items.content[order][:-1]
    previous[order[1:][same]] = order[:-1][same]
    return previous


def _ends(items: FixedTimeline, codes: Codes) -> Integers:
    """Return the costs after the last item of each CPU, all CPUs of a state together."""
    last = np.zeros(codes.shape, np.int64)
    holds, ran = codes <= HOLDS, (codes >= 0) & (codes < len(items))
    last[holds] = items.content_last[HOLDS - codes[holds]]
    last[ran] = items.content_last[items.content[codes[ran]]]
    last[:, items.cut_cpu[items.cuts_before[-1] :]] = 0
    totals: Integers = last.sum(axis=1)
    return totals
