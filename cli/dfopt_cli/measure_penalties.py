"""``dfopt measure penalties``: what a reallocation costs a job's cache, on the machine at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dfopt.files import write_text
from dfopt.table import Table, columns
from dfopt_cli.exit_codes import NOT_PROVEN
from dfopt_cli.failures import usage
from dfopt_cli.measure_runs import LEAST_RUNS, finished_runs
from dfopt_cli.options import JsonOption, QuietOption
from dfopt_cli.output_files import check_output
from dfopt_cli.printing import print_json, print_tables, say

if TYPE_CHECKING:
    from dfopt_models.measure.penalty_runs import PenaltyOfRun


MICROSECONDS = 1e6
"""In a second."""


def penalties(
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the penalties there.", show_default=False
        ),
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COMMAND",
            help="A program that ends by itself, and the name of its job; may be given several "
            "times. Its output is dropped.",
            show_default=False,
        ),
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="chase|product|stream|nothing",
            help="A built-in job; may be given several times. By default, and without a program, "
            "the first three.",
            show_default=False,
        ),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="The job that runs in between for P^A; may be given several times. By default "
            "stream, or all programs.",
            show_default=False,
        ),
    ] = None,
    quantum: Annotated[
        list[float] | None,
        typer.Option(
            "--quantum",
            metavar="SECONDS",
            help="How long a job runs before; may be given several times. By default 0.002, 0.005 "
            "and 0.02 for kernels, and 0.025 for programs.",
            show_default=False,
        ),
    ] = None,
    without_affinity: Annotated[
        str | None,
        typer.Option(
            metavar="moved|LEVEL",
            help="What P^NA is: a move to the other CPU, or a flush to L3 or memory. By default a "
            "move where there are two CPUs, or else memory.",
            show_default=False,
        ),
    ] = None,
    slices: Annotated[
        int, typer.Option(min=5, metavar="N", help="Slices of kernels that must count.")
    ] = 25,
    runs: Annotated[
        int,
        typer.Option(min=LEAST_RUNS, metavar="N", help="Runs, each with data at other addresses."),
    ] = 3,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure what a reallocation costs a job's cache.

    The job runs in slices of Q on one CPU. What a slice takes longer after the job has moved (or
    its cache was flushed) is P^NA. What it takes longer after another job ran for Q is P^A. No
    privileges are needed. A figure that cannot be trusted is an error: where the flush did not
    flush, more than half of the slices were interrupted, or the runs differ too much. Ctrl-C keeps
    the runs that have ended, if there are at least two.

    Example: dfopt measure penalties --kernel chase --quantum 0.005 -o penalties.toml
    """
    from dfopt_models.measure.measured_penalties import (
        extras_of_runs,
        penalties_of_runs,
        rejected_share,
    )
    from dfopt_models.measure.penalties import penalties_document
    from dfopt_models.measure.penalty_runs import PenaltyPlan, run_here
    from dfopt_models.measure.this_machine import conditions

    commands = dict(named_command(given) for given in program or ())
    plan = usage(
        lambda: PenaltyPlan(
            commands=commands,
            kernels=kernel or (),
            others=other or (),
            quanta=quantum or (),
            without_affinity=without_affinity,
            slices=slices,
        )
    )
    if output is not None:
        check_output(output)
    before = conditions()

    def once(number: int, show: Callable[[str], None] | None) -> tuple[list[PenaltyOfRun], float]:
        run = run_here(plan, seed=number, progress=show)
        if not quiet:
            share = rejected_share(run[0])
            say(f"dfopt: run {number + 1} of {runs}: {share:.0%} of the slices rejected")
        return run

    finished, are_all = finished_runs(runs, once, quiet=quiet)
    found = [penalties_of_run for penalties_of_run, _ in finished]
    times = [time for _, time in finished]
    measured = penalties_of_runs(found, switch_times=times)
    document = penalties_document(
        measured, beside=extras_of_runs(found, switch_times=times, conditions=before)
    )
    if output is not None:
        import tomli_w

        write_text(output, tomli_w.dumps(document))
    if as_json:
        print_json(document)
    else:
        print_tables([penalties_table(document)])
    if not are_all:
        raise typer.Exit(NOT_PROVEN)


def named_command(given: str) -> tuple[str, str]:
    """Return the job and the command in ``NAME=COMMAND``."""
    name, _, command = given.partition("=")
    if not name or not command:
        raise typer.BadParameter(f"{given!r} must be NAME=COMMAND", param_hint="--program")
    return name, command


def penalties_table(document: dict[str, Any]) -> Table:
    """Return what was measured, a row for each job, quantum and thing that happened between."""
    rows = [
        (
            *(row["job"], row["between"], row["quantum"], row["penalty"] * MICROSECONDS),
            ", ".join(f"{run * MICROSECONDS:.1f}" for run in row["penalties_of_runs"]),
            row["rejected"] / (row["rejected"] + row["slices"]),
        )
        for row in document["x-measured"]
    ]
    headings = columns(
        *("job", "between", "quantum [s] :time", "penalty [µs] :.1f", "runs [µs]", "rejected :.0%")
    )
    return Table("", headings, rows)
