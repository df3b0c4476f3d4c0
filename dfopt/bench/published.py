"""Published bounds beside the rows of a benchmark: what agrees, and what cannot both be true."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from dfopt.bench.row import Row
from dfopt.checks import described
from dfopt.errors import FileError
from dfopt.files import read_text
from dfopt.files.streams import shown_name

COLUMNS = ("instance", "lower", "upper")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedBounds:
    """What somebody else has published: the optimum is at least ``lower`` and at most ``upper``.

    None says that nothing is published on this side.
    """

    lower: int | None
    upper: int | None


class Verdict(StrEnum):
    """How the result of an instance stands to what was published about it.

    With o as the objective, b as the lower bound, and L to U as published:

    - ``confirmed``: b ≥ L and o ≤ U, where these were published, so the result proves all of it;
    - ``sharper``: more than what was published is known on one side, b > L or o < U, although L
      and U were not equal;
    - ``within``: neither proves the other wrong, and something remains open here;
    - ``contradiction``: b > U or o < L, or infeasible although a value was published;
    - ``no-result``: the row has no result.
    """

    CONFIRMED = "confirmed"
    SHARPER = "sharper"
    WITHIN = "within"
    CONTRADICTION = "contradiction"
    NO_RESULT = "no-result"


def verdict_on(row: Row, published: PublishedBounds) -> Verdict:
    """Return how a row stands to what was published about its instance."""
    lower, upper = published.lower, published.upper
    objective, bound = row.objective, row.lower_bound
    if row.status == "infeasible":
        return Verdict.CONTRADICTION if upper is not None else Verdict.CONFIRMED
    if objective is None and bound is None:
        return Verdict.NO_RESULT
    too_high = upper is not None and bound is not None and bound > upper
    too_low = lower is not None and objective is not None and objective < lower
    if too_high or too_low:
        return Verdict.CONTRADICTION
    if lower is not None and upper is not None and lower < upper:
        more = (bound is not None and bound > lower) or (
            objective is not None and objective < upper
        )
        if more:
            return Verdict.SHARPER
    holds_below = lower is None or (bound is not None and bound >= lower)
    holds_above = upper is None or (objective is not None and objective <= upper)
    return Verdict.CONFIRMED if holds_below and holds_above else Verdict.WITHIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A row, what was published about its instance, and the verdict."""

    row: Row
    published: PublishedBounds
    verdict: Verdict


def judged(rows: Iterable[Row], published: Mapping[str, PublishedBounds]) -> tuple[Judged, ...]:
    """Return the verdicts on the rows about whose instances something was published."""
    return tuple(
        Judged(row=row, published=bounds, verdict=verdict_on(row, bounds))
        for row in rows
        if (bounds := published.get(row.instance)) is not None
    )


def verdict_counts(verdicts: Iterable[Judged]) -> dict[str, int]:
    """Return how often each verdict was given."""
    counts = Counter(item.verdict for item in verdicts)
    return {str(verdict): counts[verdict] for verdict in Verdict}


def published_document(verdicts: Iterable[Judged]) -> dict[str, Any]:
    """Return the part of a summary that says what became of published bounds."""
    verdicts = tuple(verdicts)
    return {
        "verdicts": verdict_counts(verdicts),
        "instances": [
            {
                "instance": item.row.instance,
                "method": item.row.method,
                "lower": item.published.lower,
                "upper": item.published.upper,
                "verdict": str(item.verdict),
            }
            for item in verdicts
        ],
    }


def read_published(path: str | Path) -> dict[str, PublishedBounds]:
    """Return the published bounds in a CSV file, by the names of the instances.

    Parameters
    ----------
    path
        The first line names the columns ``instance``, ``lower`` and ``upper``, in any order;
        others do not matter. An empty field says that no such bound was published.

    Raises
    ------
    FileError
        With file, line and remedy, when the file is no such table.
    """
    reader = csv.reader(read_text(path).splitlines(), strict=True)
    try:
        return _published_in(reader)
    except csv.Error as error:
        problem = f"is no CSV ({error}); correct the line"
        raise FileError(problem, place=f"line {reader.line_num}", file=shown_name(path)) from None
    except FileError as error:
        place = f"line {max(reader.line_num, 1)}"
        raise FileError(error.problem, place=place, file=shown_name(path)) from None


def _published_in(reader: Any) -> dict[str, PublishedBounds]:
    header = [name.strip() for name in next(reader, [])]
    if missing := [name for name in COLUMNS if name not in header]:
        raise FileError(f"names no column {missing[0]!r}; name {', '.join(COLUMNS)}")
    published: dict[str, PublishedBounds] = {}
    for fields in reader:
        if not fields:
            continue
        if len(fields) != len(header):
            raise FileError(f"has {len(fields)} fields, not {len(header)}; correct the line")
        values = dict(zip(header, fields, strict=True))
        name = values["instance"]
        lower, upper = (_bound(values[column], column) for column in ("lower", "upper"))
        if lower is None and upper is None:
            raise FileError("has neither lower nor upper; give one or remove the line")
        if lower is not None and upper is not None and lower > upper:
            raise FileError(f"lower {lower} is more than upper {upper}; correct one of the two")
        if name in published:
            raise FileError(f"{described(name)} is there twice; remove one")
        published[name] = PublishedBounds(lower=lower, upper=upper)
    return published


def _bound(text: str, column: str) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 19):  # noqa: PLR2004 - up to 2^62
        raise FileError(f"{column} is {described(text)}, no integer of at least 0; correct it")
    return int(text)
