"""Solvers behind one protocol and one facade."""

from dfopt.solvers.facade import METHODS, Solver, solve

__all__ = ["METHODS", "Solver", "solve"]
