"""``dfopt measure``: parameters of the machine at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from rich.text import Text
from typer import BadParameter, Exit, Option

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

OutputOption = Annotated[
    str | None,
    Option("--output", "-o", metavar="FILE", help="Write what is measured there."),
]
RunsOption = Annotated[
    int,
    Option(min=LEAST_RUNS, metavar="N", help="Runs, each with data at other addresses."),
]


def machine(
    *,
    output: OutputOption = None,
    lines: Annotated[
        int, Option(min=64, metavar="N", help="Lines that are read and sent away.")
    ] = 4096,
    passes: Annotated[
        int, Option(min=3, metavar="N", help="Passes that must count for each figure.")
    ] = 25,
    runs: RunsOption = 3,
    level: Annotated[
        str | None,
        Option(
            metavar="LEVEL",
            help="Whose time is the machine's read_line: L3, memory, moved, or 'written by the "
            "other CPU'; by default moved where there are two CPUs, or else memory.",
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        Option(
            metavar="LEVEL",
            help="A level that is not measured; may be given several times.",
        ),
    ] = None,
    order: Annotated[
        Literal["random", "sequential"],
        Option(metavar="random|sequential", help="And in which order of the lines."),
    ] = "random",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure what it costs to read lines and to write them back.

    By where the lines are (in the next cache, in memory, on the other CPU) and by the order in
    which they are read. No privileges are needed. A figure that cannot be trusted is an error:
    where more than half of the passes were interrupted, or a flush did not flush. Ctrl-C keeps
    the runs that have ended, if there are at least two.

    Example: dfopt measure machine -o machine.toml
    """
    from dfopt_models.measure.machine import (
        AccessOrder,
        levels_left,
        machine_document,
        machine_table,
        measure_run,
    )
    from dfopt_models.measure.this_machine import ThisMachine, conditions

    if output is not None:
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
        if not quiet:
            say(f"dfopt: run {number + 1} of {runs}: {run.rejected:.0%} of the passes rejected")
        return run

    found, are_all = finished_runs(runs, once, quiet=quiet)
    document = machine_document(
        found, lines=cache_lines, level=level, order=AccessOrder(order), conditions=known
    )
    write_and_print(document, machine_table(document), output, as_json=as_json, are_all=are_all)


def penalties(
    *,
    output: OutputOption = None,
    program: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=COMMAND",
            help="A program that ends by itself, and the name of its job; may be given several "
            "times. Its output is dropped.",
        ),
    ] = None,
    kernel: Annotated[
        list[str] | None,
        Option(
            metavar="chase|product|stream|nothing",
            help="A built-in job; may be given several times. By default, and without a program, "
            "the first three.",
        ),
    ] = None,
    other: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="The job that runs in between for P^A; may be given several times. By default "
            "stream, or all programs.",
        ),
    ] = None,
    quantum: Annotated[
        list[float] | None,
        Option(
            "--quantum",
            metavar="SECONDS",
            help="How long a job runs before; may be given several times. By default 0.002, 0.005 "
            "and 0.02 for kernels, and 0.025 for programs.",
        ),
    ] = None,
    without_affinity: Annotated[
        str | None,
        Option(
            metavar="moved|LEVEL",
            help="What P^NA is: a move to the other CPU, or a flush to L3 or memory. By default a "
            "move where there are two CPUs, or else memory.",
        ),
    ] = None,
    slices: Annotated[
        int, Option(min=5, metavar="N", help="Slices of kernels that must count.")
    ] = 25,
    runs: RunsOption = 3,
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
    document = measured_document(
        [penalties_of_run for penalties_of_run, _ in finished],
        switch_times=[time for _, time in finished],
        conditions=before,
    )
    write_and_print(document, penalties_table(document), output, as_json=as_json, are_all=are_all)


def named_command(given: str) -> tuple[str, str]:
    """Return the job and the command in ``NAME=COMMAND``."""
    name, _, command = given.partition("=")
    if not name or not command:
        raise BadParameter(f"{given!r} must be NAME=COMMAND", param_hint="--program")
    return name, command


def write_and_print(
    document: dict[str, Any], table: Table, output: str | None, *, as_json: bool, are_all: bool
) -> None:
    """Write and print what was measured."""
    if output is not None:
        import tomli_w

        write_text(output, tomli_w.dumps(document))
    if as_json:
        print_json(document)
    else:
        print_tables([table])
    if not are_all:
        raise Exit(NOT_PROVEN)


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
            raise Exit(INTERRUPTED) from None
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
