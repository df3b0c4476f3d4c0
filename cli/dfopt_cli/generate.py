"""``dfopt generate``: random instances, one command per family."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dfopt.errors import InstanceError
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt_cli.common import print_json

if TYPE_CHECKING:
    from dfopt.problem.instance import Instance

app = typer.Typer(no_args_is_help=True)

Tasks = Annotated[int, typer.Option("--tasks", min=1, help="Number of tasks.")]
Cpus = Annotated[int, typer.Option("--cpus", min=1, help="Number of CPUs.")]
Fragments = Annotated[
    int, typer.Option("--fragments", min=1, help="Number of data fragments, at most one a task.")
]
PenaltyKind = Annotated[
    Literal["f", "g"],
    typer.Option(
        "--penalty",
        help="f: every task reads lines of its own; g: a change of fragment fills the cache.",
    ),
]
ReadLine = Annotated[
    int | None,
    typer.Option("--read-line", min=0, help="Time to read one line (f).  [default: 1]"),
]
Fill = Annotated[
    int | None,
    typer.Option("--fill", min=0, help="Time to fill the cache (g).  [default: 40]"),
]
WriteBack = Annotated[
    int, typer.Option("--write-back", min=0, help="Time to write the cache back.")
]
Lines = Annotated[
    int, typer.Option("--lines", min=1, help="A task reads 1 to this many lines, uniformly (f).")
]
LeavesChances = Annotated[
    str,
    typer.Option(
        "--leaves",
        metavar="C,D,I",
        help="Probabilities that a task leaves its fragment clean, dirty, invalidated (f).",
    ),
]
Exec = Annotated[
    int,
    typer.Option(
        "--exec", min=0, help="Execution times are 1 to this, uniformly; 0 gives every task 0."
    ),
]
Capacity = Annotated[
    str,
    typer.Option(
        "--capacity",
        metavar="balanced|unlimited|N",
        help="Most tasks a CPU may hold; balanced: tasks/cpus, rounded up.",
    ),
]
ObjectiveChoice = Annotated[Objective, typer.Option("--objective", help="What is minimised.")]
ColdStart = Annotated[
    bool, typer.Option("--cold-start", help="The first task of a CPU pays for loading its data.")
]
FinalWriteBack = Annotated[
    bool,
    typer.Option("--final-write-back", help="The last task of a CPU pays for writing back."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same instance.")]
Output = Annotated[
    str,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Where to write the instance; - is standard output."
    ),
]


@app.command()
def zipf(
    *,
    tasks: Tasks,
    cpus: Cpus,
    fragments: Fragments,
    skew: Annotated[float, typer.Option("--skew", min=0, help="Exponent of the weights.")] = 1.0,
    penalty: PenaltyKind = "f",
    read_line: ReadLine = None,
    fill: Fill = None,
    write_back: WriteBack = 20,
    lines: Lines = 40,
    leaves: LeavesChances = "0.5,0.2,0.3",
    exec: Exec = 0,
    capacity: Capacity = "balanced",
    objective: ObjectiveChoice = Objective.MAX_PENALTY,
    cold_start: ColdStart = False,
    final_write_back: FinalWriteBack = False,
    seed: Seed = 0,
    output: Output = "-",
) -> None:
    """Give most of the tasks to a few fragments.

    Every fragment is used once; then the fragments of the remaining tasks are drawn, the one of
    rank r with probability proportional to 1/r^skew.

    Example: dfopt generate zipf --tasks 40 --cpus 4 --fragments 10 -o zipf.json
    """
    from dfopt import generate

    with usage_errors():
        instance = generate.zipf(
            tasks=tasks,
            cpus=cpus,
            fragments=fragments,
            skew=skew,
            penalty=penalty_from(penalty, read_line, fill, write_back),
            lines=lines,
            leaves=chances_from(leaves),
            exec=exec,
            capacity=capacity_from(capacity),
            objective=objective,
            cold_start=cold_start,
            final_write_back=final_write_back,
            seed=seed,
        )
    deliver(instance, output)


@app.command()
def uniform(
    *,
    tasks: Tasks,
    cpus: Cpus,
    fragments: Fragments,
    penalty: PenaltyKind = "f",
    read_line: ReadLine = None,
    fill: Fill = None,
    write_back: WriteBack = 20,
    lines: Lines = 40,
    leaves: LeavesChances = "0.5,0.2,0.3",
    exec: Exec = 0,
    capacity: Capacity = "balanced",
    objective: ObjectiveChoice = Objective.MAX_PENALTY,
    cold_start: ColdStart = False,
    final_write_back: FinalWriteBack = False,
    seed: Seed = 0,
    output: Output = "-",
) -> None:
    """Give all fragments about as many tasks.

    Every fragment is used once; then the fragments of the remaining tasks are drawn, all equally
    likely.

    Example: dfopt generate uniform --tasks 40 --cpus 4 --fragments 10 -o uniform.json
    """
    from dfopt import generate

    with usage_errors():
        instance = generate.uniform(
            tasks=tasks,
            cpus=cpus,
            fragments=fragments,
            penalty=penalty_from(penalty, read_line, fill, write_back),
            lines=lines,
            leaves=chances_from(leaves),
            exec=exec,
            capacity=capacity_from(capacity),
            objective=objective,
            cold_start=cold_start,
            final_write_back=final_write_back,
            seed=seed,
        )
    deliver(instance, output)


@app.command()
def tight(
    *,
    cpus: Cpus,
    per_cpu: Annotated[int, typer.Option("--per-cpu", min=1, help="Number of tasks a CPU.")],
    fragments: Fragments,
    penalty: PenaltyKind = "g",
    read_line: ReadLine = None,
    fill: Fill = None,
    write_back: WriteBack = 20,
    lines: Lines = 40,
    leaves: LeavesChances = "0.5,0.2,0.3",
    exec: Exec = 0,
    capacity: Capacity = "balanced",
    objective: ObjectiveChoice = Objective.MAX_PENALTY,
    cold_start: ColdStart = False,
    final_write_back: FinalWriteBack = False,
    seed: Seed = 0,
    output: Output = "-",
) -> None:
    """Leave no slack: next to nothing fits evenly.

    Tasks in a row, as many on every CPU, are cut into fragments at random places.

    Example: dfopt generate tight --cpus 4 --per-cpu 10 --fragments 9 -o tight.json
    """
    from dfopt import generate

    with usage_errors():
        instance = generate.tight(
            cpus=cpus,
            per_cpu=per_cpu,
            fragments=fragments,
            penalty=penalty_from(penalty, read_line, fill, write_back),
            lines=lines,
            leaves=chances_from(leaves),
            exec=exec,
            capacity=capacity_from(capacity),
            objective=objective,
            cold_start=cold_start,
            final_write_back=final_write_back,
            seed=seed,
        )
    deliver(instance, output)


@app.command()
def matrix(
    *,
    tasks: Tasks,
    cpus: Cpus,
    types: Annotated[int, typer.Option("--types", min=1, help="Number of task types.")],
    largest: Annotated[int, typer.Option("--largest", min=1, help="Largest switch cost.")] = 40,
    triangle: Annotated[
        bool,
        typer.Option("--triangle", help="Make sure that passing through a third type never pays."),
    ] = False,
    exec: Exec = 0,
    capacity: Capacity = "balanced",
    objective: ObjectiveChoice = Objective.MAX_PENALTY,
    cold_start: ColdStart = False,
    final_write_back: FinalWriteBack = False,
    seed: Seed = 0,
    output: Output = "-",
) -> None:
    """Draw a random switch table over task types.

    The table is not symmetric and small on its diagonal. With --cold-start it has a row for the
    first task of a CPU, with --final-write-back one for the last.

    Example: dfopt generate matrix --tasks 12 --cpus 3 --types 4 --triangle -o matrix.json
    """
    from dfopt import generate

    with usage_errors():
        instance = generate.matrix(
            tasks=tasks,
            cpus=cpus,
            types=types,
            largest=largest,
            triangle=triangle,
            exec=exec,
            capacity=capacity_from(capacity),
            objective=objective,
            cold_start=cold_start,
            final_write_back=final_write_back,
            seed=seed,
        )
    deliver(instance, output)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Report a parameter that its family refuses as wrong usage of the option of that name."""
    try:
        yield
    except InstanceError as error:
        raise wrong_option(error.place.replace("_", "-"), error.problem) from None


