"""The figures of a benchmark, as tables and a document, also beside what others published."""

from __future__ import annotations

import math
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from dfopt.bench.benchmark import Report
from dfopt.bench.rows import Row, RowStatus, Settings
from dfopt.checks import described
from dfopt.errors import FileError
from dfopt.files.csv_table import read_csv_table
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.files.storage import naming, placed
from dfopt.problem.result import StopReason
from dfopt.render import counted
from dfopt.structs import DocumentPart, Natural, NonNegative, Positive, Record, Share, each_of
from dfopt.table import Table, Value, columns

FACTORS = (1, 2, 5, 10, 100)
"""The factors that a table shows."""

SHORTEST_S = 0.01
"""Shorter times count as this one, since their ratios say more of the machine than of methods."""

SOLVED = (StopReason.PROOF, StopReason.GAP_LIMIT)


def performance_ratios(rows: Sequence[Row]) -> dict[str, list[float]]:
    r"""Return how many times as long as the fastest method each one took, instance by instance.

    Parameters
    ----------
    rows
        The rows of several methods. Where those of a method have several settings, each of them
        counts as a method. An instance that some method lacks is left out.

    Returns
    -------
    dict[str, list[float]]
        By method the ratios :math:`r_{p,s} = t_{p,s} / \min_{s'} t_{p,s'}` of all instances p, in
        the same order. A ratio is infinite where the method s did not solve p: where the search
        ended before its proof, and before the gap that was asked for.

    References
    ----------
    E. D. Dolan and J. J. Moré, Benchmarking optimization software with performance profiles,
    Mathematical Programming 91, 2002, pages 201 to 213, section 2.
    """
    methods = {row.label: row.method for row in rows}
    if len(set(methods.values())) < len(methods):
        methods = {label: label for label in methods}
    times: dict[str, dict[str, float]] = {}
    for row in rows:
        is_solved = row.stop_reason in SOLVED and not row.is_wrong
        time = max(row.wall_time_s, SHORTEST_S) if is_solved else math.inf
        times.setdefault(row.sha256, {})[methods[row.label]] = time
    known = [own for own in times.values() if len(own) == len(methods)]
    return {
        method: [
            own[method] / min(own.values()) if own[method] < math.inf else math.inf for own in known
        ]
        for method in methods.values()
    }


def share_within(ratios: Sequence[float], factor: float) -> float:
    """Return the share of instances with a ratio of at most a factor: their profile there."""
    return sum(ratio <= factor for ratio in ratios) / len(ratios)


class MethodProfile(DocumentPart):
    """The performance profile of a method, where several ran.

    Parameters
    ----------
    method
        The method.
    factors
        Multiples of the fastest method's time.
    shares
        For each of them the share of instances that the method solves within it.
    solved
        The share that it solves at all.
    """

    method: str
    factors: tuple[Positive, ...]
    shares: tuple[Share, ...]
    solved: Share


def method_profiles(ratios: Mapping[str, Sequence[float]]) -> tuple[MethodProfile, ...]:
    """Return the profile of each method that has instances to compare."""
    return tuple(
        MethodProfile(
            method=method,
            factors=FACTORS,
            shares=tuple(share_within(own, factor) for factor in FACTORS),
            solved=share_within(own, sys.float_info.max),
        )
        for method, own in ratios.items()
        if own
    )


def profile_table(ratios: Mapping[str, Sequence[float]]) -> Table:
    """Return the profile of each method at the usual factors, and the share that it solved."""
    headings = columns("method", *(f"{factor}× :.0%" for factor in FACTORS), "solved :.0%")
    rows: list[tuple[Value, ...]] = [
        (own.method, *own.shares, own.solved) for own in method_profiles(ratios)
    ]
    count = max(map(len, ratios.values()))
    note = (
        f"of {counted(count, 'instance')}; 1×: how often a method is the fastest; "
        f"times below {SHORTEST_S:g} s count as {SHORTEST_S:g} s"
    )
    title = "solved within these multiples of the fastest method's time"
    return Table(title, headings, rows, [note])


SHIFT_S = 1.0
"""Shift of the geometric mean of times: times far below 1 s hardly count."""


class MethodFigures(DocumentPart):
    """The figures of the rows of a method.

    Parameters
    ----------
    method
        The method.
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
        by which solvers are compared. An error counts with the time limit, what was not
        applicable not at all; None where no row is left.
    """

    method: str
    runs: Natural
    statuses: Annotated[dict[RowStatus, Natural], each_of(RowStatus)]
    proven: Natural
    certified: Natural
    refuted: Natural
    mean_gap: NonNegative | None
    max_time_s: NonNegative | None
    mean_time_s: NonNegative | None


def summarise(rows: Sequence[Row]) -> dict[str, MethodFigures]:
    """Return the figures of the rows of each method, in the order in which methods come."""
    methods = dict.fromkeys(row.method for row in rows)
    return {
        method: _figures(method, [row for row in rows if row.method == method])
        for method in methods
    }


