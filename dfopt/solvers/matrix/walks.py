"""Schedules under a matrix, made from how often each type follows each other one.

A flow is cut into one path for each CPU and into circles. A circle can be added to any order that
has one of its types (Euler; Hierholzer 1873).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from dfopt.solvers.matrix.dealing import completed
from dfopt.solvers.matrix.flow import TypeFlow
from dfopt.solvers.matrix.problem import MatrixProblem

Arc = tuple[int, int]


def walks_along(
    problem: MatrixProblem, flow: TypeFlow, check: Callable[[], object] = lambda: None
) -> list[list[int]]:
    """Return an order of types for each CPU that keeps to a flow where it can.

    Parameters
    ----------
    problem
        The tasks to schedule.
    flow
        A cheapest flow. A schedule that costs no more is the best there is.
    check
        Called often; what it raises ends the search.
    """
    rest = Counter(flow.between)
    orders = _paths(problem, flow, rest)
    # Tasks that follow their own type are dealt in the end.
    alike = [rest.pop((a, a), 0) for a in range(len(problem.sizes))]
    circles = dict(_circles(rest))
    while circles:
        check()
        options = [
            (circle, order)
            for circle in circles
            for order in orders
            if len(order) + len(circle) <= problem.capacity and not set(order).isdisjoint(circle)
        ]
        if not options:
            break
        seen = {task_type for order in orders for task_type in order}
        # First those that lead to new types, so that all can be added; then long ones, once to each
        # order, so that many orders have all types.
        circle, order = min(
            options,
            key=lambda option: (
                seen.issuperset(option[0]),
                -len(option[0]),
                set(option[1]).issuperset(option[0]),
                len(option[1]),
            ),
        )
        number = 1
        if set(order).issuperset(circle):
            number = min(circles[circle], (problem.capacity - len(order)) // len(circle))
        place, turn = next((order.index(a), turn) for turn, a in enumerate(circle) if a in order)
        order[place:place] = [*circle[turn:], *circle[:turn]] * number
        circles[circle] -= number
        if not circles[circle]:
            del circles[circle]
    return completed(problem, orders, check, alike)


def _paths(problem: MatrixProblem, flow: TypeFlow, rest: Counter[Arc]) -> list[list[int]]:
    """Take a shortest path from a beginning to an end out of the flow for each CPU."""
    endings, beginnings = Counter(flow.endings), Counter(flow.beginnings)
    paths: list[list[int]] = []
    for start in problem.starts:
        firsts = (a for a in range(len(problem.sizes)) if beginnings[start, a])
        first = next(firsts, None)
        path: list[int] = []
        if first is not None:
            beginnings[start, first] -= 1
            path = _shortest_path(first, rest, endings)[: problem.capacity]
            endings[path[-1]] -= 1
            rest.subtract(pairwise(path))
        paths.append(path)
    return paths


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


def _circles(rest: Counter[Arc]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the circles of what is left of a flow, and how many times each is used."""
    while following := dict(sorted(arc for arc, count in rest.items() if count > 0)):
        path = [min(following)]
        while path[-1] in following and path.count(path[-1]) == 1:
            path.append(following[path[-1]])
        circle = tuple(path[path.index(path[-1]) : -1])
        arcs = list(pairwise((*circle, *circle[:1])))
        number = min((rest[arc] for arc in arcs), default=0)
        rest.subtract(dict.fromkeys(arcs, number))
        if not number:
            return  # a path was longer than a CPU has room for
        yield circle, number
