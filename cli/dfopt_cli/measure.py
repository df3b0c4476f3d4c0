"""``dfopt measure``: parameters of the machine at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dfopt.files import write_text
from dfopt.table import Table, columns
from dfopt_cli.exit_codes import NOT_PROVEN
from dfopt_cli.failures import usage
from dfopt_cli.measure_penalties import penalties
from dfopt_cli.measure_runs import LEAST_RUNS, finished_runs
from dfopt_cli.options import JsonOption, QuietOption
from dfopt_cli.output_files import check_output
from dfopt_cli.printing import print_json, print_tables, say

if TYPE_CHECKING:
    from dfopt_models.measure import MachineRun

app = typer.Typer(no_args_is_help=True)

PICOSECONDS = 1e3
"""In a nanosecond."""


@app.command("machine")
def machine(
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the costs there.", show_default=False
        ),
    ] = None,
    lines: Annotated[
        int, typer.Option(min=64, metavar="N", help="Lines that are read and sent away.")
    ] = 4096,
    passes: Annotated[
        int, typer.Option(min=3, metavar="N", help="Passes that must count for each figure.")
    ] = 25,
    runs: Annotated[
        int,
        typer.Option(min=LEAST_RUNS, metavar="N", help="Runs, each with lines at other addresses."),
    ] = 3,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="Whose time is the machine's read_line: L3, memory, moved, or 'written by the "
            "other CPU'; by default moved where there are two CPUs, or else memory.",
            show_default=False,
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LEVEL",
            help="A level that is not measured; may be given several times.",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        str, typer.Option(metavar="random|sequential", help="And in which order of the lines.")
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
    import tomli_w

    from dfopt_models.measure.machine import levels_left, measure_run
    from dfopt_models.measure.machine_document import machine_document
    from dfopt_models.measure.memory import AccessOrder
    from dfopt_models.measure.this_machine import ThisMachine, conditions

    if order not in list(AccessOrder):
        raise typer.BadParameter(
            f"{order!r} is none of {', '.join(AccessOrder)}", param_hint="--order"
        )
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
                raise typer.BadParameter(
                    f"the cache has {cache_lines:,} lines; take fewer", param_hint="--lines"
                )
            left = usage(lambda: levels_left(memory, leave_out or ()), "--leave-out")
            if level is not None and level not in left:
                raise typer.BadParameter(
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
    if output is not None:
        write_text(output, tomli_w.dumps(document))
    if as_json:
        print_json(document)
    else:
        print_tables([machine_table(document)])
    if not are_all:
        raise typer.Exit(NOT_PROVEN)


def machine_table(document: dict[str, Any]) -> Table:
    """Return what runs measured, a row for each level and order."""
    rows = []
    for row in document["x-read"]:
        low, high = (f"{quartile / PICOSECONDS:.2f}" for quartile in row["quartiles"])
        shown = ", ".join(f"{run / PICOSECONDS:.2f}" for run in row["medians_of_runs"])
        middle = row["median"] / PICOSECONDS
        rows.append((row["level"], row["order"], middle, f"{low} to {high}", shown))
    headings = columns("level", "order", "ns a line :.2f", "quartiles", "runs")
    return Table("", headings, rows)


app.command("penalties")(penalties)
