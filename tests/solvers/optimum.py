"""The truth about small instances, and deliberately bad schedules for solvers to start from."""

import contextlib
from collections.abc import Callable
from graphlib import TopologicalSorter

from dfopt.problem.instance import Instance
from dfopt.problem.result import Progress, StoppingCriterion
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.search import Search, SearchOver


def optimum(instance: Instance) -> int:
    """Return the optimum by enumeration (which has tests of its own)."""
    search = Search(instance)
    run(solve_exhaustively, search)
    assert search.objective is not None
    return search.objective


def run(solver: Callable[[Search], None], search: Search) -> None:
    """Let ``solver`` close ``search``."""
    with contextlib.suppress(SearchOver):
        solver(search)
    assert search.is_closed
    assert search.objective == search.lower_bound


def badly_started(
    instance: Instance,
    *,
    stop: StoppingCriterion | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Search:
    """Return a search that knows no bound, and a schedule that deals tasks like cards.

    So a solver has to find and to prove by itself.
    """
    search = Search(instance, stop=stop, on_progress=on_progress)
    kinds = {one.example.id: kind for kind, one in enumerate(search.types)}
    if instance.is_timed:
        graph = {task.id: task.after for task in instance.tasks}
        sequence = [kinds[name] for name in TopologicalSorter(graph).static_order()]
    else:
        sequence = list(range(len(search.types)))
    orders: list[list[int]] = [[] for _ in range(instance.cpus)]
    cards = [kind for kind in sequence for _ in search.types[kind].names]
    for place, kind in enumerate(cards):
        orders[place % instance.cpus].append(kind)
    search.found(orders)
    return search
