"""The name of a time unit behind an amount."""

from __future__ import annotations

import math

WORDS = frozenset({"unit", "cycle", "tick", "step", "second", "minute", "hour", "day", "week"})
"""Units with a plural; abbreviations such as ``ns`` have none."""


def unit_text(unit: str | None, amount: float = math.inf) -> str:
    """Return what stands behind an amount: `` ns``, `` unit``, `` units``, or nothing.

    Parameters
    ----------
    unit
        The label of a time unit; None if there is none.
    amount
        What stands before it; by default any amount, so the plural.
    """
    if not unit:
        return ""
    return f" {unit}s" if unit in WORDS and amount != 1 else f" {unit}"
