"""Packing parts: instances under g whose execution times do not count."""

from dfopt.solvers.parts.method import counts_parts, pack, prove

__all__ = ["counts_parts", "pack", "prove"]