def _figures(method: str, rows: Sequence[Row]) -> MethodFigures:
    counts = Counter(row.status for row in rows)
    proven = [row for row in rows if row.is_proven]
    gaps = [row.gap for row in rows if row.gap is not None]
    times = [
        row.time_limit_s if row.status is RowStatus.ERROR else row.wall_time_s
        for row in rows
        if row.status is not RowStatus.NOT_APPLICABLE
    ]
    return MethodFigures(
        method=method,
        runs=len(rows),
        statuses={status: counts[status] for status in RowStatus},
        proven=len(proven),
        certified=sum(row.certificate not in {"", "search"} for row in proven),
        refuted=sum(row.verified == "no" for row in rows),
        mean_gap=statistics.fmean(gaps) if gaps else None,
        max_time_s=max(times, default=None),
        mean_time_s=statistics.geometric_mean(time + SHIFT_S for time in times) - SHIFT_S
        if times
        else None,
    )


class PublishedBounds(Record):
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


class JudgedInstance(DocumentPart):
    """The result of a method, beside what was published about its instance.

    Parameters
    ----------
    instance, method
        Their names.
    lower, upper
        What was published; None if nothing was.
    verdict
        How the result stands to that.
    row
        The result itself, which documents do not have.
    """

    UNWRITTEN = ("row",)

    instance: str
    method: str
    lower: Natural | None
    upper: Natural | None
    verdict: Verdict
    row: Row


def judged(
    rows: Iterable[Row], published: Mapping[str, PublishedBounds]
) -> tuple[JudgedInstance, ...]:
    """Return the verdicts on the rows about whose instances something was published."""
    return tuple(
        JudgedInstance(
            instance=row.instance,
            method=row.method,
            lower=bounds.lower,
            upper=bounds.upper,
            verdict=verdict_on(row, bounds),
            row=row,
        )
        for row in rows
        if (bounds := published.get(row.instance)) is not None
    )


def verdict_counts(verdicts: Iterable[JudgedInstance]) -> dict[Verdict, int]:
    """Return how often each verdict was given."""
    counts = Counter(item.verdict for item in verdicts)
    return {verdict: counts[verdict] for verdict in Verdict}


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
    published: dict[str, PublishedBounds] = {}
    with naming(path):
        table = read_csv_table(path, "instance,lower,upper")
        columns = map(table.column, ("instance", "lower", "upper"))
        for line, name, least, most in zip(table.lines, *columns, strict=True):
            with placed(f"line {line}"):
                lower, upper = _bound(least, "lower"), _bound(most, "upper")
                if lower is None and upper is None:
                    raise FileError("has neither lower nor upper; give one or remove the line")
                if lower is not None and upper is not None and lower > upper:
                    raise FileError(f"lower {lower} is more than upper {upper}; correct one")
                if name in published:
                    raise FileError(f"{described(name)} is there twice; remove one")
                published[name] = PublishedBounds(lower=lower, upper=upper)
    return published


def _bound(text: str, column: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 19):  # noqa: PLR2004 - up to 2^62
        raise FileError(f"{column} is {described(text)}, no integer of at least 0; correct it")
    return int(text)


class UsedSettings(DocumentPart):
    """How every instance was solved; see :class:`Settings`.

    Parameters
    ----------
    method, seed, workers
        As ``dfopt solve`` takes them.
    time_limit_s, gap_limit
        When a search ended without its proof: after how many seconds, and at which gap if at any.
    """

    method: str
    seed: Natural
    time_limit_s: NonNegative
    gap_limit: Share | None
    workers: Positive


class Verdicts(DocumentPart):
    """What became of published bounds.

    Parameters
    ----------
    verdicts
        How many results have each verdict.
    instances
        The results.
    """

    verdicts: Annotated[dict[Verdict, Natural], each_of(Verdict)]
    instances: tuple[JudgedInstance, ...]


class BenchSummary(DocumentPart):
    """What a benchmark found.

    Parameters
    ----------
    csv
        The file that holds the rows.
    settings
        How every instance was solved, an entry for each method.
    runs
        Instances of the set times methods.
    finished, resumed
        How many of them have their row, and how many of those had it before this run.
    methods
        The figures of each method.
    profiles
        The performance profile of each method; only where there are several.
    published
        What became of published bounds; only where some were given.
    """

    csv: str
    settings: tuple[UsedSettings, ...]
    runs: Positive
    finished: Natural
    resumed: Natural
    methods: tuple[MethodFigures, ...]
    profiles: tuple[MethodProfile, ...] | None = None
    published: Verdicts | None = None


BENCH_SUMMARY = DocumentType(Format.BENCH_SUMMARY, BenchSummary)


def bench_summary(
    report: Report,
    settings: Sequence[Settings],
    csv: str,
    published: Mapping[str, PublishedBounds] | None = None,
) -> BenchSummary:
    """Return what a benchmark found, also beside what was published, if something was."""
    found = judged(report.rows, published or {})
    verdicts = Verdicts(verdicts=verdict_counts(found), instances=found)
    profiles = method_profiles(performance_ratios(report.rows))
    return BenchSummary(
        csv=csv,
        settings=tuple(UsedSettings(**asdict(each)) for each in settings),
        runs=report.total,
        finished=len(report.rows),
        resumed=report.resumed,
        methods=tuple(summarise(report.rows).values()),
        profiles=profiles if len(profiles) > 1 else None,
        published=None if published is None else verdicts,
    )


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
            *(item.instance, item.method, published_interval(item), row_interval(item.row)),
            *(item.row.wall_time_s, item.row.certificate or None, item.verdict),
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


def published_interval(published: JudgedInstance) -> str:
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
