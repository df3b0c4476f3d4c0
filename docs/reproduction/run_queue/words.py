"""Lists and tables, in Markdown."""

from collections.abc import Iterable


def listed(parts: Iterable[str]) -> str:
    """Join parts with commas."""
    return ", ".join(parts)


def arrows(steps: Iterable[object]) -> str:
    """Join steps with arrows."""
    return " → ".join(map(str, steps))


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    names = list(columns)
    lines = [names, ["---"] * len(names), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
