"""Schedules under a matrix, made from how often each type follows each other one.

A CPU runs a trail through the types, which may use an arc several times. Its cost and its
last type depend only on its ends and on how often it uses each arc. A flow is therefore cut into
one path for each CPU and into circles. A circle can be added to any trail that has one of its
types: the result is one trail again (Euler; Hierholzer 1873).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from dfopt.solvers.matrix.flow import TypeFlow
from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.solvers.matrix.trail import NO_TYPE, Arc, Trail, cost_of
from dfopt.solvers.matrix.transportation import go_on, least_transport

Cycle = tuple[int, ...]

PIECES = 4
"""A CPU takes equal tasks in at least 4 pieces where the CPU that pays most counts."""


def best_trails(
    problem: MatrixProblem, flow: TypeFlow, check: Callable[[], object] = go_on
) -> list[Trail]:
    """Return the best of three schedules, one trail for each CPU.

    Two keep to the flow where they can: of its circles long ones are dealt out first, or those that
    few trails can take.

    Parameters
    ----------
    problem
        The tasks to schedule.
    flow
        A cheapest flow. A schedule that costs no more is the best there is.
    check
        Called often; what it raises ends the search.
    """
    bound = problem.bound(flow.cost)
    best: list[Trail] = []
    least: int | None = None
    for make in (
        partial(_from_flow, flow=flow, scarce_first=False),
        partial(_from_flow, flow=flow, scarce_first=True),
        _inserted,
    ):
        trails = make(problem, check=check)
        value = problem.value([trail.cost for trail in trails])
        if least is None or value < least:
            best, least = trails, value
        if least == bound:
            break
    return best


def _inserted(problem: MatrixProblem, check: Callable[[], object]) -> list[Trail]:
    """Return trails into which each task was inserted where it cost least at that moment."""
    trails = [Trail(start=start) for start in problem.starts]
    for trail in trails:
        trail.cost = cost_of(problem, trail)
    _insert(problem, trails, list(problem.sizes), check)
    return trails


def complete(
    problem: MatrixProblem,
    trails: Sequence[Trail],
    left: Sequence[int],
    check: Callable[[], object],
) -> None:
    """Add the tasks that are left: behind their own type where a trail has it and room."""
    _deal_loops(problem, trails, dict(enumerate(left)), check)
    for trail in trails:
        trail.cost = cost_of(problem, trail)
    _insert(problem, trails, _missing(problem, trails), check)


def _from_flow(
    problem: MatrixProblem, check: Callable[[], object], *, flow: TypeFlow, scarce_first: bool
) -> list[Trail]:
    trails = [Trail(start=start) for start in problem.starts]
    rest = Counter(flow.between)
    if not _begin(problem, trails, flow, rest):
        return _inserted(problem, check)
    cycles = dict(_cycles(rest))
    loops: dict[Cycle, int] = {cycle: count for cycle, count in cycles.items() if len(cycle) == 1}
    longer: dict[Cycle, int] = {cycle: count for cycle, count in cycles.items() if len(cycle) > 1}
    _reach_all_types(problem, trails, longer)
    if scarce_first:
        _deal_cycles(problem, trails, {**longer, **loops}, check, scarce_first=True)
    else:
        _deal_cycles(problem, trails, longer, check, scarce_first=False)
        _deal_loops(problem, trails, {cycle[0]: count for cycle, count in loops.items()})
    for trail in trails:
        trail.cost = cost_of(problem, trail)
    _insert(problem, trails, _missing(problem, trails), check)
    return trails


def _begin(
    problem: MatrixProblem, trails: Sequence[Trail], flow: TypeFlow, rest: Counter[Arc]
) -> bool:
    """Give each CPU a shortest path from its beginning to an end.

    Return False if a path is longer than a CPU has room for.
    """
    endings, beginnings = Counter(flow.endings), Counter(flow.beginnings)
    for trail in trails:
        first = next(
            (task_type for task_type in range(len(problem.sizes))
             if beginnings[trail.start, task_type]), None,
        )  # fmt: skip
        if first is None:
            continue
        beginnings[trail.start, first] -= 1
        path = _shortest_path(first, rest, endings)
        if len(path) > problem.capacity:
            return False
        endings[path[-1]] -= 1
        for arc in pairwise(path):
            trail.arcs[arc] += 1
            rest[arc] -= 1
        trail.first, trail.last, trail.load = path[0], path[-1], len(path)
        trail.types.update(path)
    return True


def _shortest_path(first: int, rest: Counter[Arc], endings: Counter[int]) -> list[int]:
    """Return a path of the flow to an end; there is one, as what flows in flows out."""
    previous = {first: first}
    fresh = [first]
    for task_type in fresh:
        if endings[task_type]:
            path = [task_type]
            while path[-1] != first:
                path.append(previous[path[-1]])
            return path[::-1]
        for (before, after), count in rest.items():
            if before == task_type and count and after not in previous:
                previous[after] = task_type
                fresh.append(after)
    raise AssertionError("what flows in flows out")


def _cycles(rest: Counter[Arc]) -> Iterator[tuple[Cycle, int]]:
    """Yield the circles of a flow, the shortest first, and how many times each is used."""

    def taken(cycle: Cycle) -> tuple[Cycle, int]:
        arcs = list(pairwise((*cycle, cycle[0])))
        count = min(rest[arc] for arc in arcs)
        for arc in arcs:
            rest[arc] -= count
        return cycle, count

    for before, after in sorted(rest):
        if before == after and rest[before, before]:
            yield taken((before,))
    for before, after in sorted(rest):
        if before < after and rest[before, after] and rest[after, before]:
            yield taken((before, after))
    while following := dict(sorted(arc for arc, count in rest.items() if count)):
        path = [min(following)]
        while path.count(path[-1]) < 2:  # noqa: PLR2004 - until a type comes again
            path.append(following[path[-1]])
        yield taken(tuple(path[path.index(path[-1]) : -1]))


def _reach_all_types(
    problem: MatrixProblem, trails: Sequence[Trail], cycles: dict[Cycle, int]
) -> None:
    """Add circles once until each type is on some trail, so that all circles can be added."""
    seen = {task_type for trail in trails for task_type in trail.types}
    while True:
        options = (
            (cycle, trail)
            for cycle, count in cycles.items()
            if count and not seen.issuperset(cycle)
            for trail in trails
            if not trail.types.isdisjoint(cycle) and trail.load + len(cycle) <= problem.capacity
        )
        found = min(options, key=lambda option: option[1].load, default=None)
        if found is None:
            return
        _add_cycle(found[1], found[0], 1)
        cycles[found[0]] -= 1
        seen.update(found[0])


def _deal_cycles(
    problem: MatrixProblem,
    trails: Sequence[Trail],
    cycles: dict[Cycle, int],
    check: Callable[[], object],
    *,
    scarce_first: bool,
) -> None:
    """Add circles to trails that have one of their types, while there is room."""
    pieces = {cycle: _piece(problem, count) for cycle, count in cycles.items() if count}
    while pieces:
        check()
        fitting = {
            cycle: [
                trail
                for trail in trails
                if trail.load + len(cycle) <= problem.capacity and not trail.types.isdisjoint(cycle)
            ]
            for cycle in pieces
        }
        cycle = min(pieces, key=lambda cycle: len(fitting[cycle]) if scarce_first else -len(cycle))
        if not fitting[cycle]:
            del pieces[cycle]
            continue
        # First once to each trail, so that many trails have all types.
        trail = min(
            fitting[cycle],
            key=lambda trail: (
                trail.types.issuperset(cycle),
                cost_of(problem, trail) if problem.by_worst else trail.load,
            ),
        )
        count = 1
        if trail.types.issuperset(cycle):
            room = (problem.capacity - trail.load) // len(cycle)
            count = min(cycles[cycle], room, pieces[cycle])
        _add_cycle(trail, cycle, count)
        cycles[cycle] -= count
        if not cycles[cycle]:
            del pieces[cycle]


def _piece(problem: MatrixProblem, count: int) -> int:
    """Return the number to add at once: all, or few where the CPUs should pay nearly the same."""
    return max(1, count // (PIECES * problem.cpus)) if problem.by_worst else count


def _add_cycle(trail: Trail, cycle: Cycle, count: int) -> None:
    for arc in pairwise((*cycle, cycle[0])):
        trail.arcs[arc] += count
    trail.types.update(cycle)
    trail.load += count * len(cycle)


def _deal_loops(
    problem: MatrixProblem,
    trails: Sequence[Trail],
    loops: dict[int, int],
    check: Callable[[], object] = go_on,
) -> None:
    """Deal tasks that follow their own type to the trails that have their type."""
    loop_types = list(loops)
    rooms = [problem.capacity - trail.load for trail in trails]
    amounts = [loops[task_type] for task_type in loop_types]
    # A transportation problem. Tasks without room go to a column of their own, and room that
    # is not needed is filled from a row of its own.
    plenty = sum(amounts) + sum(rooms)
    found = least_transport(
        [*amounts, sum(rooms)],
        [*rooms, sum(amounts)],
        [*([0] * len(trails) + [1] for _ in loop_types), [0] * (len(trails) + 1)],
        [
            *(
                [plenty if task_type in trail.types else 0 for trail in trails] + [plenty]
                for task_type in loop_types
            ),
            [plenty] * (len(trails) + 1),
        ],
        check,
    )
    assert found is not None, "all tasks may find no room"
    for task_type, dealt in zip(loop_types, found[1], strict=False):
        for trail, count in zip(trails, dealt, strict=False):
            if count:
                _add_cycle(trail, (task_type,), count)


def _missing(problem: MatrixProblem, trails: Sequence[Trail]) -> list[int]:
    """Return the number of tasks of each type that are on no trail yet."""
    left = list(problem.sizes)
    for trail in trails:
        if trail.load:
            left[trail.first] -= 1
        for (_, after), count in trail.arcs.items():
            left[after] -= count
    return left


def _insert(
    problem: MatrixProblem,
    trails: Sequence[Trail],
    left: list[int],
    check: Callable[[], object],
) -> None:
    """Insert the tasks that are left where they cost least, type by type."""
    for task_type in sorted(range(len(left)), key=lambda task_type: -left[task_type]):
        piece = _piece(problem, left[task_type])
        while left[task_type]:
            check()
            _, number, before, after = min(
                (trail.cost + cost if problem.by_worst else cost, number, before, after)
                for number, trail in enumerate(trails)
                if trail.load < problem.capacity
                for cost, before, after in _positions(problem, trail, task_type)
            )
            trail = trails[number]
            count = 1
            if NO_TYPE not in (before, after):
                room = problem.capacity - trail.load
                count = min(left[task_type], room, trail.arcs[before, after], piece)
                if before == after == task_type:
                    count = min(left[task_type], room, piece)
            _put(trail, task_type, count, before, after)
            trail.cost = cost_of(problem, trail)
            left[task_type] -= count


def _positions(
    problem: MatrixProblem, trail: Trail, task_type: int
) -> Iterator[tuple[int, int, int]]:
    """Yield the cost of inserting a type, and its two neighbours; ``NO_TYPE`` at an end."""
    switch, start, finish = problem.switch, problem.start[trail.start], problem.finish
    if not trail.load:
        cost = start[task_type] + finish[task_type] - problem.idle[trail.start]
        yield cost, NO_TYPE, NO_TYPE
        return
    first, last = trail.first, trail.last
    yield start[task_type] - start[first] + switch[task_type][first], NO_TYPE, first
    yield switch[last][task_type] + finish[task_type] - finish[last], last, NO_TYPE
    for (before, after), count in trail.arcs.items():
        if count:
            cost = switch[before][task_type] + switch[task_type][after] - switch[before][after]
            yield cost, before, after


def _put(trail: Trail, task_type: int, count: int, before: int, after: int) -> None:
    if before == NO_TYPE == after:
        trail.first = trail.last = task_type
    elif before == NO_TYPE:
        trail.arcs[task_type, after] += 1
        trail.first = task_type
    elif after == NO_TYPE:
        trail.arcs[before, task_type] += 1
        trail.last = task_type
    else:
        trail.arcs[before, after] -= count
        trail.arcs[before, task_type] += count
        trail.arcs[task_type, after] += count
    trail.types.add(task_type)
    trail.load += count
