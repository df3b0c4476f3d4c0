"""``dfopt model``: what the analytic models say, and how their pictures are drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, BadParameter, Context, Exit, Option

from dfopt import Objective
from dfopt.structs import NonNegative, Positive
from dfopt_cli import completion
from dfopt_cli.failures import naming
from dfopt_cli.options import HeadedCommand, JsonOption, given
from dfopt_cli.printing import check_output, print_json, print_tables, print_text, save_drawn, say
from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath

if TYPE_CHECKING:
    from dfopt_models.counter_samples import CounterFigures
    from dfopt_models.counters import CountersModel
    from dfopt_models.response_time import ResponseModel

NS_PER_MS = 1_000_000

PICTURES = (".svg", ".png", ".pdf")

Writing = Literal["text", "latex"]
"""The ways to write formulas."""


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


class FormulaCommand(HeadedCommand):
    """A command whose option ``--formula`` may stand without a value, which then is text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        given = []
        for argument, after in zip(args, [*args[1:], ""], strict=False):
            given.append(argument)
            if argument == "--formula" and after not in ("text", "latex"):
                given.append("text")
        return super().parse_args(ctx, given)


def print_formulas(ctx: Context, writing: Writing | None) -> None:
    """Print the formulas of the model that has the name of the command, and end."""
    if writing is None or ctx.resilient_parsing:
        return
    from dfopt_models.model import model_named

    assert ctx.info_name is not None
    formulas = model_named(ctx.info_name).formulas
    if writing == "latex":
        texts = [
            f"% {formula.name}: {formula.meaning} ({formula.source})\n{formula.latex()}\n"
            for formula in formulas
        ]
    else:
        texts = [
            f"{formula.name}: {formula.meaning}\n  {formula.text()}\n  [{formula.source}]\n"
            for formula in formulas
        ]
        used = {quantity: None for formula in formulas for quantity in formula.used}
        width = max(len(quantity.symbol) for quantity in used)
        meanings = [
            f"{quantity.symbol:<{width}}  "
            + ", ".join(filter(None, (quantity.meaning, quantity.unit)))
            for quantity in used
        ]
        texts.append("".join(f"{meaning}\n" for meaning in meanings))
    print_text("\n".join(texts))
    raise Exit


