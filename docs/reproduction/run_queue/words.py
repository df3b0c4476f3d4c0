"""Lists, numbers with intervals and tables, in Markdown."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from dfopt.confidence import confidence_interval


def listed(parts: Iterable[object]) -> str:
    """Join parts with commas."""
    return ", ".join(map(str, parts))


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    names = list(columns)
    lines = [names, ["---"] * len(names), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(share: float, places: int = 0) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{places}f} %".replace("-", "−")


def percents(shares: Sequence[float]) -> str:
    """Return shares in percent."""
    return f"{listed(f'{100 * share:.0f}' for share in shares)} %".replace("-", "−")


def with_interval(values: Sequence[float], places: int = 1) -> str:
    """Return a mean and half of its 95 % interval."""
    found = confidence_interval(values)
    error = "?" if found.half_width is None else f"{found.half_width:.{places}f}"
    return f"{found.mean:.{places}f} ± {error}".replace("-", "−")


def is_clearly_above(values: Sequence[float], least: float = 0.0) -> bool:
    """Return whether the mean of values is greater with its 95 % interval, by Student's t."""
    found = confidence_interval(values)
    return found.half_width is not None and found.mean - found.half_width > least


def grows(values: Sequence[float]) -> bool:
    """Return whether every value is greater than the one before."""
    return all(before < after for before, after in pairwise(values))
