"""Shares and their bounds, in words."""

from collections.abc import Sequence
from itertools import pairwise

Bounds = tuple[float, float]


def percent(share: float, places: int = 0) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{places}f} %".replace("-", "−")


def percents(shares: Sequence[float]) -> str:
    """Return shares in percent."""
    return f"{', '.join(f'{100 * share:.0f}' for share in shares)} %".replace("-", "−")


def points(differences: Sequence[float]) -> str:
    """Return differences of shares in percentage points."""
    shown = ", ".join(f"{100 * difference:.0f}" for difference in differences)
    return f"{shown} points".replace("-", "−")


def within(value: float, bounds: Bounds) -> bool:
    """Return whether a value is within bounds."""
    return bounds[0] <= value <= bounds[1]


def between(bounds: Bounds) -> str:
    """Return bounds in percent."""
    return f"{100 * bounds[0]:.0f} to {100 * bounds[1]:.0f} %"


def grows(values: Sequence[float]) -> bool:
    """Return whether every value is greater than the one before."""
    return all(before < after for before, after in pairwise(values))
