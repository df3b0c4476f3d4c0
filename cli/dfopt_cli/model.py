"""``dfopt model``: what the analytic models say."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typer import BadParameter, Context, Exit, Option

from dfopt import Objective
from dfopt_cli.failures import naming
from dfopt_cli.model_files import (
    BatchingArgument,
    ContentionArgument,
    CountersArgument,
    CpuOption,
    LongOption,
    PathOption,
    QueueingArgument,
    ResponseArgument,
    draw_counters,
    draw_crossovers,
    draw_model,
    read_counters,
)
from dfopt_cli.options import INSTANCE, HeadedCommand, JsonOption
from dfopt_cli.printing import check_output, print_json, print_tables, print_text, say
from dfopt_models.growth import GrowthPath

PICTURES = (".svg", ".png", ".pdf")

Writing = Literal["text", "latex"]
"""The ways to write formulas."""


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

ModelPictureOption = Annotated[
    str | None,
    Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Draw a picture instead; the name ends in .svg, .png or .pdf.",
    ),
]

PenaltiesOption = Annotated[
    str | None,
    Option(
        metavar="FILE",
        help="Take what reallocations cost from this dfopt-penalties/1, not from the model.",
    ),
]

MachineOption = Annotated[
    str | None,
    Option(
        metavar="FILE",
        help="Take it from this dfopt-machine/1: without affinity the whole cache is read anew.",
    ),
]

Machines = Annotated[
    list[float] | None,
    Option(metavar="X", help="Relative to today; may be given several times."),
]


def response_time(
    file: ResponseArgument,
    *,
    speed: Machines = None,
    cache: Machines = None,
    penalties: PenaltiesOption = None,
    machine: MachineOption = None,
    as_json: JsonOption = False,
    formula: FormulaOption = None,
) -> None:
    """Show response times of jobs, today and on other machines.

    For every policy: its response time, also relative to the baseline, how much of it perfect
    affinity or no waste would save, and how many reallocations it can afford. The first --speed
    goes with the first --cache, and so on; a value that is left out is 1.

    Example: dfopt model response-time mix-5 --speed 4 --cache 4
    """
    parameters = model_with_costs(file, penalties, machine)
    show("response-time", file, parameters, as_json=as_json, speed=speed, cache=cache)


def crossover(
    file: ResponseArgument,
    *,
    path: PathOption = GrowthPath.EQUAL,
    penalties: PenaltiesOption = None,
    machine: MachineOption = None,
    as_json: JsonOption = False,
    output: ModelPictureOption = None,
    formula: FormulaOption = None,
) -> None:
    """Show where a policy becomes as fast as the baseline.

    A machine is described by the product of its speed and its cache, both relative to today's.

    Example: dfopt model crossover mix-5 --path limit
    """
    if output is not None:
        draw_crossovers([file], output, path)
        return
    parameters = model_with_costs(file, penalties, machine)
    show("crossover", file, parameters, as_json=as_json, path=path)


def model_with_costs(file: str, penalties: str | None, machine: str | None) -> Any:
    """Return a model, with measured costs of reallocations where a file has them."""
    from dfopt_models.response_time import RESPONSE_TIME

    if penalties is not None and machine is not None:
        raise BadParameter("give --penalties or --machine, not both")
    parameters = RESPONSE_TIME.read(file)
    measured = penalties or machine
    if measured is None:
        return parameters
    from dfopt_models.measure import (
        penalties_of_machine,
        read_machine,
        read_penalties,
        with_penalties,
    )

    costs = (
        penalties_of_machine(read_machine(measured), reallocation_time=parameters.reallocation_time)
        if penalties is None
        else read_penalties(measured)
    )
    with naming(measured):
        return with_penalties(parameters, costs)


def contention(
    file: ContentionArgument,
    *,
    as_json: JsonOption = False,
    output: ModelPictureOption = None,
    formula: FormulaOption = None,
) -> None:
    """Show how CPUs contend for locks.

    How often a lock is found taken and how much work is left, with one lock and with a lock for
    each CPU; also what several scans of all queues cost, and lists of free buffers. Measured
    values stand beside the model's.

    Example: dfopt model contention sohn-kim
    """
    show_or_draw("contention", file, output, as_json=as_json)


def batching(
    file: BatchingArgument,
    *,
    granularity: Annotated[
        int | None,
        Option(
            min=1,
            metavar="G",
            help="Integers of a thread, for misses against waiting; by default the model's first.",
        ),
    ] = None,
    check: Annotated[
        bool, Option("--check", help="Also count misses line by line, in a simulated cache.")
    ] = False,
    as_json: JsonOption = False,
    output: ModelPictureOption = None,
    formula: FormulaOption = None,
) -> None:
    """Show what batches of fine-grained threads gain.

    Gains by granularity and process length, the largest batch that fits into the cache, and the
    choices of batches that miss least for each time that they wait.

    Example: dfopt model batching debattista
    """
    show_or_draw("batching", file, output, as_json=as_json, granularity=granularity, check=check)


def queueing(
    file: QueueingArgument,
    *,
    load: Annotated[
        list[float] | None,
        Option(
            metavar="X",
            help="Share of the CPUs' time that jobs take without reloads, below 1; may be given "
            "several times.",
        ),
    ] = None,
    as_json: JsonOption = False,
    output: ModelPictureOption = None,
    formula: FormulaOption = None,
) -> None:
    """Show between which response times the best policy lies.

    No policy that does not know service times is better than one queue without reloads. The best
    one is at least as good as partitions, and as a global queue with reloads. Also: at which loads
    the global queue beats partitions, and what programs lose that share a cache.

    Example: dfopt model queueing short-jobs --load 0.5 --load 0.9
    """
    show_or_draw("queueing", file, output, as_json=as_json, load=load)


def counters(
    file: CountersArgument,
    *,
    long: LongOption = None,
    cpu: CpuOption = None,
    mean: Annotated[
        Literal["total", "dispatches"],
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
    written = {"the model": output, "the instance": instance}
    for target in filter(None, written.values()):
        check_output(target, file)
    with naming(file):
        model, figures = read_counters(file, long=long, cpu=cpu, mean=mean)
        if instance is not None:
            made = counters_instance(
                model, tasks=tasks, cpus=cpus, objective=objective, resolution=resolution
            )
            write_instance(made, instance)
    if output is not None:
        COUNTERS.write(model, output)
    show("counters", file, model, as_json=as_json, figures=figures)
    for what, path in written.items():
        if path is not None and not as_json:
            say(f"dfopt: {what} is in {path}")


def show_or_draw(
    name: str, file: str, output: str | None, *, as_json: bool, **options: Any
) -> None:
    """Print what a model says of the parameters in a file, or draw them if there is an output."""
    from dfopt_models.model import model_named

    if output is not None:
        draw_model(name, file, output)
        return
    with naming(file):
        parameters = model_named(name).read(file)
    show(name, file, parameters, as_json=as_json, **options)


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
