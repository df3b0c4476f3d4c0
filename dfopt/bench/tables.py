"""Tables of a benchmark: what methods found, side by side and beside what was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dfopt.bench.benchmark import Report
from dfopt.bench.profile import performance_ratios, profile_table
from dfopt.bench.rows import Row, RowStatus, Settings
from dfopt.bench.summary import PublishedBounds, judged, summarise, verdict_counts
from dfopt.table import Table, columns


def report_tables(report: Report, settings: Sequence[Settings], csv: str) -> list[Table]:
    """Return what there is to say of a run, from top to bottom; ``csv`` has its rows."""
    headings = columns(
        *("method", "runs", "not applicable", "proven", "certified :.0%"),
        *("mean gap :.2%", "max time [s] :.2f", "mean time [s] :.2f"),
    )
    rows = [
        (
            *(method, found.runs, found.statuses[RowStatus.NOT_APPLICABLE], found.proven),
            found.certified / found.proven if found.proven else None,
            *(found.mean_gap, found.max_time_s, found.mean_time_s),
        )
        for method, found in summarise(report.rows).items()
    ]
    figures = Table("", headings, rows, _remarks(report, settings[0], csv))
    if len(settings) == 1:
        return [figures]
    ratios = performance_ratios(report.rows)
    profile = [profile_table(ratios)] if any(ratios.values()) else []
    return [_methods_table(report), *profile, figures]


def _methods_table(report: Report) -> Table:
    """Return bound, objective and time of each instance, side by side for each method."""
    methods = dict.fromkeys(row.method for row in report.rows)
    rows = {(row.sha256, row.method): row for row in report.rows}
    names = {row.sha256: row.instance for row in report.rows}
    headings = columns(
        "instance", *(part for method in methods for part in (f"{method} :s", f"{method} [s] :.2f"))
    )
    return Table(
        "",
        headings,
        [
            (name, *(cell for method in methods for cell in _cells(rows.get((sha256, method)))))
            for sha256, name in names.items()
        ],
    )


def _cells(row: Row | None) -> tuple[str | None, float | None]:
    if row is None:
        return None, None
    if row.status in {RowStatus.NOT_APPLICABLE, RowStatus.ERROR}:
        return str(row.status).replace("-", " "), None
    return row_interval(row), row.wall_time_s


def _remarks(report: Report, settings: Settings, csv: str) -> list[str]:
    wrong = {
        "ended in an error": sum(row.status is RowStatus.ERROR for row in report.rows),
        "refuted by the checker": sum(row.verified == "no" for row in report.rows),
    }
    workers = f"{settings.workers} worker{'s' if settings.workers > 1 else ''}"
    before = f" ({report.resumed} from before)" if report.resumed else ""
    return [
        *(f"{count} {said}; the column error says why" for said, count in wrong.items() if count),
        f"{len(report.rows)} of {report.total} runs done{before}, limit {settings.time_limit_s:g} s"
        f", seed {settings.seed}, {workers}",
        f"rows in {csv}; mean is the geometric one, shifted by 1 s",
    ]


def published_table(report: Report, published: Mapping[str, PublishedBounds]) -> Table:
    """Return published bounds beside the rows."""
    verdicts = judged(report.rows, published)
    rows = [
        (
            *(item.row.instance, item.row.method, published_interval(item.published)),
            *(
                row_interval(item.row),
                item.row.wall_time_s,
                item.row.certificate or None,
                item.verdict,
            ),
        )
        for item in verdicts
    ]
    counts = ", ".join(
        f"{count} {verdict}" for verdict, count in verdict_counts(verdicts).items() if count
    )
    others = len(report.rows) - len(verdicts)
    unpublished = f"; nothing published about {others} of {len(report.rows)}" if others else ""
    headings = columns(
        *("instance", "method", "published :s", "dfopt :s", "time [s] :.2f", "proof", "verdict")
    )
    return Table("", headings, rows, [f"{counts or 'no verdict'}{unpublished}"])


def published_interval(published: PublishedBounds) -> str:
    """Return published bounds as a cell: a value, an interval, or one side."""
    if published.lower is None:
        return f"≤ {published.upper}"
    if published.upper is None:
        return f"≥ {published.lower}"
    return interval(published.lower, published.upper)


def row_interval(row: Row) -> str:
    """Return bound and objective of a row as a cell."""
    if row.lower_bound is None and row.objective is None:
        return str(row.status)
    return interval(row.lower_bound, row.objective)


def interval(lower: int | None, upper: int | None) -> str:
    """Return what lies between two bounds as a cell."""
    if lower == upper:
        return str(lower)
    return f"{'?' if lower is None else lower}..{'?' if upper is None else upper}"
