"""Conditions on a comparison's document, such as ``realised.total>200``, for checks that fail."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from dfopt.checks import described
from dfopt.compare.comparison_parts import Cause
from dfopt.errors import DfoptError
from dfopt.structs import Record
from dfopt.time_units import NANOSECONDS

COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

SPELLING = re.compile(
    r"\s*([^<>=!]*[^<>=!\s])\s*(<=|>=|==|!=|<|>)\s*"
    r"(-?[0-9]{1,19}(?:\.[0-9]{1,19})?(?:e[+-]?[0-9]{1,2})?)\s*(%|[mnuµμ]?s|)\s*"
)

ANY = "*"

MOST_NAMES = 20
"""As many keys are named at most where a path ends that leads to no figure."""

TIME_KEYS = {
    "run_time", "wait", "patience", "total_wait", "mean_wait", "p99_wait", "mean", "p50", "p99",
    "longest", "latest_by",
}  # fmt: skip
COST_KEYS = set(Cause) | {
    "total", "max", "realised", "bound", "bound_with_lengths", "rolling", "balanced", "difference",
    "cost", "online", "best", "lower_bound", "objective",
}  # fmt: skip
"""The keys of figures that can have a unit of time."""


class Condition(Record):
    """A condition under which a comparison fails.

    Parameters
    ----------
    text
        As the user wrote it.
    path
        The keys that lead to the figure, each of which may be ``*``: any. An entry of an array goes
        by its first value, such as the length of a window, or by its number from 0.
    comparison, limit, unit
        How the figure is compared with what. Without a unit the limit is in that of the figure.
    """

    text: str
    path: tuple[str, ...]
    comparison: str
    limit: Fraction
    unit: str


def parse_condition(text: str) -> Condition:
    """Return the condition that a text such as ``service.wait.p99 > 10ms`` stands for.

    Raises
    ------
    DfoptError
        When it stands for none.
    """
    found = SPELLING.fullmatch(text)
    if found is None:
        shell = (
            "" if re.search("[<>=]", text) else "; in a shell it needs quotes because of < and >"
        )
        raise DfoptError(
            f"{described(text)} is no condition; write path, comparison ({' '.join(COMPARISONS)}) "
            f"and number, such as 'realised.total>200' or 'service.wait.p99>10ms'{shell}"
        )
    path, comparison, limit, unit = found.groups()
    return Condition(
        text=text.strip(),
        path=tuple(path.split(".")),
        comparison=comparison,
        limit=Fraction(limit),
        unit=unit,
    )


def failures(condition: Condition, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each figure that meets a condition, or that could not be computed.

    Parameters
    ----------
    condition
        About which figures.
    document
        Of one trace, or of results of an instance, as ``dfopt-comparison/1`` has it.

    Raises
    ------
    DfoptError
        When the path leads to no figure, or to one that has no such unit.
    """
    subject = document.get("trace") or document["instance"]["name"] or "the instance"
    unit = condition.unit
    for place, figure in _figures(document, condition.path):
        said = "could not be computed"
        if figure is not None:
            value = Fraction(str(+figure))  # +True is 1
            if unit == "%":
                value *= 100
            elif unit:
                own = _unit_of(place, document)
                if own not in NANOSECONDS:
                    raise DfoptError(
                        f"{described(condition.text)} has the unit {unit}, but {place} "
                        f"{f'is in {own}' if own else 'has none'}; leave the unit out"
                    )
                value *= Fraction(NANOSECONDS[own], NANOSECONDS[unit])
            if not COMPARISONS[condition.comparison](value, condition.limit):
                continue
            said = f"is {float(value):.15g}{unit}"
        yield f"{subject}: {place} {said}; limit: {condition.text}"


def _unit_of(place: str, document: Mapping[str, Any]) -> str | None:
    """Return the unit of the figure at a place."""
    unit: str | None = document.get("time_unit")
    key = "" if place.startswith("domains.") else place.rpartition(".")[2]  # pairs are counted
    if key in COST_KEYS:
        unit = document.get("cost_unit", unit)
    return unit if key in COST_KEYS | TIME_KEYS else None


def _figures(
    found: Any, path: Sequence[str], place: str = ""
) -> Iterator[tuple[str, float | None]]:
    """Yield the figures to which a path leads from what was found at a place, and their places."""
    if found is None or (not path and isinstance(found, int | float)):
        yield place, found
        return
    entries: list[tuple[str, Any]] = []
    if isinstance(found, Mapping):
        entries = list(found.items())
    elif isinstance(found, list):
        entries = [
            (str(next(iter(entry.values())) if isinstance(entry, Mapping) else number), entry)
            for number, entry in enumerate(found)
        ]
    step = path[0] if path else ""
    chosen = [(name, entry) for name, entry in entries if step in (ANY, name)]
    if not chosen and isinstance(found, list):
        chosen = [entry for number, entry in enumerate(entries) if step == str(number)]
    if not chosen:
        names = list(dict.fromkeys(name for name, _ in entries))
        meant = get_close_matches(step, names, n=1)
        raise DfoptError(
            f"{described('.'.join(filter(None, (place, *path))))} leads to no figure; "
            f"{place or 'the document'} has {', '.join(names[:MOST_NAMES]) or 'no entries'}"
            + "".join(f"; did you mean {name}?" for name in meant)
        )
    for name, entry in chosen:
        yield from _figures(entry, path[1:], f"{place}.{name}".lstrip("."))
