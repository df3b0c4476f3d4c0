"""Seconds that tests wait for what comes at once, unless something hangs."""

PATIENCE_S = 120
"""However slow the machine, and however much else it has to do."""
