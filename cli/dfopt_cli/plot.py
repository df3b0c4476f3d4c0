"""``dfopt plot``: pictures, one command for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter

from dfopt.errors import DfoptError
from dfopt_cli import completion
from dfopt_cli.compare import (
    Compared,
    Plan,
    choice_for_traces,
    compare_traces,
    saved_among,
)
from dfopt_cli.failures import naming
from dfopt_cli.input_files import read_solved
from dfopt_cli.model import (
    BatchingArgument,
    ContentionArgument,
    CountersArgument,
    QueueingArgument,
    SampleOptions,
    comparable,
    draw_counters,
    draw_crossovers,
    draw_model,
)
from dfopt_cli.options import (
    InstanceArgument,
    PictureOption,
    QuietOption,
    ResultArgument,
)
from dfopt_cli.printing import save_drawn, say, with_options
from dfopt_cli.trace_options import (
    LabelOptions,
    ModelOptions,
    WaitOptions,
    WindowOptions,
    WorkOptions,
)
from dfopt_models.growth import GrowthPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dfopt.compare import Comparison

TracesArgument = Annotated[
    list[str],
    Argument(
        metavar="TRACE",
        help="Traces, or what 'dfopt compare --json' printed about them.",
    ),
]


ModelsArgument = Annotated[
    list[str],
    Argument(
        metavar="MODEL",
        help="Parameters of the response-time model: TOML files, or a name such as mix-5.",
        autocompletion=completion.models_of("response"),
    ),
]


def schedule(instance: InstanceArgument, result: ResultArgument, output: PictureOption) -> None:
    """Draw a schedule as a Gantt chart.

    Example: dfopt plot schedule instance.json result.json -o schedule.svg
    """
    from dfopt.plot import plot_schedule

    def drawn() -> Axes:
        subject, found, _ = read_solved(instance, result)
        with naming(result):
            return plot_schedule(subject, found)

    save_drawn(drawn, output, instance, result)


def profile(
    rows: list[str],
    *,
    output: PictureOption,
) -> None:
    """Draw how many instances each method solves, and how fast.

    It is the performance profile of Dolan and Moré (2002): for each factor the share of instances
    that a method solves within this factor of the fastest method's time. The line of a method
    begins with the share on which it is the fastest, and ends with the share that it solves.

    Example: dfopt plot profile rows.csv -o profile.svg

    Arguments
    ---------
    rows : CSV
        Rows that 'dfopt bench -o' wrote.
    """
    from dfopt.bench import performance_ratios, read_rows
    from dfopt.plot import plot_profile

    def drawn() -> Axes:
        ratios = performance_ratios([row for file in rows for row in read_rows(file)])
        with naming(" ".join(rows)):
            return plot_profile(ratios)

    save_drawn(drawn, output, *rows)


def foresight(
    traces: TracesArgument,
    *,
    output: PictureOption,
    labels: LabelOptions,
    model: ModelOptions,
    windows: WindowOptions,
    quiet: QuietOption = False,
) -> None:
    """Draw costs by cause, beside the least with look-ahead.

    Costs fall with the length of windows, within which dispatches may run in any order. Several
    traces stand side by side, under the names of their policies. The options are those of 'dfopt
    compare'; without --window the windows are those of --foresight.

    Example: dfopt plot foresight old.txt new.txt --df labels.csv -o foresight.svg
    """
    from dfopt.compare.written_times import WindowKind
    from dfopt.plot import plot_foresight

    plan = Plan(
        labels=labels,
        work=windows,
        choice=choice_for_traces(model),
        windows=windows.chosen(default="foresight"),
        time_limit=windows.time_limit,
    )
    if len({window.kind for window in plan.windows or ()} - {WindowKind.WHOLE}) > 1:
        raise BadParameter(
            "windows in dispatches and windows in time share no axis; draw them one by one",
            param_hint="--window",
        )
    draw(plot_foresight, traces, output, plan, (labels, model, windows), quiet=quiet)


def frontier(
    traces: TracesArgument,
    *,
    output: PictureOption,
    labels: LabelOptions,
    model: ModelOptions,
    limits: WaitOptions,
    work: WorkOptions,
    quiet: QuietOption = False,
) -> None:
    """Draw costs against waiting, recorded and attainable.

    The options are those of 'dfopt compare'; without --wait the permitted waits are powers of
    ten around 1 ms, or around the usual length of a dispatch if that is longer.

    Example: dfopt plot frontier trace.txt --df labels.csv -o frontier.svg
    """
    from dfopt.plot import plot_frontier
    from dfopt.plot.frontier import check_rows

    plan = Plan(
        labels=labels,
        work=work,
        choice=choice_for_traces(model),
        waits=limits.waits or "usual",
    )
    options = (labels, model, limits, work)
    draw(plot_frontier, traces, output, plan, options, quiet=quiet, check=check_rows)


def attainable(
    traces: TracesArgument,
    *,
    output: PictureOption,
    labels: LabelOptions,
    model: ModelOptions,
    limits: WaitOptions,
    work: WorkOptions,
    quiet: QuietOption = False,
) -> None:
    """Draw what was paid and what could have been paid.

    Each way to schedule has a bar. The options are those of 'dfopt compare'. A part of a bar is
    hatched if it is proven that nobody with the same limit can pay less.

    Example: dfopt plot attainable trace.txt --df tgid -o attainable.svg
    """
    from dfopt.plot import plot_attainable
    from dfopt.plot.frontier import check_bars

    plan = Plan(labels=labels, work=work, choice=choice_for_traces(model), waits=limits.waits)
    options = (labels, model, limits, work)
    draw(plot_attainable, traces, output, plan, options, quiet=quiet, check=check_bars)


def draw(
    plot: Callable[[Sequence[Comparison]], Axes],
    files: Sequence[str],
    output: str,
    plan: Plan,
    options: Sequence[object],
    *,
    quiet: bool,
    check: Callable[[Comparison], None] = lambda _: None,
) -> None:
    """Draw comparisons of traces, or saved ones; what Ctrl-C leaves undone is left out."""
    compared = Compared(comparisons=[])

    def drawn() -> Axes:
        nonlocal compared
        saved = saved_among(files, *options)
        compared = compare_traces(files, plan, saved=saved, quiet=quiet)
        comparisons = compared.comparisons
        if compared.interrupted:
            whole = [comparison for comparison in comparisons if comparison.is_complete]
            # A trace without its last window would seem further from its bound than the others.
            comparisons = whole or [
                comparison
                for comparison in comparisons
                if comparison.windows or comparison.frontier
            ]
            if not comparisons:
                raise KeyboardInterrupt
        tell_different_costs(comparisons)
        with naming(" ".join(files)):
            return plot(drawable(comparisons, check))

    save_drawn(drawn, output, *files)
    compared.end("what is finished is drawn")


def drawable(
    comparisons: Sequence[Comparison], check: Callable[[Comparison], None]
) -> list[Comparison]:
    """Return the traces that pass a check; say of the others why they are left out."""
    drawn = []
    for comparison in comparisons:
        try:
            check(comparison)
            drawn.append(comparison)
        except DfoptError as error:
            if len(comparisons) == 1:
                raise
            say(with_options(f"dfopt: warning: {error}; it is left out"))
    return drawn


def tell_different_costs(comparisons: Sequence[Comparison]) -> None:
    """Warn if costs stand side by side that cannot be compared."""
    costs = {
        (repr(compared.model.penalty), compared.model.objective, compared.cost_unit)
        for compared in comparisons
    }
    if len(costs) > 1:
        say(
            "dfopt: warning: the traces have different costs, on one axis; options such as "
            "--penalty g or --model INSTANCE give all the same"
        )


def crossover(
    models: ModelsArgument, *, output: PictureOption, path: GrowthPath = GrowthPath.EQUAL
) -> None:
    """Draw where policies fall behind as machines grow.

    There is one picture for each job: response times, relative to the baseline, against
    speed × cache.

    Marks show the crossovers, with their products; shaded areas and bars show what the ranges of
    the parameters allow.

    Example: dfopt plot crossover mix-5 -o crossover.svg

    Options
    -------
    path
        How speed and cache grow: alike, one of them alone, or caches without limit.
    """
    draw_crossovers(models, output, path)


def crossover_plane(models: ModelsArgument, *, output: PictureOption) -> None:
    """Draw on which machines policies equal the baseline.

    There is one picture for each job: curves in the plane of speed and cache, with marks where
    both grow alike. Thin straight lines join machines with one product of both.

    Example: dfopt plot crossover-plane mix-5 -o plane.svg
    """
    from dfopt_models.plot import plot_crossover_planes

    save_drawn(lambda: plot_crossover_planes(comparable(models)).axes[0], output, *models)


def contention(file: ContentionArgument, *, output: PictureOption) -> None:
    """Draw how CPUs contend for locks.

    Misses and work against the number of CPUs, with one lock and with a lock for each CPU; marks
    show what was measured.

    Example: dfopt plot contention sohn-kim -o contention.svg
    """
    draw_model("contention", file, output)


def batching(file: BatchingArgument, *, output: PictureOption) -> None:
    """Draw what batches of fine-grained threads gain.

    Gains against process length, and the choices of batches that miss least for each time that
    they wait; a curve for each granularity.

    Example: dfopt plot batching debattista -o batching.svg
    """
    draw_model("batching", file, output)


def counters(
    file: CountersArgument,
    *,
    output: PictureOption,
    samples: SampleOptions,
    warm_up: bool = False,
) -> None:
    """Draw how fast each task type is after each other one.

    Speeds are shares of the best one of the type. With --warm-up it is how a thread type becomes
    faster after it was dispatched; only models have that.

    Example: dfopt plot counters ziemba -o counters.svg

    Options
    -------
    warm_up
        Draw the warm-up of the model's first thread type.
    """
    draw_counters(file, output, samples, warm_up=warm_up)


def queueing(file: QueueingArgument, *, output: PictureOption) -> None:
    """Draw between which response times the best policy lies.

    Response times against the load, for each number of CPUs: the ideal, partitions, and a global
    queue with reloads. Circles stand where the last two cross.

    Example: dfopt plot queueing short-jobs -o queueing.svg
    """
    draw_model("queueing", file, output)
