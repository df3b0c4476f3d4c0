"""The states of the search for CPUs, and the step from those before an item to those after it.

A state has a *code* for each CPU: the item that runs there, or what the idle CPU holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.solvers.compilation.compiled import compiled, compiled_in_place
from dfopt.trace.events import Flags, Integers

FRESH = -1
"""Stands for a CPU before its first item."""

UNKNOWN = -2
"""Stands for an idle CPU after a cut."""

HOLDS = -3
"""``HOLDS - content`` stands for an idle CPU with a content. An item on a CPU with a cut since its
start is counted from the number of items on."""

LOW_BITS = (1 << 62) - 1

# Columns of the children of a layer.
STATE, CPU, COST, PROMISE, MARK = range(5)

# What is counted.
STATES, ENDS, CUTS, LAYERS, LEAST, TOO_COSTLY, EXAMINED = range(7)

Codes = NDArray[np.int64]


class ItemColumns(NamedTuple):
    """What is placed, see :class:`~dfopt.compare.attainable.placement.timeline.FixedTimeline`.

    ``free`` says where items could run, ``allowed`` where they may. A CPU that is ``named_until``
    an item is from then on like all others of which the same is true.
    """

    start: Integers
    end: Integers
    fragment: Integers
    entry: Integers
    first: Integers
    content: Integers
    content_fragment: Integers
    content_exit: Integers
    content_always: Integers
    matrix: NDArray[np.int64]
    cut_cpu: Integers
    cut_time: Integers
    start_node: Integers
    end_node: Integers
    end_order: Integers
    free: Flags
    allowed: Flags
    named_until: Integers


class PriceColumns(NamedTuple):
    """See :class:`~dfopt.compare.attainable.placement.future_prices.FuturePrices`.

    ``waiting`` has for each content what a CPU that holds it now costs at least.
    """

    fresh: int
    after: Integers
    forgot: Integers
    remaining: Integers
    surprise: int
    waiting: Integers


class Layers(NamedTuple):
    """The states before an item and after it, room for all that could follow, and how they arose.

    Parameters
    ----------
    codes, costs
        Of each state.
    next_codes, next_costs
        The same after the item.
    children
        State and CPU from which each child arises, its cost, its promise (the least cost of all
        placements by way of it), and a mark that children which are alike share.
    table
        Where to find a child by its mark: the layer, and the child.
    parent, chosen
        For each item, the state before and the CPU of each state after it.
    counters
        Number of states, of ends and cuts that were passed, and of layers; the least promise of
        what was left aside; whether the known cost left something aside in this layer; number of
        children so far.
    """

    codes: Codes
    costs: Integers
    next_codes: Codes
    next_costs: Integers
    children: Integers
    table: Integers
    parent: NDArray[np.int32]
    chosen: NDArray[np.int16]
    counters: Integers


@compiled
def advance(
    item: int, stop: int, known: int, items: ItemColumns, prices: PriceColumns, layers: Layers
) -> int:
    """Place the items before ``stop``; return the first one that found no CPU, or ``stop``."""
    counters = layers.counters
    while item < stop:
        while (
            counters[ENDS] < len(items.start)
            and items.end_node[items.end_order[counters[ENDS]]] < items.start_node[item]
        ):
            ended = items.end_order[counters[ENDS]]
            prices.waiting[items.content[ended]] = prices.after[ended]
            counters[ENDS] += 1
        first_cut = counters[CUTS]
        while (
            counters[CUTS] < len(items.cut_time)
            and items.cut_time[counters[CUTS]] <= items.start[item]
        ):
            counters[CUTS] += 1
        counters[LAYERS] += 1
        counters[TOO_COSTLY] = 0
        found = 0
        for state in range(counters[STATES]):
            _refresh(state, item, first_cut, items, layers)
            found = _extend(state, item, known, found, items, prices, layers)
        counters[EXAMINED] += found
        _keep(item, found, layers)
        if counters[STATES] == 0:
            return item
        item += 1
    return item


@compiled_in_place
def _refresh(state: int, item: int, first_cut: int, items: ItemColumns, layers: Layers) -> None:
    """Let what has ended by the start of an item end, and what was cut be unknown."""
    count = len(items.start)
    codes, now = layers.codes, items.start[item]
    for cpu in range(codes.shape[1]):
        code = codes[state, cpu]
        if 0 <= code < count:
            if items.end[code] <= now:
                codes[state, cpu] = HOLDS - items.content[code]
        elif code >= count and items.end[code - count] <= now:
            codes[state, cpu] = UNKNOWN
    for cut in range(first_cut, layers.counters[CUTS]):
        cpu = items.cut_cpu[cut]
        code = codes[state, cpu]
        if code < 0:
            codes[state, cpu] = UNKNOWN
        elif code < count:
            codes[state, cpu] = code + count


@compiled_in_place
def _least_cost(code: int, count: int, cuts: int, prices: PriceColumns) -> int:
    """Return what a CPU costs at least from now on, apart from what all CPUs share."""
    if code >= count:
        return prices.after[code - count] - prices.surprise  # type: ignore[no-any-return]
    if code >= 0:
        return prices.after[code]  # type: ignore[no-any-return]
    if code == FRESH:
        return prices.fresh
    if code == UNKNOWN:
        return prices.forgot[cuts - 1]  # type: ignore[no-any-return]
    return prices.waiting[HOLDS - code]  # type: ignore[no-any-return]


@compiled_in_place
def _switch_cost(code: int, item: int, items: ItemColumns) -> int:
    """Return what it costs if an item follows on an idle CPU."""
    if code == FRESH:
        return items.first[item]  # type: ignore[no-any-return]
    if code == UNKNOWN:
        return 0
    content = HOLDS - code
    fragment = items.content_fragment[content]
    if len(items.matrix):
        return items.matrix[fragment, items.fragment[item]]  # type: ignore[no-any-return]
    cost = items.content_always[content]
    if fragment != items.fragment[item]:
        cost += items.content_exit[content] + items.entry[item]
    return cost  # type: ignore[no-any-return]


@compiled_in_place
def _mark(cpu: int, code: int) -> int:
    """Return a number that hardly any other CPU and code have."""
    mark = (code * 0x2545F4914F6CDD1D + cpu * 0x1B873593CC9E2D51) & LOW_BITS
    mark ^= mark >> 31
    mark = (mark * 0x369DEA0F31A53F85) & LOW_BITS
    return mark ^ (mark >> 29)


@compiled_in_place
def _extend(
    state: int, item: int, known: int, found: int, items: ItemColumns, prices: PriceColumns,
    layers: Layers,
) -> int:  # fmt: skip
    """Add the children of a state; return the number of children so far."""
    codes, counters, count = layers.codes, layers.counters, len(items.start)
    cpus, cuts = codes.shape[1], counters[CUTS]
    rest = prices.remaining[item + 1] + prices.after[item] + layers.costs[state]
    state_mark = 0
    for cpu in range(cpus):
        rest += _least_cost(codes[state, cpu], count, cuts, prices)
        name = cpu if items.named_until[cpu] > item else cpus
        state_mark += _mark(name, codes[state, cpu])
    for cpu in range(cpus):
        code = codes[state, cpu]
        if code >= 0 or not items.free[item, cpu]:
            continue
        cost = _switch_cost(code, item, items)
        promise = rest + cost - _least_cost(code, count, cuts, prices)
        if promise >= known:
            counters[TOO_COSTLY] = 1
            continue
        if not items.allowed[item, cpu]:
            counters[LEAST] = min(counters[LEAST], promise)
            continue
        name = cpu if items.named_until[cpu] > item else cpus
        mark = (state_mark - _mark(name, code) + _mark(name, item)) & LOW_BITS
        child = _child(state, cpu, item, mark, found, items, layers)
        if child == found:
            found += 1
        elif layers.children[child, PROMISE] <= promise:
            continue
        layers.children[child, STATE] = state
        layers.children[child, CPU] = cpu
        layers.children[child, COST] = layers.costs[state] + cost
        layers.children[child, PROMISE] = promise
        layers.children[child, MARK] = mark
    return found


@compiled_in_place
def _child(
    state: int, cpu: int, item: int, mark: int, found: int, items: ItemColumns, layers: Layers
) -> int:
    """Return the child that is like the one of a state and CPU, or a new one: ``found``."""
    table, children, layer = layers.table, layers.children, layers.counters[LAYERS]
    size = len(table)
    slot = mark % size
    while table[slot, 0] == layer:
        child = table[slot, 1]
        if children[child, MARK] == mark and _is_like(state, cpu, child, item, items, layers):
            return child  # type: ignore[no-any-return]
        slot = (slot + 1) % size
    table[slot, 0] = layer
    table[slot, 1] = found
    return found


@compiled_in_place
def _is_like(
    state: int, cpu: int, child: int, item: int, items: ItemColumns, layers: Layers
) -> bool:
    """Return whether an item on a CPU leads a state to the same as a child."""
    codes, named_until = layers.codes, items.named_until
    other_state, other_cpu = layers.children[child, STATE], layers.children[child, CPU]
    cpus = codes.shape[1]
    for compared in range(cpus):
        code = item if compared == cpu else codes[state, compared]
        if named_until[compared] > item:
            if code != (item if compared == other_cpu else codes[other_state, compared]):
                return False
            continue
        # CPUs without names: each code has to appear equally often.
        surplus = 0
        for unnamed in range(cpus):
            if named_until[unnamed] <= item:
                surplus += (item if unnamed == cpu else codes[state, unnamed]) == code
                surplus -= (item if unnamed == other_cpu else codes[other_state, unnamed]) == code
        if surplus != 0:
            return False
    return True


@compiled
def _keep(item: int, found: int, layers: Layers) -> None:
    """Let the children be the states, as many of the most promising as there is room for.

    Loops copy what slices could: numba compiles slices with the text of their error, for seconds.
    """
    children, counters = layers.children, layers.counters
    cpus = layers.codes.shape[1]
    kept = min(found, len(layers.codes))
    order = np.arange(found)
    if kept < found:
        order = np.argsort(children[:found, PROMISE], kind="mergesort")
        counters[LEAST] = min(counters[LEAST], children[order[kept], PROMISE])
    for number in range(kept):
        state, cpu = children[order[number], STATE], children[order[number], CPU]
        layers.parent[item, number] = state
        layers.chosen[item, number] = cpu
        layers.next_costs[number] = children[order[number], COST]
        for other in range(cpus):
            layers.next_codes[number, other] = layers.codes[state, other]
        layers.next_codes[number, cpu] = item
    for number in range(kept):
        layers.costs[number] = layers.next_costs[number]
        for cpu in range(cpus):
            layers.codes[number, cpu] = layers.next_codes[number, cpu]
    counters[STATES] = kept


@compiled
def go_back(
    ends: int, items: ItemColumns, previous: Integers, prices: PriceColumns, layers: Layers
) -> None:
    """Undo the ends that were passed after a number of them.

    ``previous`` is the item that left the same content last before each item's end, or -1.
    """
    counters = layers.counters
    while counters[ENDS] > ends:
        counters[ENDS] -= 1
        item = items.end_order[counters[ENDS]]
        if previous[item] >= 0:
            prices.waiting[items.content[item]] = prices.after[previous[item]]


@compiled
def trace_back(
    state: int, parent: NDArray[np.int32], chosen: NDArray[np.int16], cpu: Integers
) -> None:
    """Fill in the CPUs of the items that lead to a state after the last one."""
    for step in range(len(cpu)):
        item = len(cpu) - 1 - step
        cpu[item] = chosen[item, state]
        state = parent[item, state]
