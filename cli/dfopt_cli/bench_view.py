"""A bar that is shown while a benchmark runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from dfopt.bench import RunProgress
from dfopt.render import printable
from dfopt_cli.progress import shows_progress, stderr_console


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
        "left",
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
