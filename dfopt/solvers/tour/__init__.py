"""One CPU under a matrix: the best order of all tasks, a travelling salesman problem."""

from __future__ import annotations

from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Search

__all__ = ["can_be_toured", "search_tours"]

MOST_NODES = 500
"""Tours through at most 500 nodes are searched."""


def can_be_toured(search: Search) -> bool:
    """Return whether the cheapest order of all tasks is a cheapest tour."""
    instance = search.instance
    return (
        instance.cpus == 1
        and isinstance(instance.penalty, PenaltyMatrix)
        and not any(task.release for task in instance.tasks)
        and (instance.task_count if instance.has_precedence else len(search.types)) <= MOST_NODES
    )


def search_tours(search: Search) -> None:
    """Report tours and bounds, until the best tour is proven or the linear programs fail.

    Parameters
    ----------
    search
        Of an instance that can be toured.
    """
    load_module("dfopt.solvers.tour.method", search.check)
    from dfopt.solvers.tour.method import solve_tour

    solve_tour(search)
