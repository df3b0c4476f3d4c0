"""``dfopt generate``: random instances, one command per family, and adversaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from typer import BadParameter, Option

from dfopt import generate as families
from dfopt.errors import InstanceError
from dfopt.files import instance_to_document, write_instance
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt_cli.cost_options import PENALTIES
from dfopt_cli.options import COSTS, TASKS
from dfopt_cli.printing import print_json

Tasks = Annotated[int, Option("--tasks", min=1, help="Number of tasks.")]
Cpus = Annotated[int, Option("--cpus", min=1, help="Number of CPUs.")]
Fragments = Annotated[
    int,
    Option("--fragments", min=1, help="Number of data fragments, at most one for each task."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOptions:
    """Options about the switch costs, and about what each task draws."""

    penalty: Annotated[
        Literal["f", "lines", "g", "whole"],
        Option(
            help="f or lines: every task reads lines of its own; g or whole: a change of fragment "
            "fills the cache.",
            rich_help_panel=COSTS,
        ),
    ] = "f"
    read_line: Annotated[
        int | None,
        Option(min=0, help="Time to read one line (f).  [default: 1]", rich_help_panel=COSTS),
    ] = None
    fill: Annotated[
        int | None,
        Option(min=0, help="Time to fill the cache (g).  [default: 40]", rich_help_panel=COSTS),
    ] = None
    write_back: Annotated[
        int, Option(min=0, help="Time to write the cache back.", rich_help_panel=COSTS)
    ] = 20
    lines: Annotated[
        int,
        Option(
            min=1,
            help="The lines that a task reads are drawn uniformly from 1 to this (f).",
            rich_help_panel=COSTS,
        ),
    ] = 40
    leaves: Annotated[
        str,
        Option(
            metavar="C,D,I",
            help="Probabilities that a task leaves its fragment clean, dirty, invalidated (f).",
            rich_help_panel=COSTS,
        ),
    ] = "0.5,0.2,0.3"

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a family that the options say."""
        return {"penalty": self._penalty(), "lines": self.lines, "leaves": self._chances()}

    def _penalty(self) -> PenaltyF | PenaltyG:
        if PENALTIES[self.penalty] == "f":
            if self.fill is not None:
                raise InstanceError("counts with --penalty g only", place="fill")
            read_line = 1 if self.read_line is None else self.read_line
            return PenaltyF(read_line=read_line, write_back=self.write_back)
        if self.read_line is not None:
            raise InstanceError("counts with --penalty f only", place="read_line")
        return PenaltyG(fill=40 if self.fill is None else self.fill, write_back=self.write_back)

    def _chances(self) -> tuple[float, float, float]:
        try:
            clean, dirty, invalidated = (float(part) for part in self.leaves.split(","))
        except ValueError:
            problem = f"must be three numbers such as 0.5,0.2,0.3, not {self.leaves!r}"
            raise InstanceError(problem, place="leaves") from None
        return clean, dirty, invalidated


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceOptions:
    """Options that every family has, and the file to write."""

    exec: Annotated[
        int,
        Option(
            min=0,
            help="Execution times are drawn uniformly from 1 to this; 0 gives every task 0.",
            rich_help_panel=TASKS,
        ),
    ] = 0
    size: Annotated[
        int,
        Option(
            min=1, help="Sizes of tasks are drawn uniformly from 1 to this.", rich_help_panel=TASKS
        ),
    ] = 1
    capacity: Annotated[
        str,
        Option(
            metavar="balanced|unlimited|N",
            help="Largest number of tasks on a CPU, or largest sum of their sizes; balanced: an "
            "even share, rounded up.",
            rich_help_panel=TASKS,
        ),
    ] = "balanced"
    objective: Annotated[Objective, Option(help="What to minimise.", rich_help_panel=TASKS)] = (
        Objective.MAX_PENALTY
    )
    cold_start: Annotated[
        bool,
        Option(
            "--cold-start",
            help="The first task of a CPU pays for loading its data.",
            rich_help_panel=COSTS,
        ),
    ] = False
    final_write_back: Annotated[
        bool,
        Option(
            "--final-write-back",
            help="The last task of a CPU pays for writing back.",
            rich_help_panel=COSTS,
        ),
    ] = False
    seed: Annotated[int, Option(min=0, help="The same seed gives the same instance.")] = 0
    output: Annotated[
        str,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the instance; - is standard output.",
        ),
    ] = "-"

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a family that the options say."""
        return {
            "exec": self.exec,
            "size": self.size,
            "capacity": self._capacity(),
            "objective": self.objective,
            "cold_start": self.cold_start,
            "final_write_back": self.final_write_back,
            "seed": self.seed,
        }

    def _capacity(self) -> int | str:
        if self.capacity in ("balanced", "unlimited"):
            return self.capacity
        try:
            return int(self.capacity)
        except ValueError:
            problem = f"must be balanced, unlimited or a number, not {self.capacity!r}"
            raise InstanceError(problem, place="capacity") from None


def zipf(
    *,
    tasks: Tasks,
    cpus: Cpus,
    fragments: Fragments,
    skew: Annotated[float, Option("--skew", min=0, help="Exponent of the weights.")] = 1.0,
    drawn: DrawOptions,
    instance: InstanceOptions,
) -> None:
    """Give most of the tasks to a few fragments.

    Every fragment is used once; then the fragments of the remaining tasks are drawn, the one of
    rank r with probability proportional to 1/r^skew.

    Example: dfopt generate zipf --tasks 40 --cpus 4 --fragments 10 -o zipf.json
    """
    write(families.zipf, instance, drawn, tasks=tasks, cpus=cpus, fragments=fragments, skew=skew)


def uniform(
    *,
    tasks: Tasks,
    cpus: Cpus,
    fragments: Fragments,
    drawn: DrawOptions,
    instance: InstanceOptions,
) -> None:
    """Give all fragments about as many tasks.

    Every fragment is used once; then the fragments of the remaining tasks are drawn, all equally
    likely.

    Example: dfopt generate uniform --tasks 40 --cpus 4 --fragments 10 -o uniform.json
    """
    write(families.uniform, instance, drawn, tasks=tasks, cpus=cpus, fragments=fragments)


def tight(
    *,
    cpus: Cpus,
    per_cpu: Annotated[int, Option("--per-cpu", min=1, help="Number of tasks for each CPU.")],
    fragments: Fragments,
    drawn: DrawOptions = DrawOptions(penalty="g"),
    instance: InstanceOptions,
) -> None:
    """Leave no slack: the fragments hardly fit.

    A row of tasks, the same number for each CPU, is cut into fragments at random places.

    Example: dfopt generate tight --cpus 4 --per-cpu 10 --fragments 9 -o tight.json
    """
    write(families.tight, instance, drawn, cpus=cpus, per_cpu=per_cpu, fragments=fragments)


def matrix(
    *,
    tasks: Tasks,
    cpus: Cpus,
    types: Annotated[int, Option("--types", min=1, help="Number of task types.")],
    largest: Annotated[int, Option("--largest", min=1, help="Largest switch cost.")] = 40,
    triangle: Annotated[
        bool,
        Option("--triangle", help="Make sure that a detour through a third type never costs less."),
    ] = False,
    instance: InstanceOptions,
) -> None:
    """Draw a random table of switch costs.

    It has a cost for each pair of task types. The table is not symmetric, and its diagonal is
    small. With --cold-start it has costs for the first task of a CPU too, with --final-write-back
    for the last one.

    Example: dfopt generate matrix --tasks 12 --cpus 3 --types 4 --triangle -o matrix.json
    """
    write(
        families.matrix,
        instance,
        tasks=tasks,
        cpus=cpus,
        types=types,
        largest=largest,
        triangle=triangle,
    )


def write(
    family: Callable[..., Instance],
    instance: InstanceOptions,
    drawn: DrawOptions | None = None,
    **size: object,
) -> None:
    """Draw an instance and write it; a parameter that is refused is wrong usage of its option."""
    try:
        parameters = {} if drawn is None else drawn.parameters()
        made = family(**size, **parameters, **instance.parameters())
    except InstanceError as error:
        option = f"--{error.place.replace('_', '-')}"
        raise BadParameter(error.problem, param_hint=option) from None
    if instance.output == "-":
        print_json(instance_to_document(made))
    else:
        write_instance(made, instance.output)
