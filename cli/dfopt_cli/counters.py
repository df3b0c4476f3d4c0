"""``dfopt model counters``: what performance counters say of task types."""

from __future__ import annotations

from typing import Annotated

import typer

from dfopt import Objective
from dfopt_cli.counters_file import (
    CountersArgument,
    CpuOption,
    LongOption,
    draw_counters,
    read_counters,
)
from dfopt_cli.failures import naming
from dfopt_cli.formula_option import FormulaOption
from dfopt_cli.model_files import print_result
from dfopt_cli.options import JsonOption
from dfopt_cli.output_files import check_output
from dfopt_cli.printing import say

PICTURES = (".svg", ".png", ".pdf")


def counters(
    file: CountersArgument,
    *,
    long: LongOption = None,
    cpu: CpuOption = None,
    mean: Annotated[
        str,
        typer.Option(
            metavar="total|dispatches",
            help="Average instructions per cycle over all cycles, or over dispatches.",
        ),
    ] = "total",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the model to a TOML file; or draw a picture, if the name ends in .svg, "
            ".png or .pdf.",
            show_default=False,
        ),
    ] = None,
    instance: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write an instance that 'dfopt solve' takes.", show_default=False
        ),
    ] = None,
    tasks: Annotated[int, typer.Option(min=1, help="Tasks of the instance.")] = 100,
    cpus: Annotated[int, typer.Option(min=1, help="CPUs of the instance.")] = 4,
    objective: Annotated[
        Objective, typer.Option(help="What the instance is to minimise.")
    ] = Objective.MAX_PENALTY,
    resolution: Annotated[
        int,
        typer.Option(metavar="NS", min=1, help="Round the penalties of the instance to this."),
    ] = 1,
    as_json: JsonOption = False,
    formula: FormulaOption = None,
) -> None:
    """Show what counters at switches say of task types.

    That is how fast they run, and what they cost each other. From samples: instructions per cycle
    and cache misses by CPU, type, predecessor and slice length, and a penalty for each pair of task
    types with its standard error. A model of counters has the pairs already.

    Example: dfopt model counters ziemba --instance web.json --resolution 100
    """  # fmt: skip
    from dfopt.files import write_instance
    from dfopt_models.counters import COUNTERS, counters_instance

    if output is not None and output.endswith(PICTURES):
        draw_counters(file, output, long=long, cpu=cpu)
        return
    for name in (output, instance):
        if name is not None:
            check_output(name, file)
    with naming(file):
        model, figures = read_counters(file, long=long, cpu=cpu, mean=mean)
        if instance is not None:
            made = counters_instance(
                model, tasks=tasks, cpus=cpus, objective=objective, resolution=resolution
            )
            write_instance(made, instance)
    if output is not None:
        COUNTERS.write(model, output)
    print_result("counters", file, model, as_json=as_json, figures=figures)
    for name, what in ((output, "the model"), (instance, "the instance")):
        if name is not None and not as_json:
            say(f"dfopt: {what} is in {name}")
