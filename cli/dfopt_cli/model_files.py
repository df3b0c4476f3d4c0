"""Parameters of models: the arguments that name them, and how their pictures are drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, BadParameter, Option

from dfopt_cli import completion
from dfopt_cli.failures import naming
from dfopt_cli.printing import save_drawn
from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath

if TYPE_CHECKING:
    from dfopt_models.counter_samples import CounterFigures
    from dfopt_models.counters import CountersModel
    from dfopt_models.response_time import ResponseModel

NS_PER_MS = 1_000_000


def parameters_of(model: str, known: str) -> Any:
    """Return the argument for parameters of a model, of which some are known by name."""
    return Argument(
        metavar="MODEL",
        help=f"The parameters, a TOML file (- is standard input), or a name: {known}.",
        autocompletion=completion.models_of(model),
    )


ResponseArgument = Annotated[str, parameters_of("response", "mix-5")]
BatchingArgument = Annotated[str, parameters_of("batching", "debattista")]
ContentionArgument = Annotated[str, parameters_of("contention", "sohn-kim")]
QueueingArgument = Annotated[str, parameters_of("queueing", "short-jobs, symmetry")]
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
PathOption = Annotated[
    GrowthPath,
    Option(
        "--path",
        help="How speed and cache grow: alike, one of them alone, or caches without limit.",
    ),
]


def draw_model(name: str, file: str, output: str) -> None:
    """Draw the picture of the parameters in a file."""
    from dfopt_models.model import model_named

    model = model_named(name)
    save_drawn(lambda: model.figure(model.read(file)).axes[0], output, file)


def draw_crossovers(files: Sequence[str], output: str, path: GrowthPath) -> None:
    """Draw the crossovers of jobs of the response-time models in files."""
    from dfopt_models.plot import plot_crossovers

    save_drawn(lambda: plot_crossovers(comparable(files), path=path).axes[0], output, *files)


def comparable(files: Sequence[str]) -> list[ResponseModel]:
    """Return the response-time models in files, each with something to compare."""
    from dfopt_models.response_time import RESPONSE_TIME

    models = [RESPONSE_TIME.read(file) for file in files]
    for file, model in zip(files, models, strict=True):
        with naming(file):
            model.comparisons()  # so that an error names its file
    return models


def read_counters(
    file: str,
    *,
    long: float | None,
    cpu: list[int] | None,
    mean: Literal["total", "dispatches"] = "total",
) -> tuple[CountersModel, CounterFigures | None]:
    """Return the model in a file, or the one that its samples give with their figures."""
    from dfopt.files.formats import named_format
    from dfopt.files.storage import first_bytes
    from dfopt_models.counter_samples import counted_dispatches, counter_figures, read_samples
    from dfopt_models.counters import COUNTERS, Mean, counters_model, long_threshold
    from dfopt_models.model import parameter_name

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
    from dfopt_models.plot import plot_counters, plot_warm_up

    def drawn() -> Any:
        with naming(file):
            model, _ = read_counters(file, long=long, cpu=cpu)
            if warm_up and not model.warm_up:
                problem = "has no warm-up to draw; add [[warm_up]] to a model"
                raise ModelError(problem, place="warm_up")
        return plot_warm_up(model.warm_up[0]) if warm_up else plot_counters(model)

    save_drawn(drawn, output, file)
