"""The summary of a table: numbers of proofs, gaps, and times."""

from __future__ import annotations

import math
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFigures:
    """The figures of the rows of a method.

    Parameters
    ----------
    runs
        How many rows there are.
    statuses
        How many have each status.
    proven
        How many ended with a proof: optimal or infeasible.
    certified
        How many of those have a certificate that the checker follows, not only a search.
    refuted
        How many results the checker found wrong.
    mean_gap
        Over the rows that have a gap; None where none has.
    max_time_s, mean_time_s
        Of the times of the searches, ``mean_time_s`` being their geometric mean shifted by 1 s,
        :func:`shifted_geometric_mean`. An error counts with the time limit, what was not
        applicable not at all; None where no row is left.
    """

    runs: int
    statuses: dict[str, int]
    proven: int
    certified: int
    refuted: int
    mean_gap: float | None
    max_time_s: float | None
    mean_time_s: float | None


def summarise(rows: Sequence[Row]) -> dict[str, MethodFigures]:
    """Return the figures of the rows of each method, in the order in which methods come."""
    methods = dict.fromkeys(row.method for row in rows)
    return {method: figures_of(row for row in rows if row.method == method) for method in methods}


def figures_of(rows: Iterable[Row]) -> MethodFigures:
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
    return MethodFigures(
        runs=len(rows),
        statuses={str(status): counts[status] for status in RowStatus},
        proven=len(proven),
        certified=sum(row.certificate not in {"", "search"} for row in proven),
        refuted=sum(row.verified == "no" for row in rows),
        mean_gap=statistics.fmean(gaps) if gaps else None,
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
    settings: Sequence[Settings],
    csv: str,
    published: Mapping[str, PublishedBounds] | None = None,
) -> dict[str, Any]:
    """Return the document of the format ``dfopt-bench-summary/1``."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "csv": csv,
        "settings": [each.fields() for each in settings],
        "runs": report.total,
        "finished": len(report.rows),
        "resumed": report.resumed,
        "methods": [
            {"method": method, **asdict(figures)}
            for method, figures in summarise(report.rows).items()
        ],
    }
    if published is not None:
        document["published"] = published_document(judged(report.rows, published))
    return document
