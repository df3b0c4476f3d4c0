"""The method ``auto``: what is cheap first, and only as much as the proof needs."""

from __future__ import annotations

from dfopt.solvers import exhaustive, first_schedule
from dfopt.solvers.search import Search

TINY = 8


def solve_automatically(search: Search) -> None:
    """Run the methods that fit, in order of their cost."""
    first_schedule.improve(search, effort=0.5)
    if search.instance.task_count <= TINY and not search.instance.has_precedence:
        exhaustive.solve_exhaustively(search)
        return
    from dfopt.solvers.cp_sat import solve_by_cp_sat

    solve_by_cp_sat(search)
