"""Parameters of models: the arguments that name them, and how a model is shown or drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Option

from dfopt_cli import completion
from dfopt_cli.failures import naming
from dfopt_cli.output_files import check_output
from dfopt_cli.printing import print_json, print_tables
from dfopt_models.growth import GrowthPath

if TYPE_CHECKING:
    from dfopt_models.model import AnalyticModel
    from dfopt_models.response_time import ResponseModel


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

ModelPictureOption = Annotated[
    str | None,
    Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Draw a picture instead; the name ends in .svg, .png or .pdf.",
    ),
]


def show(name: str, file: str, *, as_json: bool, output: str | None = None, **options: Any) -> None:
    """Print what a model says of the parameters in a file, or draw them if there is an output."""
    from dfopt_models.model import model_named

    if output is not None:
        draw(name, file, output)
        return
    with naming(file):
        parameters = model_named(name).read(file)
    print_result(name, file, parameters, as_json=as_json, **options)


def print_result(name: str, file: str, parameters: Any, *, as_json: bool, **options: Any) -> None:
    """Print what a model says of parameters."""
    from dfopt_models.errors import OptionError
    from dfopt_models.model import model_named

    model = model_named(name)
    with naming(file):
        try:
            result = model.says(parameters, **options)
        except OptionError as error:
            hint = f"--{error.place}" if error.place else None
            raise BadParameter(error.problem, param_hint=hint) from None
    if as_json:
        print_json(model.results.to_document(result))
    else:
        print_tables(result.tables(parameters))


def draw(name: str, file: str, output: str) -> None:
    """Draw the picture of the parameters in a file."""
    from dfopt.plot import save_picture
    from dfopt_models.model import model_named

    model = model_named(name)
    (parameters,) = parameters_to_draw(model, [file], output)
    save_picture(model.figure(parameters).axes[0], output)


def draw_crossovers(files: Sequence[str], output: str, path: GrowthPath) -> None:
    """Draw the crossovers of jobs of the response-time models in files."""
    from dfopt.plot import save_picture
    from dfopt_models.plot import plot_crossovers

    models = models_to_compare(files, output)
    save_picture(plot_crossovers(models, path=path).axes[0], output)


def models_to_compare(files: Sequence[str], output: str) -> list[ResponseModel]:
    """Return the response-time models in files, each with something to compare."""
    from dfopt_models.crossover import CROSSOVER

    models = parameters_to_draw(CROSSOVER, files, output)
    for file, model in zip(files, models, strict=True):
        with naming(file):
            model.comparisons()  # so that an error names its file
    return models


def parameters_to_draw(model: AnalyticModel[Any], files: Sequence[str], output: str) -> list[Any]:
    """Return the parameters in files; refuse to draw over one, or in an unknown format."""
    from dfopt.plot import check_picture_name

    check_picture_name(output)
    check_output(output, *(file for file in files if os.path.exists(file)))
    return [model.read(file) for file in files]
