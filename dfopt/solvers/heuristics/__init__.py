"""Heuristics: schedules without a proof, for the exact methods to begin with."""
