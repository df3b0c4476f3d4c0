"""Runs of a measurement, with progress, and what Ctrl-C leaves of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import typer
from rich.text import Text

from dfopt.render import printable
from dfopt_cli.exit_codes import INTERRUPTED
from dfopt_cli.printing import say
from dfopt_cli.progress import live_line

Run = TypeVar("Run")

LEAST_RUNS = 2
"""At least this many runs, or nothing is known of the spread between them."""


def finished_runs(
    runs: int, measure: Callable[[int, Callable[[str], None] | None], Run], *, quiet: bool
) -> tuple[list[Run], bool]:
    """Return the runs that ended, and whether they are all.

    Ctrl-C ends the run at work. The runs before it are kept, if there are at least two.

    Parameters
    ----------
    runs
        How many to measure.
    measure
        Measures a run. It is given the run's number, and a function that shows what is at work.
    quiet
        Whether to show no progress.
    """
    found: list[Run] = []
    try:
        with live_line(run_status, quiet=quiet, hint="Ctrl-C keeps finished runs") as show:
            for number in range(runs):
                found.append(measure(number, reporter(show, number, runs)))
    except KeyboardInterrupt:
        if len(found) < LEAST_RUNS:
            say(
                f"dfopt: stopped after {len(found)} of {runs} runs; {LEAST_RUNS} are needed, "
                "so nothing is written"
            )
            raise typer.Exit(INTERRUPTED) from None
        say(f"dfopt: stopped after {len(found)} of {runs} runs, which are kept")
    return found, len(found) == runs


def reporter(
    show: Callable[[int, int, str], None] | None, number: int, runs: int
) -> Callable[[str], None] | None:
    """Return a function that shows what a run is at work on; None where nobody would see it."""
    return None if show is None else lambda at_work: show(number, runs, at_work)


def run_status(number: int, runs: int, at_work: str) -> Text:
    """Say what a measurement is at work on."""
    return Text(f"run {number + 1} of {runs}: {printable(at_work)}")
