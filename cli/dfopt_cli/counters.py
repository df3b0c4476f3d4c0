"""``dfopt model counters``: what performance counters say of task types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dfopt import Objective
from dfopt_cli.failures import naming
from dfopt_cli.formula_option import FormulaOption
from dfopt_cli.options import JsonOption
from dfopt_cli.output_files import check_output
from dfopt_cli.printing import print_json, print_rich, say

if TYPE_CHECKING:
    from dfopt_models.counters import CounterFigures, CountersModel

NS_PER_MS = 1_000_000

CountersArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Samples of counters at switches, a CSV table or what perf script prints; or a model "
        "of counters, a TOML file or a name: ziemba. - is standard input.",
        show_default=False,
    ),
]

LongOption = Annotated[
    float | None,
    typer.Option(
        "--long",
        metavar="MS",
        min=0,
        help="Dispatches that run at least this time are a task type of their own. Without it the "
        "length is chosen that explains best how fast the next dispatch is.",
        show_default=False,
    ),
]

CpuOption = Annotated[
    list[int] | None,
    typer.Option(
        "--cpu", metavar="N", help="Only this CPU; may be given several times.", show_default=False
    ),
]


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
            help="Write the model to a TOML file.",
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
    """Show what counters at switches say of task types, and what these cost each other.

    From samples: instructions per cycle and cache misses by CPU, type, predecessor and slice
    length, and a penalty for each pair of task types with its standard error. A model of counters
    has the pairs already.

    Example: dfopt model counters ziemba --instance web.json --resolution 100
    """  # fmt: skip
    from dfopt.files import write_instance
    from dfopt_models.counters import counters_instance, write_counters_model
    from dfopt_models.counters.document import counters_document

    for name in (output, instance):
        if name is not None:
            check_output(name, file)
    with naming(file):
        model, figures = read_counters(file, long=long, cpu=cpu, mean=mean)
        document = counters_document(model, figures)
        if instance is not None:
            write_instance(
                counters_instance(
                    model, tasks=tasks, cpus=cpus, objective=objective, resolution=resolution
                ),
                instance,
            )
    if output is not None:
        write_counters_model(model, output)
    if as_json:
        print_json(document)
        return
    from dfopt_cli.counters_view import counters_tables

    print_rich(*counters_tables(model, figures))
    for name, what in ((output, "the model"), (instance, "the instance")):
        if name is not None:
            say(f"dfopt: {what} is in {name}")


def read_counters(
    file: str, *, long: float | None, cpu: list[int] | None, mean: str = "total"
) -> tuple[CountersModel, CounterFigures | None]:
    """Return the model in a file, or the one that its samples give with their figures."""
    from dfopt.files.formats import Format, toml_format
    from dfopt_models.counters import (
        Mean,
        counted_dispatches,
        counter_figures,
        counters_model,
        long_threshold,
        read_counters_model,
        read_samples,
    )
    from dfopt_models.parameter_files import parameter_name, shipped_parameters

    if mean not in list(Mean):
        raise typer.BadParameter(
            f"must be one of {', '.join(Mean)}, not {mean}", param_hint="--mean"
        )
    is_model = (
        file in shipped_parameters(Format.COUNTERS_MODEL)
        or file.removesuffix(".gz").endswith(".toml")
        or toml_format(file) is not None
    )
    if is_model:
        if long is not None or cpu:
            raise typer.BadParameter("a model has no samples; --long and --cpu are for samples")
        return read_counters_model(file), None
    dispatches = counted_dispatches(read_samples(file), cpus=cpu or None)
    long_ns = long_threshold(dispatches) if long is None else round(long * NS_PER_MS)
    model = counters_model(
        dispatches, long_ns=long_ns, name=parameter_name(file).removesuffix(".csv"), mean=Mean(mean)
    )
    return model, counter_figures(dispatches, long_ns=long_ns)
