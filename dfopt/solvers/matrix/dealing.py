"""Deals the tasks to CPUs whose supports are chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from dfopt.solvers.matrix.contents import Plan
from dfopt.solvers.matrix.flow import least_transport
from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.solvers.matrix.support_list import SupportList
from dfopt.solvers.search import Search


def supports_of(problem: MatrixProblem, plan: Plan) -> list[tuple[int, int]]:
    """Return the group and the support of each CPU in a plan."""
    waiting = {
        start: [key for key, number in plan.items() if key[0] == start for _ in range(number)]
        for start in set(problem.starts)
    }
    return [waiting[start].pop() for start in problem.starts]


def report_orders(
    search: Search,
    places: Sequence[int],
    members: Sequence[Sequence[int]],
    of_places: Sequence[Sequence[int]],
) -> None:
    """Report the schedule with an order of types at each place of the problem.

    Parameters
    ----------
    search
        The search to report to.
    places
        Which CPU of the instance stands at each place of the problem.
    members
        For each type the task types of its tasks.
    of_places
        The orders.
    """
    orders: list[Sequence[int]] = [()] * len(places)
    for cpu, order in zip(places, of_places, strict=True):
        orders[cpu] = order
    left = [iter(numbers) for numbers in members]
    search.found([[next(left[task_type]) for task_type in types] for types in orders])


def dealt(
    problem: MatrixProblem,
    listing: SupportList,
    plan: Plan,
    check: Callable[[], object],
) -> list[list[int]] | None:
    """Return the order of types on each CPU, or None if the walks need more tasks than there are.

    Each CPU first runs the cheapest walk with its support. All other tasks follow their own type
    on some CPU; where that is not possible, they are inserted where they cost least.
    """
    orders = [list(listing.walk(*key)) for key in supports_of(problem, plan)]
    if min(_left(problem, orders)) < 0 or max(map(len, orders)) > problem.capacity:
        return None
    return completed(problem, orders, check)


def completed(
    problem: MatrixProblem,
    orders: list[list[int]],
    check: Callable[[], object],
    alike: Sequence[int] | None = None,
) -> list[list[int]]:
    """Return orders to which all tasks that are left have been added.

    Parameters
    ----------
    problem
        The tasks.
    orders
        For each CPU the types that it runs so far; they are changed.
    check
        Called often; what it raises ends the work.
    alike
        How many tasks of each type shall follow their own type; by default all that are left.
        The others, and those that find no room there, are inserted where they cost least.
    """
    left = _left(problem, orders)
    if alike is not None:
        left = list(map(min, left, alike))
    rooms = [problem.capacity - len(order) for order in orders]
    # A transportation problem. Tasks without room go to a column of their own, and room that
    # is not needed is filled from a row of its own.
    plenty = sum(left) + sum(rooms)
    types = range(len(left))
    found = least_transport(
        [*left, sum(rooms)],
        [*rooms, sum(left)],
        [*([0] * len(orders) + [1] for _ in types), [0] * (len(orders) + 1)],
        [
            *([plenty if a in order else 0 for order in orders] + [plenty] for a in types),
            [plenty] * (len(orders) + 1),
        ],
        check,
    )
    assert found is not None, "all tasks may find no room"
    _, table = found
    for task_type in types:
        for order, number in zip(orders, table[task_type].tolist(), strict=False):
            if number:
                place = order.index(task_type)
                order[place:place] = [task_type] * number
    for task_type, number in enumerate(_left(problem, orders)):
        _insert(problem, orders, task_type, number, check)
    return orders


def _left(problem: MatrixProblem, orders: Sequence[Sequence[int]]) -> list[int]:
    """Return how many tasks of each type no CPU runs yet."""
    ran = Counter(chain.from_iterable(orders))
    return [size - ran[task_type] for task_type, size in enumerate(problem.sizes)]


def _insert(
    problem: MatrixProblem,
    orders: Sequence[list[int]],
    task_type: int,
    number: int,
    check: Callable[[], object],
) -> None:
    """Insert tasks of a type where they cost least, as many at a time as there is room."""
    while number:
        check()
        _, cpu, place = min(
            (cost, cpu, place)
            for cpu, order in enumerate(orders)
            if len(order) < problem.capacity
            for place, cost in _positions(problem, problem.starts[cpu], order, task_type)
        )
        taken = min(number, problem.capacity - len(orders[cpu]))
        orders[cpu][place:place] = [task_type] * taken
        number -= taken


def _positions(
    problem: MatrixProblem, start: int, order: Sequence[int], task_type: int
) -> Iterator[tuple[int, int]]:
    """Yield the places in an order, and what a task of a type costs there."""
    before = problem.start[start]
    for place, after in enumerate(order):
        yield place, before[task_type] + problem.switch[task_type][after] - before[after]
        before = problem.switch[after]
    ending = problem.finish[order[-1]] if order else problem.idle[start]
    yield len(order), before[task_type] + problem.finish[task_type] - ending
