"""The view of a benchmark: a bar while it runs, a table of figures at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column, Table
from rich.text import Text

from dfopt.bench import (
    FamilyFigures,
    PublishedBounds,
    Report,
    Row,
    RowStatus,
    RunProgress,
    Settings,
    judged,
    summarise,
)
from dfopt.bench.published import verdict_counts
from dfopt_cli.printing import printable
from dfopt_cli.progress import shows_progress, stderr_console
from dfopt_cli.tables import plain_table

COUNTS = ("instances", "proven", "certified")
GAPS = ("mean\ngap", "max\ngap")
TIMES = ("median\ntime", "max\ntime", "mean\ntime")


class TimeLeft(ProgressColumn):
    """The time that is left, if the other instances take as long as those that are done."""

    def render(self, task: Task) -> Text:
        """Return the time that is left, at the pace so far."""
        done = task.completed - task.fields["resumed"]
        if not done or task.total is None or task.elapsed is None:
            return Text("-:--:-- left", style="cyan")
        seconds = task.elapsed / done * (task.total - task.completed)
        return Text(f"{timedelta(seconds=round(seconds))} left", style="cyan")


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
        TimeLeft(),
        TextColumn("{task.fields[at_work]}", markup=False, table_column=at_work),
    )
    with Progress(
        *columns,
        console=stderr_console(),
        get_time=clock,
        transient=True,
        expand=True,
    ) as bar:
        task = bar.add_task("", total=None, resumed=0, at_work="")

        def show(progress: RunProgress) -> None:
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                resumed=progress.resumed,
                at_work=", ".join(map(printable, progress.at_work)),
            )

        yield show


def summary_tables(report: Report, settings: Settings, csv: str) -> list[Table | Text]:
    """Return what a terminal shows of a run, from top to bottom."""
    summary = summarise(report.rows)
    table = plain_table()
    table.add_column("family", overflow="fold")
    for heading in (*COUNTS, *GAPS, *TIMES):
        table.add_column(heading, justify="right")
    for name, figures in summary.families.items():
        table.add_row(printable(name), *cells(figures))
    table.add_row("all", *cells(summary.all), style="bold")
    return [table, Text(""), *remarks(report, summary.all, settings, csv)]


def cells(figures: FamilyFigures) -> list[str]:
    """Return a line of the table without its first cell."""
    return [
        str(figures.instances),
        str(figures.proven),
        f"{figures.certified / figures.proven:.0%}" if figures.proven else "-",
        *(percent(gap) for gap in (figures.mean_gap, figures.max_gap)),
        *(
            seconds(time)
            for time in (figures.median_time_s, figures.max_time_s, figures.mean_time_s)
        ),
    ]


def percent(share: float | None) -> str:
    """Return a share as a cell."""
    return "-" if share is None else f"{share:.2%}"


def seconds(time: float | None) -> str:
    """Return a time as a cell."""
    return "-" if time is None else f"{time:.2f} s"


def remarks(report: Report, figures: FamilyFigures, settings: Settings, csv: str) -> Iterator[Text]:
    """Yield what is to say under the table."""
    for status, meaning in {
        RowStatus.NOT_APPLICABLE: "not applicable",
        RowStatus.ERROR: "ended in an error",
    }.items():
        if figures.statuses[status]:
            yield Text(f"{figures.statuses[status]} {meaning}; the column error says why")
    if figures.refuted:
        yield Text(f"{figures.refuted} refuted by the checker; the column error says why")
    limit = f"{settings.time_limit_s:g} s"
    workers = f"{settings.workers} worker{'s' if settings.workers > 1 else ''}"
    done = f"{len(report.rows)} of {report.total} instances"
    before = f" ({report.resumed} from before)" if report.resumed else ""
    yield Text(
        f"{done}{before}, method {settings.method}, limit {limit}, seed {settings.seed}, {workers}"
    )
    yield Text(f"rows in {printable(csv)}; mean is the geometric one, shifted by 1 s")


def published_tables(
    report: Report, published: Mapping[str, PublishedBounds]
) -> list[Table | Text]:
    """Return what a terminal shows of published bounds beside the rows."""
    verdicts = judged(report.rows, published)
    table = plain_table()
    table.add_column("instance", overflow="fold")
    for heading in ("published", "dfopt", "time"):
        table.add_column(heading, justify="right")
    for heading in ("proof", "verdict"):
        table.add_column(heading)
    for item in verdicts:
        table.add_row(
            printable(item.row.instance),
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
