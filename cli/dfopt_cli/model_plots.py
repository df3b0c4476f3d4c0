"""``dfopt plot``: the pictures of the analytic models."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from dfopt_cli import completion
from dfopt_cli.counters import CountersArgument, CpuOption, LongOption, draw_counters
from dfopt_cli.model_files import (
    BatchingArgument,
    ContentionArgument,
    QueueingArgument,
    draw,
    draw_crossovers,
    models_to_compare,
)
from dfopt_cli.options import PathOption, PictureOption
from dfopt_models.growth import GrowthPath

ModelsArgument = Annotated[
    list[str],
    Argument(
        metavar="MODEL",
        help="Parameters of the response-time model: TOML files, or a name such as mix-5.",
        autocompletion=completion.models_of("response"),
    ),
]


def crossover(
    models: ModelsArgument, *, output: PictureOption, path: PathOption = GrowthPath.EQUAL
) -> None:
    """Draw where policies fall behind as machines grow.

    There is one picture for each job: response times, relative to the baseline, against
    speed × cache.

    Marks show the crossovers, with their products; shaded areas and bars show what the ranges of
    the parameters allow.

    Example: dfopt plot crossover mix-5 -o crossover.svg
    """
    draw_crossovers(models, output, path)


def crossover_plane(models: ModelsArgument, *, output: PictureOption) -> None:
    """Draw on which machines policies equal the baseline.

    There is one picture for each job: curves in the plane of speed and cache, with marks where
    both grow alike. Thin straight lines join machines with one product of both.

    Example: dfopt plot crossover-plane mix-5 -o plane.svg
    """
    from dfopt.plot import save_picture
    from dfopt_models.plot import plot_crossover_planes

    parameters = models_to_compare(models, output)
    save_picture(plot_crossover_planes(parameters).axes[0], output)


def contention(file: ContentionArgument, *, output: PictureOption) -> None:
    """Draw how CPUs contend for locks.

    Misses and work against the number of CPUs, with one lock and with a lock for each CPU; marks
    show what was measured.

    Example: dfopt plot contention sohn-kim -o contention.svg
    """
    draw("contention", file, output)


def batching(file: BatchingArgument, *, output: PictureOption) -> None:
    """Draw what batches of fine-grained threads gain.

    Gains against process length, and the choices of batches that miss least for each time that
    they wait; a curve for each granularity.

    Example: dfopt plot batching debattista -o batching.svg
    """
    draw("batching", file, output)


def counters(
    file: CountersArgument,
    *,
    output: PictureOption,
    long: LongOption = None,
    cpu: CpuOption = None,
    warm_up: Annotated[
        bool, Option("--warm-up", help="Draw the warm-up of the model's first thread type.")
    ] = False,
) -> None:
    """Draw how fast each task type is after each other one.

    Speeds are shares of the best one of the type. With --warm-up it is how a thread type becomes
    faster after it was dispatched; only models have that.

    Example: dfopt plot counters ziemba -o counters.svg
    """
    draw_counters(file, output, long=long, cpu=cpu, warm_up=warm_up)


def queueing(file: QueueingArgument, *, output: PictureOption) -> None:
    """Draw between which response times the best policy lies.

    Response times against the load, for each number of CPUs: the ideal, partitions, and a global
    queue with reloads. Circles stand where the last two cross.

    Example: dfopt plot queueing short-jobs -o queueing.svg
    """
    draw("queueing", file, output)
