"""``dfopt model counters``: what performance counters say of task types; samples or a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from dfopt import Objective
from dfopt_cli import completion
from dfopt_cli.failures import naming
from dfopt_cli.formula_option import FormulaOption
from dfopt_cli.model_files import print_result
from dfopt_cli.options import INSTANCE, JsonOption
from dfopt_cli.output_files import check_output
from dfopt_cli.printing import say
from dfopt_models.errors import ModelError

if TYPE_CHECKING:
    from dfopt_models.counter_samples import CounterFigures
    from dfopt_models.counters import CountersModel

PICTURES = (".svg", ".png", ".pdf")

NS_PER_MS = 1_000_000

CountersArgument = Annotated[
    str,
    Argument(
        metavar="FILE",
        help="Samples of counters at switches, a CSV table or what perf script prints; or a model "
        "of counters, a TOML file or a name: ziemba. - is standard input.",
        autocompletion=completion.models_of("counters"),
    ),
]

LongOption = Annotated[
    float | None,
    Option(
        "--long",
        metavar="MS",
        min=0,
        help="Dispatches that run at least this time are a task type of their own. Without it the "
        "length is chosen that explains best how fast the next dispatch is.",
    ),
]

CpuOption = Annotated[
    list[int] | None,
    Option("--cpu", metavar="N", help="Only this CPU; may be given several times."),
]


def counters(
    file: CountersArgument,
    *,
    long: LongOption = None,
    cpu: CpuOption = None,
    mean: Annotated[
        str,
        Option(
            metavar="total|dispatches",
            help="Average instructions per cycle over all cycles, or over dispatches.",
        ),
    ] = "total",
    output: Annotated[
        str | None,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the model to a TOML file; or draw a picture, if the name ends in .svg, "
            ".png or .pdf.",
        ),
    ] = None,
    instance: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Write an instance that 'dfopt solve' takes.",
            rich_help_panel=INSTANCE,
        ),
    ] = None,
    tasks: Annotated[
        int, Option(min=1, help="Tasks of the instance.", rich_help_panel=INSTANCE)
    ] = 100,
    cpus: Annotated[int, Option(min=1, help="CPUs of the instance.", rich_help_panel=INSTANCE)] = 4,
    objective: Annotated[
        Objective, Option(help="What the instance is to minimise.", rich_help_panel=INSTANCE)
    ] = Objective.MAX_PENALTY,
    resolution: Annotated[
        int,
        Option(
            metavar="NS",
            min=1,
            help="Round the penalties of the instance to this.",
            rich_help_panel=INSTANCE,
        ),
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


def read_counters(
    file: str, *, long: float | None, cpu: list[int] | None, mean: str = "total"
) -> tuple[CountersModel, CounterFigures | None]:
    """Return the model in a file, or the one that its samples give with their figures."""
    from dfopt.files.formats import named_format
    from dfopt.files.streams import first_bytes
    from dfopt_models.counter_samples import counted_dispatches, counter_figures, read_samples
    from dfopt_models.counters import COUNTERS, Mean, counters_model, long_threshold
    from dfopt_models.parameter_files import parameter_name

    if mean not in list(Mean):
        raise BadParameter(f"must be one of {', '.join(Mean)}, not {mean}", param_hint="--mean")
    is_model = (
        (file != "-" and not os.path.exists(file))  # its name or its error
        or file.removesuffix(".gz").endswith(".toml")
        or named_format(first_bytes(file)) is not None
    )
    if is_model:
        if long is not None or cpu:
            raise BadParameter("a model has no samples; --long and --cpu are for samples")
        return COUNTERS.read(file), None
    dispatches = counted_dispatches(read_samples(file), cpus=cpu or None)
    long_ns = long_threshold(dispatches) if long is None else round(long * NS_PER_MS)
    model = counters_model(
        dispatches, long_ns=long_ns, name=parameter_name(file).removesuffix(".csv"), mean=Mean(mean)
    )
    return model, counter_figures(dispatches, long_ns=long_ns)


def draw_counters(
    file: str, output: str, *, long: float | None, cpu: list[int] | None, warm_up: bool = False
) -> None:
    """Draw what a file says of task types, or the warm-up of its first thread type."""
    from dfopt.plot import check_picture_name, save_picture
    from dfopt_models.plot import plot_counters, plot_warm_up

    check_picture_name(output)
    check_output(output, file)
    with naming(file):
        model, _ = read_counters(file, long=long, cpu=cpu)
        if warm_up and not model.warm_up:
            raise ModelError("has no warm-up to draw; add [[warm_up]] to a model", place="warm_up")
    save_picture(plot_warm_up(model.warm_up[0]) if warm_up else plot_counters(model), output)
