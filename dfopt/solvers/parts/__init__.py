"""Packing parts: instances under g whose execution times do not count."""

from dfopt.solvers.parts.method import pack, prove

__all__ = ["pack", "prove"]