def wrong_option(name: str, problem: str) -> typer.BadParameter:
    """Return the error that ends the command with exit code 2."""
    return typer.BadParameter(problem, param_hint=f"--{name}")


def penalty_from(
    kind: Literal["f", "g"], read_line: int | None, fill: int | None, write_back: int
) -> PenaltyF | PenaltyG:
    """Return the penalty that the options describe."""
    if kind == "f":
        if fill is not None:
            raise wrong_option("fill", "counts with --penalty g only")
        return PenaltyF(read_line=1 if read_line is None else read_line, write_back=write_back)
    if read_line is not None:
        raise wrong_option("read-line", "counts with --penalty f only")
    return PenaltyG(fill=40 if fill is None else fill, write_back=write_back)


def chances_from(text: str) -> tuple[float, float, float]:
    """Return the three probabilities in a text such as ``0.5,0.2,0.3``."""
    try:
        clean, dirty, invalidated = (float(part) for part in text.split(","))
    except ValueError:
        raise wrong_option(
            "leaves", f"must be three numbers such as 0.5,0.2,0.3, not {text!r}"
        ) from None
    return clean, dirty, invalidated


def capacity_from(text: str) -> int | Literal["balanced", "unlimited"]:
    """Return the capacity that a text names."""
    if text == "balanced":
        return "balanced"
    if text == "unlimited":
        return "unlimited"
    try:
        return int(text)
    except ValueError:
        raise wrong_option(
            "capacity", f"must be balanced, unlimited or a number, not {text!r}"
        ) from None


def deliver(instance: Instance, output: str) -> None:
    """Write the instance to a file, or to standard output."""
    from dfopt.files import instance_to_document, write_instance

    if output == "-":
        print_json(instance_to_document(instance))
    else:
        write_instance(instance, output)
