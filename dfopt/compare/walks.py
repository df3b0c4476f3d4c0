"""Schedules of a window under a matrix, made from how often each type follows each other one.

What a CPU runs is a walk over types. What it costs, and what the CPU holds then, depends only on
which types it begins and ends with and how often each follows each other one, however many
dispatches that are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dfopt.compare.transport import least_transport
from dfopt.compare.type_costs import TypeCosts
from dfopt.compare.type_flow import TypeFlow, TypeWindow

Arc = tuple[int, int]
Cycle = tuple[int, ...]

NOBODY = -1
"""The type that a CPU without dispatches begins and ends with."""

PIECES = 4
"""Into so many parts a CPU equal dispatches are cut where the dearest CPU counts."""


@dataclass(slots=True, kw_only=True)
class Walk:
    """What one CPU runs in a window.

    Parameters
    ----------
    state
        What it ran last before.
    first, last
        The types that it begins and ends with; :data:`NOBODY` if it runs nothing.
    load
        How many dispatches it runs.
    arcs
        How often the second type follows the first; all hang together.
    types
        Which types it runs.
    cost
        What it pays.
    """

    state: int
    first: int = NOBODY
    last: int = NOBODY
    load: int = 0
    arcs: Counter[Arc] = field(default_factory=Counter)
    types: set[int] = field(default_factory=set)
    cost: int = 0


def walks_of(
    window: TypeWindow, costs: TypeCosts, flow: TypeFlow, *, scarce_first: bool = False
) -> list[Walk]:
    """Return a schedule, one walk for each CPU; where it can, it keeps to the flow.

    Parameters
    ----------
    window, costs
        What is scheduled.
    flow
        A cheapest flow of the window.
    scarce_first
        Whether circles that few walks come by are dealt first, instead of long ones.
    """
    walks = [Walk(state=state) for state in window.states]
    rest = Counter(flow.between)
    if not _begin(window, walks, flow, rest):
        return inserted_walks(window, costs)
    cycles = dict(_cycles(rest))
    loops: dict[Cycle, int] = {cycle: count for cycle, count in cycles.items() if len(cycle) == 1}
    longer: dict[Cycle, int] = {cycle: count for cycle, count in cycles.items() if len(cycle) > 1}
    _lead_everywhere(window, walks, longer)
    if scarce_first:
        _go_round(window, costs, walks, {**longer, **loops}, scarce_first=True)
    else:
        _go_round(window, costs, walks, longer, scarce_first=False)
        _stay(window, walks, {cycle[0]: count for cycle, count in loops.items()})
    for walk in walks:
        walk.cost = walk_cost(window, costs, walk)
    _insert(window, costs, walks, _missing(window, walks))
    return walks


def inserted_walks(window: TypeWindow, costs: TypeCosts) -> list[Walk]:
    """Return a schedule in which each dispatch was put where it cost the least at that time."""
    walks = [Walk(state=state) for state in window.states]
    for walk in walks:
        walk.cost = walk_cost(window, costs, walk)
    _insert(window, costs, walks, dict(zip(window.types, window.sizes, strict=True)))
    return walks


def walk_cost(window: TypeWindow, costs: TypeCosts, walk: Walk) -> int:
    """Return what a CPU pays for its walk."""
    if not walk.load:
        return costs.idle(walk.state) if window.final else 0
    return (
        costs.begin(walk.state, walk.first)
        + sum(costs.switch[one][other] * count for (one, other), count in walk.arcs.items())
        + (costs.finish[walk.last] if window.final else 0)
    )


def _begin(window: TypeWindow, walks: Sequence[Walk], flow: TypeFlow, rest: Counter[Arc]) -> bool:
    """Lead each CPU from its beginning to an end the shortest way; False where one has no room."""
    endings, beginnings = Counter(flow.endings), Counter(flow.beginnings)
    for walk in walks:
        first = next((one for one in window.types if beginnings[walk.state, one]), None)
        if first is None:
            continue
        beginnings[walk.state, first] -= 1
        way = _shortest_way(first, rest, endings)
        if len(way) > window.capacity:
            return False
        endings[way[-1]] -= 1
        for arc in pairwise(way):
            walk.arcs[arc] += 1
            rest[arc] -= 1
        walk.first, walk.last, walk.load = way[0], way[-1], len(way)
        walk.types.update(way)
    return True


def _shortest_way(first: int, rest: Counter[Arc], endings: Counter[int]) -> list[int]:
    """Return how the flow leads to an end; what flows in anywhere flows on, so that it does."""
    before = {first: first}
    fresh = [first]
    for one in fresh:
        if endings[one]:
            way = [one]
            while way[-1] != first:
                way.append(before[way[-1]])
            return way[::-1]
        for (source, other), count in rest.items():
            if source == one and count and other not in before:
                before[other] = one
                fresh.append(other)
    raise AssertionError("what flows in flows out")


def _cycles(rest: Counter[Arc]) -> Iterator[tuple[Cycle, int]]:
    """Yield the circles of what flows, the shortest first, and how often each is gone round."""

    def taken(cycle: Cycle) -> tuple[Cycle, int]:
        arcs = list(pairwise((*cycle, cycle[0])))
        count = min(rest[arc] for arc in arcs)
        for arc in arcs:
            rest[arc] -= count
        return cycle, count

    for one, other in sorted(rest):
        if one == other and rest[one, one]:
            yield taken((one,))
    for one, other in sorted(rest):
        if one < other and rest[one, other] and rest[other, one]:
            yield taken((one, other))
    while ways := dict(sorted(arc for arc, count in rest.items() if count)):
        way = [min(ways)]
        while way.count(way[-1]) < 2:  # noqa: PLR2004 - until a type comes again
            way.append(ways[way[-1]])
        yield taken(tuple(way[way.index(way[-1]) : -1]))


def _lead_everywhere(window: TypeWindow, walks: Sequence[Walk], cycles: dict[Cycle, int]) -> None:
    """Let some walk come by each type, once round where it takes that."""
    seen = {one for walk in walks for one in walk.types}
    while True:
        open_ways = (
            (cycle, walk)
            for cycle, count in cycles.items()
            if count and not seen.issuperset(cycle)
            for walk in walks
            if not walk.types.isdisjoint(cycle) and walk.load + len(cycle) <= window.capacity
        )
        found = min(open_ways, key=lambda one: one[1].load, default=None)
        if found is None:
            return
        _add_cycle(found[1], found[0], 1)
        cycles[found[0]] -= 1
        seen.update(found[0])


def _go_round(
    window: TypeWindow,
    costs: TypeCosts,
    walks: Sequence[Walk],
    cycles: dict[Cycle, int],
    *,
    scarce_first: bool,
) -> None:
    """Add circles to walks that come by, until there is no room or none is left."""
    pieces = {cycle: _piece(window, count) for cycle, count in cycles.items() if count}
    while pieces:
        fitting = {
            cycle: [
                walk
                for walk in walks
                if walk.load + len(cycle) <= window.capacity and not walk.types.isdisjoint(cycle)
            ]
            for cycle in pieces
        }
        cycle = min(pieces, key=lambda one: len(fitting[one]) if scarce_first else -len(one))
        if not fitting[cycle]:
            del pieces[cycle]
            continue
        # Once round on each walk first, so that many come by all types.
        walk = min(
            fitting[cycle],
            key=lambda one: (
                one.types.issuperset(cycle),
                walk_cost(window, costs, one) if window.by_worst else one.load,
            ),
        )
        count = 1
        if walk.types.issuperset(cycle):
            room = (window.capacity - walk.load) // len(cycle)
            count = min(cycles[cycle], room, pieces[cycle])
        _add_cycle(walk, cycle, count)
        cycles[cycle] -= count
        if not cycles[cycle]:
            del pieces[cycle]


def _piece(window: TypeWindow, count: int) -> int:
    """Return how many to add at once: all, or few where walks are to cost much the same."""
    return max(1, count // (PIECES * len(window.states))) if window.by_worst else count


def _add_cycle(walk: Walk, cycle: Cycle, count: int) -> None:
    for arc in pairwise((*cycle, cycle[0])):
        walk.arcs[arc] += count
    walk.types.update(cycle)
    walk.load += count * len(cycle)


def _stay(window: TypeWindow, walks: Sequence[Walk], loops: dict[int, int]) -> None:
    """Deal dispatches that follow their own type to the walks that come by their type."""
    kinds = list(loops)
    rooms = [window.capacity - walk.load for walk in walks]
    amounts = [loops[one] for one in kinds]
    # What finds no room, and room that nothing needs, meet in a row and a column of their own.
    plenty = sum(amounts) + sum(rooms)
    found = least_transport(
        [*amounts, sum(rooms)],
        [*rooms, sum(amounts)],
        [*([0] * len(walks) + [1] for _ in kinds), [0] * (len(walks) + 1)],
        [
            *([plenty if one in walk.types else 0 for walk in walks] + [plenty] for one in kinds),
            [plenty] * (len(walks) + 1),
        ],
    )
    assert found is not None, "all may stay away"
    for one, dealt in zip(kinds, found[1], strict=False):
        for walk, count in zip(walks, dealt, strict=False):
            if count:
                _add_cycle(walk, (one,), count)


def _missing(window: TypeWindow, walks: Sequence[Walk]) -> dict[int, int]:
    """Return how many dispatches of each type no walk runs yet."""
    left = dict(zip(window.types, window.sizes, strict=True))
    for walk in walks:
        if walk.load:
            left[walk.first] -= 1
        for (_, other), count in walk.arcs.items():
            left[other] -= count
    return left


def _insert(
    window: TypeWindow, costs: TypeCosts, walks: Sequence[Walk], left: dict[int, int]
) -> None:
    """Put what is left, one type after the other, where it costs the least at that time."""
    for one in sorted(left, key=lambda kind: -left[kind]):
        piece = _piece(window, left[one])
        while left[one]:
            _, number, before, after = min(
                (walk.cost + cost if window.by_worst else cost, number, before, after)
                for number, walk in enumerate(walks)
                if walk.load < window.capacity
                for cost, before, after in _places(window, costs, walk, one)
            )
            walk = walks[number]
            count = 1
            if NOBODY not in (before, after):
                room = window.capacity - walk.load
                count = min(left[one], room, walk.arcs[before, after], piece)
                if before == after == one:
                    count = min(left[one], room, piece)
            _put(walk, one, count, before, after)
            walk.cost = walk_cost(window, costs, walk)
            left[one] -= count


def _places(
    window: TypeWindow, costs: TypeCosts, walk: Walk, one: int
) -> Iterator[tuple[int, int, int]]:
    """Yield what it costs to insert a type, and between which types, ``NOBODY`` at an end."""
    switch = costs.switch
    finish = costs.finish[one] if window.final else 0
    if not walk.load:
        idle = costs.idle(walk.state) if window.final else 0
        yield costs.begin(walk.state, one) + finish - idle, NOBODY, NOBODY
        return
    begin = costs.begin(walk.state, one) - costs.begin(walk.state, walk.first)
    yield begin + switch[one][walk.first], NOBODY, walk.first
    end = finish - (costs.finish[walk.last] if window.final else 0)
    yield switch[walk.last][one] + end, walk.last, NOBODY
    for (before, after), count in walk.arcs.items():
        if count:
            cost = switch[before][one] + switch[one][after] - switch[before][after]
            yield cost, before, after


def _put(walk: Walk, one: int, count: int, before: int, after: int) -> None:
    if before == NOBODY == after:
        walk.first = walk.last = one
    elif before == NOBODY:
        walk.arcs[one, after] += 1
        walk.first = one
    elif after == NOBODY:
        walk.arcs[before, one] += 1
        walk.last = one
    else:
        walk.arcs[before, after] -= count
        walk.arcs[before, one] += count
        walk.arcs[one, after] += count
    walk.types.add(one)
    walk.load += count
