"""Times in other units, and as text."""

from __future__ import annotations

import math
from decimal import Decimal

NANOSECONDS = {"ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}

UNITS = ("s", "ms", "us", "ns")
"""The units in which users write times."""


LARGE = 100
"""Numbers from here on are shown without decimal places."""

FACTOR = 1000
_SCALES = (("ns", 1), ("µs", FACTOR), ("ms", FACTOR**2), ("s", FACTOR**3))
"""Units in which times are shown, in nanoseconds; each is this factor times the one before."""


def readable_time(length: float, unit: str | None) -> str:
    """Return a time with three digits, in a unit that keeps it short.

    Times in a unit that is no fraction of a second, such as cycles, keep it.
    """
    if not length:
        return "0"
    size, name = time_scale(length, unit)
    shown = length / size
    return f"{f'{shown:,.0f}' if shown >= LARGE else f'{shown:.3g}'} {name}".rstrip()


def full_time(length: float, unit: str | None) -> str:
    """Return a time with all its digits, in a unit that keeps those before the point few."""
    if not length:
        return "0"
    size, name = time_scale(length, unit)
    shown = (Decimal(length) / Decimal(size)).normalize()
    return f"{shown:,f} {name}".rstrip()


def time_scale(length: float, unit: str | None) -> tuple[float, str]:
    """Return the unit in which times of about this length are read best: its length, and name.

    The length is in ``unit``. Units that are no fraction of a second, such as cycles, stay.
    """
    if unit not in NANOSECONDS:
        return 1, unit or ""
    own = NANOSECONDS[unit]
    name, size = next((scale for scale in _SCALES if length * own < scale[1] * FACTOR), _SCALES[-1])
    return size / own if size < own else size // own, name


def exact_time(length: int, unit: str | None) -> str:
    """Return a time in the largest unit in which it is a whole number."""
    if unit not in NANOSECONDS:
        return f"{length}{unit or ''}"
    nanoseconds = length * NANOSECONDS[unit]
    name = next(name for name in UNITS if nanoseconds % NANOSECONDS[name] == 0) if length else "s"
    return f"{nanoseconds // NANOSECONDS[name]}{name}"


WORDY_UNITS = frozenset(
    {"unit", "cycle", "tick", "step", "second", "minute", "hour", "day", "week"}
)
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
    return f" {unit}s" if unit in WORDY_UNITS and amount != 1 else f" {unit}"
