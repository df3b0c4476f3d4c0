"""Files of counters: samples or a model, and the options for samples."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from dfopt_cli import completion
from dfopt_cli.failures import naming
from dfopt_cli.output_files import check_output
from dfopt_models.errors import ModelError

if TYPE_CHECKING:
    from dfopt_models.counters import CounterFigures, CountersModel

NS_PER_MS = 1_000_000

CountersArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Samples of counters at switches, a CSV table or what perf script prints; or a model "
        "of counters, a TOML file or a name: ziemba. - is standard input.",
        autocompletion=completion.models_of("counters"),
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


def read_counters(
    file: str, *, long: float | None, cpu: list[int] | None, mean: str = "total"
) -> tuple[CountersModel, CounterFigures | None]:
    """Return the model in a file, or the one that its samples give with their figures."""
    from dfopt.files.formats import named_format
    from dfopt.files.streams import first_bytes
    from dfopt_models.counters import (
        COUNTERS,
        Mean,
        counted_dispatches,
        counter_figures,
        counters_model,
        long_threshold,
        read_samples,
    )
    from dfopt_models.parameter_files import parameter_name

    if mean not in list(Mean):
        raise typer.BadParameter(
            f"must be one of {', '.join(Mean)}, not {mean}", param_hint="--mean"
        )
    is_model = (
        (file != "-" and not os.path.exists(file))  # its name or its error
        or file.removesuffix(".gz").endswith(".toml")
        or named_format(first_bytes(file)) is not None
    )
    if is_model:
        if long is not None or cpu:
            raise typer.BadParameter("a model has no samples; --long and --cpu are for samples")
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
