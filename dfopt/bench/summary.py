"""The summary of a table: numbers of proofs, gaps, and times."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dfopt.bench.published import PublishedBounds, judged, published_document
from dfopt.bench.row import Row, RowStatus
from dfopt.bench.run import Report
from dfopt.bench.settings import Settings
from dfopt.files.formats import Format

FORMAT = Format.BENCH_SUMMARY

SHIFT_S = 1.0
"""Shift of the geometric mean of times: times far below 1 s hardly count."""

OTHERS = "others"
"""The name under which families of a single instance are put together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyFigures:
    """The figures of several rows together.

    Parameters
    ----------
    instances
        How many rows there are.
    statuses
        How many have each status.
    proven
        How many ended with a proof: optimal or infeasible.
    certified
        How many of those have a certificate that the checker follows, not only a search.
    refuted
        How many results the checker found wrong.
    mean_gap, max_gap
        Over the rows that have a gap; None where none has.
    median_time_s, max_time_s, mean_time_s
        Of the times of the searches, ``mean_time_s`` being their geometric mean shifted by 1 s,
        :func:`shifted_geometric_mean`. An error counts with the time limit, what was not
        applicable not at all; None where no row is left.
    """

    instances: int
    statuses: dict[str, int]
    proven: int
    certified: int
    refuted: int
    mean_gap: float | None
    max_gap: float | None
    median_time_s: float | None
    max_time_s: float | None
    mean_time_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of each family, by name in the order of the rows, and those of all rows."""

    families: dict[str, FamilyFigures]
    all: FamilyFigures


def summarise(rows: Sequence[Row]) -> Summary:
    """Return the figures of rows by family and in all.

    A family has the instances whose names begin alike: with the words before the first one that
    holds a digit, as ``zipf`` in ``zipf-n40-m4-d10-s0``. Families of a single instance are put
    together as ``others``.
    """
    sizes = Counter(family_of(row.instance) for row in rows)
    members: dict[str, list[Row]] = {}
    alone: list[Row] = []
    for row in rows:
        family = family_of(row.instance)
        (alone if sizes[family] == 1 else members.setdefault(family, [])).append(row)
    if alone:
        members[OTHERS] = alone
    return Summary(
        families={family: figures_of(group) for family, group in members.items()},
        all=figures_of(rows),
    )


def family_of(name: str) -> str:
    """Return the words of a name before the first one that holds a digit."""
    words = re.split(r"[-_. ](?=[^-_. ]*\d)", name)[0]
    return words.rstrip("0123456789") or name


def figures_of(rows: Iterable[Row]) -> FamilyFigures:
    """Return the figures of rows together."""
    rows = list(rows)
    counts = Counter(row.status for row in rows)
    proven = [row for row in rows if row.is_proven]
    gaps = [row.gap for row in rows if row.gap is not None]
    times = [
        row.time_limit_s if row.status is RowStatus.ERROR else row.wall_time_s
        for row in rows
        if row.status is not RowStatus.NOT_APPLICABLE
    ]
    return FamilyFigures(
        instances=len(rows),
        statuses={str(status): counts[status] for status in RowStatus},
        proven=len(proven),
        certified=sum(row.certificate not in {"", "search"} for row in proven),
        refuted=sum(row.verified == "no" for row in rows),
        mean_gap=statistics.fmean(gaps) if gaps else None,
        max_gap=max(gaps, default=None),
        median_time_s=statistics.median(times) if times else None,
        max_time_s=max(times, default=None),
        mean_time_s=shifted_geometric_mean(times) if times else None,
    )


def shifted_geometric_mean(times: Sequence[float], shift: float = SHIFT_S) -> float:
    """Return (∏ (t + s))^(1/n) − s, the mean by which solvers are compared.

    Parameters
    ----------
    times
        At least one, none of them negative.
    shift
        s: with 0 the plain geometric mean, which the shortest times would rule.
    """
    return math.exp(statistics.fmean(math.log(time + shift) for time in times)) - shift


def summary_document(
    report: Report,
    settings: Settings,
    csv: str,
    published: Mapping[str, PublishedBounds] | None = None,
) -> dict[str, Any]:
    """Return the document of the format ``dfopt-bench-summary/1``."""
    summary = summarise(report.rows)
    document = {
        "format": FORMAT,
        "csv": csv,
        "settings": settings.fields(),
        "instances": report.total,
        "finished": len(report.rows),
        "resumed": report.resumed,
        "families": [
            {"family": name, **asdict(figures)} for name, figures in summary.families.items()
        ],
        "all": asdict(summary.all),
    }
    if published is not None:
        document["published"] = published_document(judged(report.rows, published))
    return document
