"""``dfopt solve``: the schedule of least penalty, with a proof."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dfopt_cli.common import (
    InstanceArgument,
    JsonOption,
    QuietOption,
    naming,
    print_json,
    print_rich,
    refuse_overwriting,
    shows_progress,
)

if TYPE_CHECKING:
    from dfopt.problem.result import Result
    from dfopt.problem.stop import StoppingCriterion
    from dfopt_cli.progress import LiveLine

INFEASIBLE = 3
NOT_PROVEN = 4

Method = Literal["auto", "exhaustive", "dp", "cp-sat", "configuration"]


def solve(
    instance: InstanceArgument,
    *,
    method: Annotated[
        Method, typer.Option(help="How to solve it; auto chooses what fits the instance.")
    ] = "auto",
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Stop after so long, with the best so far.",
            show_default=False,
        ),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="GAP",
            show_default=False,
            help="Stop when (objective - bound) / objective is at most this.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of threads; by default one a processor.", show_default=False
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="RESULT",
            help="Write the result there, as JSON.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find the schedule of least switch penalty, and prove it.

    Ctrl-C (or SIGTERM) ends the search with the best schedule and bound so far. Exit code 0:
    proven, or the gap that was asked for is reached; 3: infeasible; 4: a limit or Ctrl-C came
    first.

    Example: dfopt solve instance.json --time-limit 60 -o result.json
    """
    from dfopt.files import check_writable, read_instance, result_to_document, write_result
    from dfopt.solvers import solve as run
    from dfopt_cli.summary import result_tables

    with naming(instance):
        subject = read_instance(instance)
        if output is not None:
            refuse_overwriting(output, instance)
            check_writable(Path(output))
        with termination_as_interrupt(), progress_of(quiet=quiet) as line:
            result = run(
                subject,
                method=method,
                stop=criterion(time_limit, gap),
                seed=seed,
                workers=workers,
                on_progress=line.show if line is not None else None,
            )
    if output is not None:
        write_result(result, Path(output))
    if as_json:
        print_json(result_to_document(result))
    else:
        print_rich(*result_tables(subject, result))
    raise typer.Exit(exit_code(result))


def criterion(time_limit: float | None, gap: float | None) -> StoppingCriterion:
    """Return what ends the search before the proof."""
    from dfopt.problem.stop import FirstOf, GapLimit, TimeLimit

    limits: list[StoppingCriterion] = []
    if time_limit is not None:
        limits.append(TimeLimit(time_limit))
    if gap is not None:
        limits.append(GapLimit(gap))
    return FirstOf(*limits)


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM, which batch systems and ``timeout`` send, end a search as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def progress_of(*, quiet: bool) -> AbstractContextManager[LiveLine | None]:
    """Return the live line, or nothing where nobody would see it."""
    if not shows_progress(quiet):
        return nullcontext()
    from dfopt_cli.progress import LiveLine

    return LiveLine()


def exit_code(result: Result) -> int:
    """Return what the result means to a calling program."""
    from dfopt.problem.result import Status, StopReason

    if result.status is Status.INFEASIBLE:
        return INFEASIBLE
    done = result.stop_reason in (StopReason.PROOF, StopReason.GAP_LIMIT)
    return 0 if done else NOT_PROVEN
