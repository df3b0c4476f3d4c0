"""Options about switch costs that the commands about traces share, and their meaning."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dfopt.files import read_instance
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Objective
from dfopt_cli.failures import naming, parsed, usage

if TYPE_CHECKING:
    from dfopt.compare.cost_model_choice import ModelChoice

PENALTIES: dict[str, Literal["f", "g", "matrix"]] = {
    "f": "f",
    "lines": "f",
    "g": "g",
    "whole": "g",
    "matrix": "matrix",
    "table": "matrix",
}
"""The words for penalties on the command line, with the names of the penalties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostOptions:
    """Options about switch costs."""

    penalty: Annotated[
        Literal["f", "lines", "g", "whole", "matrix", "table"] | None,
        typer.Option(
            show_default=False,
            help="f or lines: lines are read one by one; g or whole: the whole cache at every "
            "change of fragment; matrix or table: by type, as in the trace's header or the "
            "instance of --model. By default it follows from the costs that are given.",
        ),
    ] = None
    fill: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="g: time to fill the cache (T_r).", show_default=False
        ),
    ] = None
    read_line: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="f: time to read a line (t_r).", show_default=False),
    ] = None
    write_back: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="f, g: time to write the cache back (T_w).",
            show_default=False,
        ),
    ] = None
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="f, g: take t_r, T_w and T_r from this dfopt-machine/1 where they are not given; "
            "for traces in nanoseconds.",
            show_default=False,
        ),
    ] = None
    penalties: Annotated[
        str | None,
        typer.Option(
            metavar="[JOB=]FILE",
            help="g: take T_r from a job of this dfopt-penalties/1, its path length and its "
            "penalty without affinity after its longest quantum; for traces in nanoseconds.",
            show_default=False,
        ),
    ] = None
    lines: Annotated[
        str | None,
        typer.Option(
            metavar="N|runtime:N",
            show_default=False,
            help="f: lines that a dispatch reads if the trace does not say; with runtime: at most "
            "what it had time for.",
        ),
    ] = None
    leaves: Annotated[
        Literal["clean", "dirty", "invalidated"] | None,
        typer.Option(
            help="f: how a dispatch leaves its fragment if the trace does not say; "
            "by default dirty.",
            show_default=False,
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            metavar="INSTANCE",
            show_default=False,
            help="Take penalty, objective and flags from this instance. By default they are the "
            "trace's own; without any, every change of fragment costs 1.",
        ),
    ] = None
    cold_start: Annotated[
        bool | None,
        typer.Option(
            "--cold-start/--no-cold-start",
            help="Whether the first dispatch on a CPU pays for loading its fragment.",
            show_default=False,
        ),
    ] = None

    def penalty_name(self) -> Literal["f", "g", "matrix"] | None:
        """Return the name of the penalty; None if none is given."""
        return None if self.penalty is None else PENALTIES[self.penalty]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions(CostOptions):
    """Options about switch costs and about what is minimised."""

    objective: Annotated[
        Literal["total-penalty", "max-penalty", "makespan"] | None,
        typer.Option(help="What to minimise (makespan: for instances only).", show_default=False),
    ] = None
    final_write_back: Annotated[
        bool | None,
        typer.Option(
            "--final-write-back/--no-final-write-back",
            help="Whether the last dispatch on a CPU pays for what it left dirty.",
            show_default=False,
        ),
    ] = None
    capacity: Annotated[
        str | None,
        typer.Option(
            metavar="observed|balanced|unlimited|N",
            show_default=False,
            help="Largest number of dispatches on a CPU in a window; observed (the default): the "
            "largest number that the trace ran on one CPU.",
        ),
    ] = None
    unmanaged: Annotated[
        Literal["transparent", "evict"],
        typer.Option(
            help="What a task without a fragment does: leave the cache alone, or evict its content."
        ),
    ] = "transparent"
    broken_chains: Annotated[
        Literal["bridge", "cut"],
        typer.Option(
            help="Where the trace lacks a switch: bridge the gap, or cut the window there."
        ),
    ] = "bridge"


def model_choice(options: CostOptions) -> ModelChoice:
    """Return what the options ask of the model; contradictions are wrong usage."""
    from dfopt.compare.cost_model_choice import ModelChoice, parse_capacity, parse_lines

    is_measured = options.machine is not None or options.penalties is not None
    options = with_penalties(with_machine(options))
    values = asdict(options)
    for name in ("machine", "penalties", "model"):
        del values[name]
    values["penalty"] = options.penalty_name()
    if options.lines is not None:
        lines = parsed(parse_lines, options.lines, "--lines")
        values["lines"], values["lines_by_run_time"] = lines or (None, False)
    if options.leaves is not None:
        values["leaves"] = Leaves(options.leaves)
    if isinstance(options, ModelOptions):
        values["capacity"] = parsed(parse_capacity, options.capacity, "--capacity")
        if options.objective is not None:
            values["objective"] = Objective(options.objective)
    if options.model is not None:
        with naming(options.model):
            values["instance"] = read_instance(options.model)
    return usage(lambda: ModelChoice(**values, time_unit="ns" if is_measured else None))


def with_machine(options: CostOptions) -> CostOptions:
    """Return the options with a machine's costs where none are given."""
    if options.machine is None:
        return options
    if options.penalty_name() == "matrix":
        raise typer.BadParameter("--machine is for the penalties f and g")
    from dfopt_models.measure import read_machine

    with naming(options.machine):
        read_line, write_back, fill = read_machine(options.machine).in_nanoseconds()
    if options.write_back is None:
        options = replace(options, write_back=write_back)
    if options.penalty_name() == "g" or options.fill is not None:
        return replace(options, fill=fill) if options.fill is None else options
    return replace(options, read_line=read_line) if options.read_line is None else options


def with_penalties(options: CostOptions) -> CostOptions:
    """Return the options with a job's measured penalty where no other is given."""
    if options.penalties is None:
        return options
    if options.penalty_name() not in (None, "g"):
        raise typer.BadParameter("--penalties is for the penalty g")
    from dfopt_models.measure import read_penalties
    from dfopt_models.measure.model_with_penalties import time_to_fill

    job, equals, file = options.penalties.partition("=")
    if not equals or "/" in job:
        job, file = "", options.penalties
    costs = read_penalties(file)
    with naming(file):
        fill = time_to_fill(costs, job or None)
    return replace(
        options,
        penalty="g",
        fill=fill if options.fill is None else options.fill,
        write_back=0 if options.write_back is None else options.write_back,
    )
