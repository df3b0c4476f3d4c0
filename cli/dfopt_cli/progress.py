"""The live line of a long command on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ParamSpec

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from dfopt.problem.result import Progress, relative_gap
from dfopt_cli.printing import printable

if TYPE_CHECKING:
    from dfopt.compare.attainable.frontier import FrontierProgress
    from dfopt.compare.window_length import CompareProgress

Parameters = ParamSpec("Parameters")

REFRESHES_PER_SECOND = 8


@dataclass
class LiveLine:
    """Seconds since the start, how far the work is, and a hint if there is room for it."""

    status: Text
    hint: str
    began: float = field(default_factory=time.monotonic)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the line as it is now."""
        text = Text(f"{time.monotonic() - self.began:7.1f} s  ").append_text(self.status)
        hint = f"  {self.hint}"
        if text.cell_len + len(hint) < options.max_width:
            text.append(hint, style="dim")
        yield text


def shows_progress(*, quiet: bool) -> bool:
    """Return whether to show a live line: standard error is a terminal, and not ``quiet``."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


def stderr_console() -> Console:
    """Return the console on which live lines are drawn."""
    return Console(stderr=True, highlight=False)


@contextmanager
def live_line(
    describe: Callable[Parameters, Text],
    *,
    quiet: bool,
    beginning: str = "",
    hint: str = "Ctrl-C stops",
) -> Iterator[Callable[Parameters, None] | None]:
    """Show a live line on standard error while the block runs.

    Yields a function that changes the line: it takes the arguments of ``describe``, and shows the
    text that this returns. Where nobody would see a line, it yields None.
    """
    if not shows_progress(quiet=quiet):
        yield None
        return
    line = LiveLine(Text(beginning), hint)

    def show(*values: Parameters.args, **named: Parameters.kwargs) -> None:
        line.status = describe(*values, **named)

    with Live(
        Spinner("dots", text=line),
        console=stderr_console(),
        refresh_per_second=REFRESHES_PER_SECOND,
        transient=True,
    ):
        yield show


def search_status(progress: Progress) -> Text:
    """Say what a search has found and proven so far, and what it is doing."""
    objective, bound = progress.objective, progress.lower_bound
    text = Text(f"bound {bound}")
    gap = relative_gap(objective, bound)
    if objective is not None and gap is not None:
        text.append(f"  best {objective}", style="bold")
        text.append(f"  gap {gap:.1%}")
    if progress.phase:
        text.append(f"  {progress.phase}", style="italic")
    return text


def comparison_status(name: str, progress: CompareProgress | FrontierProgress | None) -> Text:
    """Say how much of a comparison is done; None while the trace is read."""
    from dfopt.compare.window_length import CompareProgress

    text = Text()
    if name:
        text.append(f"{printable(name)}  ", style="bold")
    if progress is None:
        return text.append("reading")
    if isinstance(progress, CompareProgress):
        said = f"{progress.done:,} of {progress.total:,} windows, at work on {progress.window}"
    else:
        said = f"{progress.done:,} of {progress.total:,} schedules and bounds"
        if progress.at_work is not None:
            said += f", at work on: {printable(progress.at_work)}"
    return text.append(said)


def replication_status(done: int, total: int) -> Text:
    """Say how many replications of a simulation are done."""
    return Text(f"replications: {done:,} of {total:,}")
