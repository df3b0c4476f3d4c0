"""The method ``cp-sat``: constraint programming with OR-Tools."""

from dfopt.solvers.cp_sat.method import counts_parts, solve_by_cp_sat

__all__ = ["counts_parts", "solve_by_cp_sat"]
