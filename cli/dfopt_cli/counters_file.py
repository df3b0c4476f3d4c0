"""Files of counters: samples or a model, and the options for samples."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from dfopt_cli import completion

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
        Mean,
        counted_dispatches,
        counter_figures,
        counters_model,
        long_threshold,
        read_counters_model,
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
        return read_counters_model(file), None
    dispatches = counted_dispatches(read_samples(file), cpus=cpu or None)
    long_ns = long_threshold(dispatches) if long is None else round(long * NS_PER_MS)
    model = counters_model(
        dispatches, long_ns=long_ns, name=parameter_name(file).removesuffix(".csv"), mean=Mean(mean)
    )
    return model, counter_figures(dispatches, long_ns=long_ns)
