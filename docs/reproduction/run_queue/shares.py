"""Shares and their bounds, in words."""

from collections.abc import Sequence
from itertools import pairwise

from dfopt.simulate.statistics import confidence_interval

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
    unit = "point" if shown == "1" else "points"
    return f"{shown} {unit}".replace("-", "−")


def within(value: float, bounds: Bounds) -> bool:
    """Return whether a value is within bounds."""
    return bounds[0] <= value <= bounds[1]


def between(bounds: Bounds) -> str:
    """Return bounds in percent."""
    return f"{100 * bounds[0]:.0f} to {100 * bounds[1]:.0f} %"


def grows(values: Sequence[float]) -> bool:
    """Return whether every value is greater than the one before."""
    return all(before < after for before, after in pairwise(values))


def is_clearly_above(values: Sequence[float], least: float = 0.0) -> bool:
    """Return whether the mean of values is greater with its 95 % interval, by Student's t."""
    found = confidence_interval(values)
    return found.half_width is not None and found.mean - found.half_width > least


def with_interval(values: Sequence[float], places: int = 1) -> str:
    """Return a mean and half of its 95 % interval."""
    found = confidence_interval(values)
    error = "?" if found.half_width is None else f"{found.half_width:.{places}f}"
    return f"{found.mean:.{places}f} ± {error}".replace("-", "−")
