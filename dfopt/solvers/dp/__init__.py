"""The method ``dp``: a pseudo-polynomial dynamic program for few CPUs."""

from dfopt.solvers.dp.program import solve_by_dp

__all__ = ["solve_by_dp"]
