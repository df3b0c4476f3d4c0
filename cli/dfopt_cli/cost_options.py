"""Options about switch costs that the commands about traces share, and their meaning."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import BadParameter

from dfopt.files import read_instance
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.structs import Natural
from dfopt_cli.failures import naming, usage
from dfopt_cli.options import read_by

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
    """Options about switch costs.

    What switches cost
    ------------------
    penalty
        f or lines: lines are read one by one; g or whole: the whole cache at every change of
        fragment; matrix or table: by type, as in the trace's header or the instance of --model. By
        default it follows from the costs that are given.
    fill : N
        g: time to fill the cache (T_r).
    read_line : N
        f: time to read a line (t_r).
    write_back : N
        f, g: time to write the cache back (T_w).
    machine : FILE
        f, g: take t_r, T_w and T_r from this dfopt-machine/1 where they are not given; for traces
        in nanoseconds.
    penalties : [JOB=]FILE
        g: take T_r from a job of this dfopt-penalties/1, its path length and its penalty without
        affinity after its longest quantum; for traces in nanoseconds.
    lines : N|runtime:N
        f: lines that a dispatch reads if the trace does not say; with runtime: at most what it had
        time for.
    leaves
        f: how a dispatch leaves its fragment if the trace does not say; by default dirty.
    model : INSTANCE
        Take penalty, objective and flags from this instance. By default they are the trace's own;
        without any, every change of fragment costs 1.
    cold_start
        Whether the first dispatch on a CPU pays for loading its fragment.
    """

    penalty: Literal["f", "lines", "g", "whole", "matrix", "table"] | None = None
    fill: Natural | None = None
    read_line: Natural | None = None
    write_back: Natural | None = None
    machine: str | None = None
    penalties: str | None = None
    lines: Annotated[Any, read_by("dfopt.compare.cost_model_choice:parse_lines")] = None
    leaves: Leaves | None = None
    model: str | None = None
    cold_start: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions(CostOptions):
    """Options about switch costs and about what is minimised.

    What switches cost
    ------------------
    objective
        What to minimise (makespan: for instances only).
    final_write_back
        Whether the last dispatch on a CPU pays for what it left dirty.
    unmanaged
        What a task without a fragment does: leave the cache alone, or evict its content.

    Windows of dispatches
    ---------------------
    capacity : observed|balanced|unlimited|N
        Largest number of dispatches on a CPU in a window; observed (the default): the largest
        number that the trace ran on one CPU.
    broken_chains
        Where the trace lacks a switch: bridge the gap, or cut the window there.
    """

    objective: Objective | None = None
    final_write_back: bool | None = None
    capacity: Annotated[Any, read_by("dfopt.compare.cost_model_choice:parse_capacity")] = None
    unmanaged: Literal["transparent", "evict"] = "transparent"
    broken_chains: Literal["bridge", "cut"] = "bridge"


def model_choice(options: CostOptions) -> ModelChoice:
    """Return what the options ask of the model; contradictions are wrong usage."""
    from dfopt.compare.cost_model_choice import ModelChoice

    chosen = {name: value for name, value in asdict(options).items() if value is not None}
    if options.penalty is not None:
        chosen["penalty"] = PENALTIES[options.penalty]
    if options.lines is not None:
        chosen["lines"], chosen["lines_by_run_time"] = options.lines
    machine, penalties = chosen.pop("machine", None), chosen.pop("penalties", None)
    measured: dict[str, Any] = {}
    if machine or penalties:
        measured = measured_costs(chosen.get("penalty"), options.fill, machine, penalties)
    if options.model is not None:
        with naming(chosen.pop("model")):
            chosen["instance"] = read_instance(options.model)
    unit = "ns" if measured else None
    return usage(lambda: ModelChoice(**{**measured, **chosen}, time_unit=unit))


def measured_costs(
    penalty: str | None, fill: int | None, machine: str | None, penalties: str | None
) -> dict[str, Any]:
    """Return the costs in files of measurements, beside a penalty and a fill that are given."""
    from dfopt_models.measure import read_machine, read_penalties

    costs: dict[str, Any] = {}
    if penalties is not None:
        if penalty not in (None, "g"):
            raise BadParameter("--penalties is for the penalty g")
        job, equals, file = penalties.partition("=")
        if not equals or "/" in job:
            job, file = "", penalties
        measured = read_penalties(file)
        with naming(file):
            fills = measured.time_to_fill(job or None)
            costs = {"penalty": "g", "fill": fills, "write_back": 0}
    if machine is not None:
        if penalty == "matrix":
            raise BadParameter("--machine is for the penalties f and g")
        with naming(machine):
            read_line, write_back, full = read_machine(machine).in_nanoseconds()
        is_g = penalty == "g" or fill is not None
        costs |= {"write_back": write_back} | ({"fill": full} if is_g else {"read_line": read_line})
    return costs