FormulaOption = Annotated[
    Writing | None,
    Option(
        "--formula",
        callback=print_formulas,
        is_eager=True,
        help="Print the formulas of the model and their symbols, and exit; "
        "'--formula latex' writes them in LaTeX.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownOptions:
    """Options about what is shown of a model.

    Options
    -------
    output : -o FILE
        Draw a picture instead; the name ends in .svg, .png or .pdf.
    """

    as_json: JsonOption = False
    output: str | None = None
    formula: FormulaOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReallocationOptions:
    """Options about what reallocations cost.

    Options
    -------
    penalties : FILE
        Take what reallocations cost from this dfopt-penalties/1, not from the model.
    machine : FILE
        Take it from this dfopt-machine/1: without affinity the whole cache is read anew.
    """

    penalties: str | None = None
    machine: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """Options about samples of counters.

    Options
    -------
    long : MS
        Dispatches that run at least this time are a task type of their own. Without it the length
        is chosen that explains best how fast the next dispatch is.
    cpu : --cpu N
        Only this CPU; may be given several times.
    """

    long: NonNegative | None = None
    cpu: list[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeInstanceOptions:
    """Options about the instance that counters give.

    The instance that is written
    ----------------------------
    instance : FILE
        Write an instance that 'dfopt solve' takes.
    tasks
        Tasks of the instance.
    cpus
        CPUs of the instance.
    objective
        What the instance is to minimise.
    resolution : NS
        Round the penalties of the instance to this.
    """

    instance: str | None = None
    tasks: Positive = 100
    cpus: Positive = 4
    objective: Objective = Objective.MAX_PENALTY
    resolution: Positive = 1


def response_time(
    file: ResponseArgument,
    *,
    speed: list[float] | None = None,
    cache: list[float] | None = None,
    costs: ReallocationOptions,
    as_json: JsonOption = False,
    formula: FormulaOption = None,
) -> None:
    """Show response times of jobs, today and on other machines.

    For every policy: its response time, also relative to the baseline, how much of it perfect
    affinity or no waste would save, and how many reallocations it can afford. The first --speed
    goes with the first --cache, and so on; a value that is left out is 1.

    Example: dfopt model response-time mix-5 --speed 4 --cache 4

    Options
    -------
    speed : X
        Relative to today; may be given several times.
    cache : X
        Relative to today; may be given several times.
    """
    parameters = model_with_costs(file, costs)
    show("response-time", file, parameters, as_json=as_json, speed=speed, cache=cache)


def crossover(
    file: ResponseArgument,
    *,
    path: GrowthPath = GrowthPath.EQUAL,
    costs: ReallocationOptions,
    shown: ShownOptions,
) -> None:
    """Show where a policy becomes as fast as the baseline.

    A machine is described by the product of its speed and its cache, both relative to today's.

    Example: dfopt model crossover mix-5 --path limit

    Options
    -------
    path
        How speed and cache grow: alike, one of them alone, or caches without limit.
    """
    if shown.output is not None:
        draw_crossovers([file], shown.output, path)
        return
    parameters = model_with_costs(file, costs)
    show("crossover", file, parameters, as_json=shown.as_json, path=path)


def model_with_costs(file: str, costs: ReallocationOptions) -> ResponseModel:
    """Return a model, with measured costs of reallocations where a file has them."""
    from dfopt_models.response_time import RESPONSE_TIME

    if costs.penalties is not None and costs.machine is not None:
        raise BadParameter("give --penalties or --machine, not both")
    parameters = RESPONSE_TIME.read(file)
    measured = costs.penalties or costs.machine
    if measured is None:
        return parameters
    from dfopt_models.measure import (
        penalties_of_machine,
        read_machine,
        read_penalties,
        with_penalties,
    )

    penalties = (
        penalties_of_machine(read_machine(measured), reallocation_time=parameters.reallocation_time)
        if costs.penalties is None
        else read_penalties(measured)
    )
    with naming(measured):
        return with_penalties(parameters, penalties)


def contention(file: ContentionArgument, *, shown: ShownOptions) -> None:
    """Show how CPUs contend for locks.

    How often a lock is found taken and how much work is left, with one lock and with a lock for
    each CPU; also what several scans of all queues cost, and lists of free buffers. Measured
    values stand beside the model's.

    Example: dfopt model contention sohn-kim
    """
    show_or_draw("contention", file, shown)


def batching(
    file: BatchingArgument,
    *,
    granularity: Positive | None = None,
    check: bool = False,
    shown: ShownOptions,
) -> None:
    """Show what batches of fine-grained threads gain.

    Gains by granularity and process length, the largest batch that fits into the cache, and the
    choices of batches that miss least for each time that they wait.

    Example: dfopt model batching debattista

    Options
    -------
    granularity : G
        Integers of a thread, for misses against waiting; by default the model's first.
    check : --check
        Also count misses line by line, in a simulated cache.
    """
    show_or_draw("batching", file, shown, granularity=granularity, check=check)


def queueing(
    file: QueueingArgument, *, load: list[float] | None = None, shown: ShownOptions
) -> None:
    """Show between which response times the best policy lies.

    No policy that does not know service times is better than one queue without reloads. The best
    one is at least as good as partitions, and as a global queue with reloads. Also: at which loads
    the global queue beats partitions, and what programs lose that share a cache.

    Example: dfopt model queueing short-jobs --load 0.5 --load 0.9

    Options
    -------
    load : X
        Share of the CPUs' time that jobs take without reloads, below 1; may be given several times.
    """
    show_or_draw("queueing", file, shown, load=load)


def counters(
    file: CountersArgument,
    *,
    samples: SampleOptions,
    mean: Literal["total", "dispatches"] = "total",
    output: str | None = None,
    made: MadeInstanceOptions,
    as_json: JsonOption = False,
    formula: FormulaOption = None,
) -> None:
    """Show what counters at switches say of task types.

    That is how fast they run, and what they cost each other. From samples: instructions per cycle
    and cache misses by CPU, type, predecessor and slice length, and a penalty for each pair of task
    types with its standard error. A model of counters has the pairs already.

    Example: dfopt model counters ziemba --instance web.json --resolution 100

    Options
    -------
    mean : total|dispatches
        Average instructions per cycle over all cycles, or over dispatches.
    output : -o FILE
        Write the model to a TOML file; or draw a picture, if the name ends in .svg, .png or .pdf.
    """
    from dfopt.files import write_instance
    from dfopt_models.counters import COUNTERS, counters_instance

    if output is not None and output.endswith(PICTURES):
        draw_counters(file, output, samples)
        return
    written = {"the model": output, "the instance": made.instance}
    for target in written.values():
        check_output(target, file)
    with naming(file):
        model, figures = read_counters(file, samples, mean)
        if made.instance is not None:
            options = asdict(made)
            del options["instance"]
            write_instance(counters_instance(model, **options), made.instance)
    if output is not None:
        COUNTERS.write(model, output)
    show("counters", file, model, as_json=as_json, figures=figures)
    for what, path in written.items():
        if path is not None and not as_json:
            say(f"dfopt: {what} is in {path}")


def show_or_draw(name: str, file: str, shown: ShownOptions, **options: Any) -> None:
    """Print what a model says of the parameters in a file, or draw them if there is an output."""
    from dfopt_models.model import model_named

    if shown.output is not None:
        draw_model(name, file, shown.output)
        return
    with naming(file):
        parameters = model_named(name).read(file)
    show(name, file, parameters, as_json=shown.as_json, **options)


def show(name: str, file: str, parameters: Any, *, as_json: bool, **options: Any) -> None:
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
    file: str, samples: SampleOptions, mean: Literal["total", "dispatches"] = "total"
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
        if given(samples):
            raise BadParameter("a model has no samples; --long and --cpu are for samples")
        return COUNTERS.read(file), None
    dispatches = counted_dispatches(read_samples(file), cpus=samples.cpu or None)
    long_ns = (
        long_threshold(dispatches) if samples.long is None else round(samples.long * NS_PER_MS)
    )
    model = counters_model(
        dispatches, long_ns=long_ns, name=parameter_name(file).removesuffix(".csv"), mean=Mean(mean)
    )
    return model, counter_figures(dispatches, long_ns=long_ns)


def draw_counters(file: str, output: str, samples: SampleOptions, *, warm_up: bool = False) -> None:
    """Draw what a file says of task types, or the warm-up of its first thread type."""
    from dfopt_models.plot import plot_counters, plot_warm_up

    def drawn() -> Any:
        with naming(file):
            model, _ = read_counters(file, samples)
            if warm_up and not model.warm_up:
                problem = "has no warm-up to draw; add [[warm_up]] to a model"
                raise ModelError(problem, place="warm_up")
        return plot_warm_up(model.warm_up[0]) if warm_up else plot_counters(model)

    save_drawn(drawn, output, file)
