"""The view of a benchmark: a bar while it runs, tables of what methods found at the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

from dfopt.bench import (
    MethodFigures,
    PublishedBounds,
    Report,
    Row,
    RowStatus,
    RunProgress,
    Settings,
    judged,
    summarise,
    verdict_counts,
)
from dfopt.render import printable
from dfopt_cli.progress import shows_progress, stderr_console
from dfopt_cli.tables import plain_table

HEADINGS = (
    "runs",
    "not\napplicable",
    "proven",
    "certified",
    "mean\ngap",
    "max\ntime",
    "mean\ntime",
)


@contextmanager
def progress_bar(
    *, quiet: bool, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[RunProgress], None] | None]:
    """Show a bar on standard error while the block runs, and yield the function that moves it.

    Where nobody would see a bar, none is shown, and None takes the place of the function.
    """
    if not shows_progress(quiet=quiet):
        yield None
        return
    at_work = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    columns = (
        MofNCompleteColumn(),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[at_work]}", markup=False, table_column=at_work),
    )
    with Progress(
        *columns,
        console=stderr_console(),
        get_time=clock,
        speed_estimate_period=math.inf,
        transient=True,
        expand=True,
    ) as bar:
        task = bar.add_task("", total=None, at_work="")

        def show(progress: RunProgress) -> None:
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                at_work=", ".join(map(printable, progress.at_work)),
            )

        yield show


def summary_tables(report: Report, settings: Sequence[Settings], csv: str) -> list[Table | Text]:
    """Return what a terminal shows of a run, from top to bottom."""
    table = plain_table()
    table.add_column("method", overflow="fold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for method, figures in summarise(report.rows).items():
        table.add_row(method, *cells(figures))
    compared: list[Table | Text] = []
    if len(settings) > 1:
        compared = [methods_table(report), Text("")]
    return [*compared, table, Text(""), *remarks(report, settings[0], csv)]


def methods_table(report: Report) -> Table:
    """Return bound, objective and time of each instance under each method."""
    methods = dict.fromkeys(row.method for row in report.rows)
    table = plain_table()
    table.add_column("instance", overflow="fold")
    for method in methods:
        table.add_column(method, justify="right")
    rows = {(row.sha256, row.method): row for row in report.rows}
    for sha256, name in {row.sha256: row.instance for row in report.rows}.items():
        each = (rows.get((sha256, method)) for method in methods)
        table.add_row(printable(name), *(method_cell(row) for row in each))
    return table


def method_cell(row: Row | None) -> str:
    """Return what a method found and how long it took, as a cell."""
    if row is None or row.status in {RowStatus.NOT_APPLICABLE, RowStatus.ERROR}:
        return "-" if row is None else str(row.status).replace("-", " ")
    return f"{row_interval(row)}  {seconds(row.wall_time_s)}"


def cells(figures: MethodFigures) -> list[str]:
    """Return a line of the table without its first cell."""
    return [
        str(figures.runs),
        str(figures.statuses[RowStatus.NOT_APPLICABLE]),
        str(figures.proven),
        f"{figures.certified / figures.proven:.0%}" if figures.proven else "-",
        percent(figures.mean_gap),
        seconds(figures.max_time_s),
        seconds(figures.mean_time_s),
    ]


def percent(share: float | None) -> str:
    """Return a share as a cell."""
    return "-" if share is None else f"{share:.2%}"


def seconds(time: float | None) -> str:
    """Return a time as a cell."""
    return "-" if time is None else f"{time:.2f} s"


def remarks(report: Report, settings: Settings, csv: str) -> Iterator[Text]:
    """Yield what is to say under the table."""
    for count, meaning in (
        (sum(row.status is RowStatus.ERROR for row in report.rows), "ended in an error"),
        (sum(row.verified == "no" for row in report.rows), "refuted by the checker"),
    ):
        if count:
            yield Text(f"{count} {meaning}; the column error says why")
    limit = f"{settings.time_limit_s:g} s"
    workers = f"{settings.workers} worker{'s' if settings.workers > 1 else ''}"
    before = f" ({report.resumed} from before)" if report.resumed else ""
    done = f"{len(report.rows)} of {report.total} runs done{before}"
    yield Text(f"{done}, limit {limit}, seed {settings.seed}, {workers}")
    yield Text(f"rows in {printable(csv)}; mean is the geometric one, shifted by 1 s")


def published_tables(
    report: Report, published: Mapping[str, PublishedBounds]
) -> list[Table | Text]:
    """Return what a terminal shows of published bounds beside the rows."""
    verdicts = judged(report.rows, published)
    table = plain_table()
    table.add_column("instance", overflow="fold")
    table.add_column("method")
    for heading in ("published", "dfopt", "time"):
        table.add_column(heading, justify="right")
    for heading in ("proof", "verdict"):
        table.add_column(heading)
    for item in verdicts:
        table.add_row(
            printable(item.row.instance),
            item.row.method,
            published_interval(item.published),
            row_interval(item.row),
            seconds(item.row.wall_time_s),
            item.row.certificate or "-",
            str(item.verdict),
        )
    counts = ", ".join(
        f"{count} {verdict}" for verdict, count in verdict_counts(verdicts).items() if count
    )
    others = len(report.rows) - len(verdicts)
    unpublished = f"; nothing published about {others} of {len(report.rows)}" if others else ""
    return [table, Text(""), Text(f"{counts or 'no verdict'}{unpublished}"), Text("")]


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
