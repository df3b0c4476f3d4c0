"""The method ``cp-sat``: constraint programming with OR-Tools."""

from dfopt.solvers.cp_sat.method import solve_by_cp_sat

__all__ = ["solve_by_cp_sat"]
