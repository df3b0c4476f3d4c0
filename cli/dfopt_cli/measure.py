"""``dfopt measure``: parameters of the machine at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from msgspec import Meta
from rich.text import Text
from typer import BadParameter, Exit

from dfopt.files import write_text
from dfopt.render import printable
from dfopt.table import Table
from dfopt_cli.exit_codes import INTERRUPTED, NOT_PROVEN
from dfopt_cli.failures import usage
from dfopt_cli.options import JsonOption, QuietOption
from dfopt_cli.printing import check_output, print_json, print_tables, say
from dfopt_cli.progress import live_line

if TYPE_CHECKING:
    from dfopt_models.measure import MachineRun
    from dfopt_models.measure.penalty_runs import PenaltyOfRun

Run = TypeVar("Run")

LEAST_RUNS = 2
"""At least this many runs, or nothing is known of the spread between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options about runs, and about what is shown of them.

    Options
    -------
    runs : N
        Runs, each with data at other addresses.
    """

    runs: Annotated[int, Meta(ge=LEAST_RUNS)] = 3
    as_json: JsonOption = False
    quiet: QuietOption = False


def machine(
    *,
    output: str | None = None,
    lines: Annotated[int, Meta(ge=64)] = 4096,
    passes: Annotated[int, Meta(ge=3)] = 25,
    level: str | None = None,
    leave_out: list[str] | None = None,
    order: Literal["random", "sequential"] = "random",
    runs: RunOptions,
) -> None:
    """Measure what it costs to read lines and to write them back.

    By where the lines are (in the next cache, in memory, on the other CPU) and by the order in
    which they are read. No privileges are needed. A figure that cannot be trusted is an error:
    where more than half of the passes were interrupted, or a flush did not flush. Ctrl-C keeps
    the runs that have ended, if there are at least two.

    Example: dfopt measure machine -o machine.toml

    Options
    -------
    output : -o FILE
        Write what is measured there.
    lines : N
        Lines that are read and sent away.
    passes : N
        Passes that must count for each figure.
    level : LEVEL
        Whose time is the machine's read_line: L3, memory, moved, or 'written by the other CPU'; by
        default moved where there are two CPUs, or else memory.
    leave_out : LEVEL
        A level that is not measured; may be given several times.
    order : random|sequential
        And in which order of the lines.
    """
    from dfopt_models.measure.machine import (
        AccessOrder,
        levels_left,
        machine_document,
        machine_table,
        measure_run,
    )
    from dfopt_models.measure.this_machine import ThisMachine, conditions

    check_output(output)
    known = conditions()
    cache_lines = 0

    def once(number: int, show: Callable[[str], None] | None) -> MachineRun:
        nonlocal cache_lines
        memory = ThisMachine(seed=number)
        try:
            cache_lines = memory.cache_lines
            if lines > cache_lines:
                raise BadParameter(
                    f"the cache has {cache_lines:,} lines; take fewer", param_hint="--lines"
                )
            left = usage(lambda: levels_left(memory, leave_out or ()), "--leave-out")
            if level is not None and level not in left:
                raise BadParameter(
                    f"{level!r} is not measured; there are {', '.join(left)}", param_hint="--level"
                )
            run = measure_run(
                memory,
                lines=lines,
                passes=passes,
                sizes=[2**power for power in range(6, 20, 2) if 2**power <= cache_lines],
                leave_out=leave_out or (),
                progress=show,
            )
        finally:
            memory.close()
        if not runs.quiet:
            say(
                f"dfopt: run {number + 1} of {runs.runs}: {run.rejected:.0%} of the passes rejected"
            )
        return run

    found, are_all = finished_runs(runs, once)
    document = machine_document(
        found, lines=cache_lines, level=level, order=AccessOrder(order), conditions=known
    )
    write_and_print(document, machine_table(document), output, runs, are_all=are_all)


def penalties(
    *,
    output: str | None = None,
    program: list[str] | None = None,
    kernel: list[str] | None = None,
    other: list[str] | None = None,
    quantum: list[float] | None = None,
    without_affinity: str | None = None,
    slices: Annotated[int, Meta(ge=5)] = 25,
    runs: RunOptions,
) -> None:
    """Measure what a reallocation costs a job's cache.

    The job runs in slices of Q on one CPU. What a slice takes longer after the job has moved (or
    its cache was flushed) is P^NA. What it takes longer after another job ran for Q is P^A. No
    privileges are needed. A figure that cannot be trusted is an error: where the flush did not
    flush, more than half of the slices were interrupted, or the runs differ too much. Ctrl-C keeps
    the runs that have ended, if there are at least two.

    Example: dfopt measure penalties --kernel chase --quantum 0.005 -o penalties.toml

    Options
    -------
    output : -o FILE
        Write what is measured there.
    program : NAME=COMMAND
        A program that ends by itself, and the name of its job; may be given several times. Its
        output is dropped.
    kernel : chase|product|stream|nothing
        A built-in job; may be given several times. By default, and without a program, the first
        three.
    other : NAME
        The job that runs in between for P^A; may be given several times. By default stream, or all
        programs.
    quantum : SECONDS
        How long a job runs before; may be given several times. By default 0.002, 0.005 and 0.02 for
        kernels, and 0.025 for programs.
    without_affinity : moved|LEVEL
        What P^NA is: a move to the other CPU, or a flush to L3 or memory. By default a move where
        there are two CPUs, or else memory.
    slices : N
        Slices of kernels that must count.
    """
    from dfopt_models.measure.penalty_runs import (
        PenaltyPlan,
        measured_document,
        penalties_table,
        rejected_share,
        run_here,
    )
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
    check_output(output)
    before = conditions()

    def once(number: int, show: Callable[[str], None] | None) -> tuple[list[PenaltyOfRun], float]:
        run = run_here(plan, seed=number, progress=show)
        if not runs.quiet:
            share = rejected_share(run[0])
            say(f"dfopt: run {number + 1} of {runs.runs}: {share:.0%} of the slices rejected")
        return run

    finished, are_all = finished_runs(runs, once)
    document = measured_document(
        [penalties_of_run for penalties_of_run, _ in finished],
        switch_times=[time for _, time in finished],
        conditions=before,
    )
    write_and_print(document, penalties_table(document), output, runs, are_all=are_all)


def named_command(given: str) -> tuple[str, str]:
    """Return the job and the command in ``NAME=COMMAND``."""
    name, _, command = given.partition("=")
    if not name or not command:
        raise BadParameter(f"{given!r} must be NAME=COMMAND", param_hint="--program")
    return name, command


def write_and_print(
    document: dict[str, Any],
    table: Table,
    output: str | None,
    options: RunOptions,
    *,
    are_all: bool,
) -> None:
    """Write and print what was measured."""
    if output is not None:
        import tomli_w

        write_text(output, tomli_w.dumps(document))
    if options.as_json:
        print_json(document)
    else:
        print_tables([table])
    if not are_all:
        raise Exit(NOT_PROVEN)


def finished_runs(
    options: RunOptions, measure: Callable[[int, Callable[[str], None] | None], Run]
) -> tuple[list[Run], bool]:
    """Return the runs that ended, and whether they are all.

    Ctrl-C ends the run at work. The runs before it are kept, if there are at least two.

    Parameters
    ----------
    options
        How many to measure, and whether to show progress.
    measure
        Measures a run. It is given the run's number, and a function that shows what is at work.
    """
    found: list[Run] = []
    runs = options.runs
    try:
        with live_line(run_status, quiet=options.quiet, hint="Ctrl-C keeps finished runs") as show:
            for number in range(runs):
                found.append(measure(number, show and partial(show, number, runs)))
    except KeyboardInterrupt:
        if len(found) < LEAST_RUNS:
            say(
                f"dfopt: stopped after {len(found)} of {runs} runs; {LEAST_RUNS} are needed, "
                "so nothing is written"
            )
            raise Exit(INTERRUPTED) from None
        say(f"dfopt: stopped after {len(found)} of {runs} runs, which are kept")
    return found, len(found) == runs


def run_status(number: int, runs: int, at_work: str) -> Text:
    """Say what a measurement is at work on."""
    return Text(f"run {number + 1} of {runs}: {printable(at_work)}")
