"""The live line of a long command on a terminal, and plain lines where there is none."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, ParamSpec

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from dfopt.problem.result import Progress, relative_gap
from dfopt.render import printable
from dfopt_cli.printing import say

if TYPE_CHECKING:
    from dfopt.bench import RunProgress
    from dfopt.compare import CompareProgress

Parameters = ParamSpec("Parameters")

REFRESHES_PER_SECOND = 8

TELLER = "dfopt-progress"
"""The name of the thread that says plain lines."""

FIRST_LINE_S, SECONDS_A_LINE = 10.0, 30.0
"""Seconds until the first plain line, and between further ones."""


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
        text.no_wrap, text.overflow = True, "ellipsis"
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
    """Show a live line on standard error while the block runs; without a terminal, a line at times.

    Yields a function that changes the line: it takes the arguments of ``describe``, and shows the
    text that this returns. Where nobody would see a line, it yields None.
    """
    if quiet or sys.stderr is None:
        yield None
        return
    if not shows_progress(quiet=quiet):
        with plain_lines(describe, beginning) as show:
            yield show
        return
    line = LiveLine(Text(beginning), hint)

    def change(*values: Parameters.args, **named: Parameters.kwargs) -> None:
        line.status = describe(*values, **named)

    live = Live(
        Spinner("dots", text=line),
        console=stderr_console(),
        refresh_per_second=REFRESHES_PER_SECOND,
        transient=True,
    )
    with live:
        yield change


@contextmanager
def plain_lines(
    describe: Callable[Parameters, Text], beginning: str
) -> Iterator[Callable[Parameters, None]]:
    """Say on standard error how far the work is: after some seconds, and then now and again."""
    began, is_over = time.monotonic(), threading.Event()
    status = beginning

    def change(*values: Parameters.args, **named: Parameters.kwargs) -> None:
        nonlocal status
        status = describe(*values, **named).plain

    def tell() -> None:
        pause = FIRST_LINE_S
        while not is_over.wait(pause):
            said = status.replace("  ", ", ") or "at work"
            with suppress(OSError, ValueError):  # nobody reads it any more
                say(f"dfopt: {time.monotonic() - began:.0f} s: {said}")
            pause = SECONDS_A_LINE

    teller = threading.Thread(target=tell, name=TELLER, daemon=True)
    teller.start()
    try:
        yield change
    finally:
        is_over.set()
        teller.join()


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


def comparison_status(name: str, progress: CompareProgress | None) -> Text:
    """Say how much of a comparison is done; None while the trace is read."""
    text = Text()
    if name:
        text.append(f"{printable(name)}  ", style="bold")
    if progress is None:
        return text.append("reading")
    said = f"{progress.done:,} of {progress.total:,} {progress.parts}"
    if progress.at_work is not None:
        said += f", at work on: {printable(progress.at_work)}"
    return text.append(said)


def replication_status(done: int, total: int) -> Text:
    """Say how many replications of a simulation are done."""
    return Text(f"replications: {done:,} of {total:,}")


def bench_status(progress: RunProgress) -> Text:
    """Say how many runs of a benchmark are done, and what is at work."""
    said = f"{progress.done:,} of {progress.total:,} runs"
    if progress.left_s is not None:
        said += f", about {timedelta(seconds=round(progress.left_s))} left"
    if progress.at_work:
        said += f", at work on: {', '.join(map(printable, progress.at_work))}"
    return Text(said)
