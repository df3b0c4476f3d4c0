"""``dfopt measure``: parameters of the machine at hand."""

from __future__ import annotations

from typing import Annotated

import typer

from dfopt.files import write_text
from dfopt_cli.failures import usage
from dfopt_cli.options import OutputOption
from dfopt_cli.output_files import check_output
from dfopt_cli.printing import print_rich, say
from dfopt_cli.tables import plain_table

app = typer.Typer(no_args_is_help=True)


@app.callback()
def measure() -> None:
    """Let the commands be sub-commands, also while there is one alone."""


@app.command("machine")
def machine(
    *,
    output: OutputOption,
    lines: Annotated[
        int, typer.Option(min=64, metavar="N", help="Lines that are read and sent away.")
    ] = 4096,
    passes: Annotated[
        int, typer.Option(min=3, metavar="N", help="Passes that must count for each figure.")
    ] = 25,
    runs: Annotated[
        int, typer.Option(min=2, metavar="N", help="Runs, each with lines at other addresses.")
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
    order: Annotated[
        str, typer.Option(metavar="random|sequential", help="And in which order of the lines.")
    ] = "random",
) -> None:
    """Measure what it costs on this machine to read lines and to write them back.

    By where the lines are (in the next cache, in memory, on the other CPU) and by the order in
    which they are read. No privileges are needed. A figure that cannot be trusted is an error:
    where more than half of the passes were interrupted, or a flush did not flush.

    Example: dfopt measure machine -o machine.toml
    """
    from dfopt_models.measure.machine import measure_run
    from dfopt_models.measure.machine_document import machine_text
    from dfopt_models.measure.memory import AccessOrder
    from dfopt_models.measure.this_machine import ThisMachine, conditions

    if order not in list(AccessOrder):
        raise typer.BadParameter(
            f"{order!r} is none of {', '.join(AccessOrder)}", param_hint="--order"
        )
    check_output(output)
    known = conditions()
    found = []
    cache_lines = 0
    for number in range(runs):
        memory = ThisMachine(seed=number)
        cache_lines = memory.cache_lines
        if lines > cache_lines:
            raise typer.BadParameter(
                f"the cache has {cache_lines:,} lines; take fewer", param_hint="--lines"
            )
        sizes = [2**power for power in range(6, 20, 2) if 2**power <= cache_lines]
        try:
            found.append(measure_run(memory, lines=lines, passes=passes, sizes=sizes))
        finally:
            memory.close()
        say(f"dfopt: run {number + 1} of {runs}: {found[-1].rejected:.0%} of the passes rejected")
    text = usage(
        lambda: machine_text(
            found, lines=cache_lines, level=level, order=AccessOrder(order), conditions=known
        ),
        "--level",
    )
    write_text(output, text)
    table = plain_table()
    for name in ("level", "order"):
        table.add_column(name, overflow="fold")
    for name in ("ns a line", "quartiles", "runs"):
        table.add_column(name, justify="right")
    for estimates in zip(*(run.reads for run in found), strict=True):
        middle = sorted(one.median for one in estimates)[len(estimates) // 2]
        low, high = estimates[0].quartiles
        table.add_row(
            estimates[0].level,
            str(estimates[0].order),
            f"{middle:.2f}",
            f"{low:.2f} to {high:.2f}",
            ", ".join(f"{one.median:.2f}" for one in estimates),
        )
    print_rich(table)
