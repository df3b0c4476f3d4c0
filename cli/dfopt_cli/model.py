"""``dfopt model``: what the analytic models say."""

from __future__ import annotations

from typing import Annotated, Any

from typer import BadParameter, Option

from dfopt_cli.failures import naming
from dfopt_cli.formula_option import FormulaOption
from dfopt_cli.model_files import (
    BatchingArgument,
    ContentionArgument,
    ModelPictureOption,
    QueueingArgument,
    ResponseArgument,
    draw_crossovers,
    print_result,
    show,
)
from dfopt_cli.options import JsonOption, PathOption
from dfopt_models.growth import GrowthPath

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
    print_result("response-time", file, parameters, as_json=as_json, speed=speed, cache=cache)


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
    print_result("crossover", file, parameters, as_json=as_json, path=path)


def model_with_costs(file: str, penalties: str | None, machine: str | None) -> Any:
    """Return a model, with measured costs of reallocations where a file has them."""
    from dfopt_models.response_time import RESPONSE_TIME

    if penalties is not None and machine is not None:
        raise BadParameter("give --penalties or --machine, not both")
    parameters = RESPONSE_TIME.read(file)
    if penalties is None and machine is None:
        return parameters
    from dfopt_models.measure import (
        penalties_of_machine,
        read_machine,
        read_penalties,
        with_penalties,
    )

    if penalties is not None:
        costs = read_penalties(penalties)
        with naming(penalties):
            return with_penalties(parameters, costs)
    assert machine is not None
    costs = penalties_of_machine(
        read_machine(machine), reallocation_time=parameters.reallocation_time
    )
    with naming(machine):
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
    show("contention", file, as_json=as_json, output=output)


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
    show("batching", file, as_json=as_json, output=output, granularity=granularity, check=check)


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
    show("queueing", file, as_json=as_json, output=output, load=load)
