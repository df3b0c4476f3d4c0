"""``dfopt info``: what a file holds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dfopt_cli.common import JsonOption, naming, print_json, print_rich, printable
from dfopt_cli.spread import with_spread_options
from dfopt_cli.trace_options import LabelOptions

if TYPE_CHECKING:
    from rich.table import Table

    from dfopt.problem.cache_state import CacheState
    from dfopt.problem.instance import Instance
    from dfopt.problem.penalties import Penalty

LARGEST_SHOWN = 10
"""How many fragments the table lists; the JSON document has them all."""

SHOWN_ELSEWHERE = {
    "dfopt-result/1": "is a result; 'dfopt verify' and 'dfopt plot schedule' take it, behind its "
    "instance",
    "dfopt-comparison/1": "is a comparison; 'dfopt plot gap' and 'dfopt plot foresight' draw it",
    "dfopt-scenario/1": "is a scenario; 'dfopt simulate run-queue' takes it",
    "dfopt-mix/1": "is a mix of jobs; 'dfopt simulate space-sharing' takes it",
    "dfopt-response-model/1": "is a response-time model; 'dfopt model' and 'dfopt plot crossover' "
    "take it",
}
"""Files that are neither instance nor trace."""


@with_spread_options
def info(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="An instance, or a trace of any kind; it may be gzipped, and - is standard input.",
            show_default=False,
        ),
    ],
    *,
    labels: LabelOptions,
    as_json: JsonOption = False,
) -> None:
    """Show what a file holds: an instance or a trace.

    The options about labels are for traces.

    Example: dfopt info instances/hackbench-4-groups-100.json
    """
    from dfopt.errors import FileError
    from dfopt.files import read_instance
    from dfopt.files.kinds import document_format, may_be_trace, toml_format
    from dfopt_cli.info_trace import show_trace

    with naming(file):
        kind = document_format(file) or toml_format(file)
        if may_be_trace(kind):
            show_trace(file, labels, as_json=as_json)
            return
        if kind in SHOWN_ELSEWHERE:
            raise FileError(SHOWN_ELSEWHERE[kind])
        if labels != LabelOptions():
            raise typer.BadParameter("options about labels are for traces")
        summary = instance_summary(read_instance(file))
    if as_json:
        print_json(summary)
    else:
        print_rich(figures(summary), "", largest_groups(summary))


def instance_summary(instance: Instance) -> dict[str, Any]:
    """Return what there is to say about an instance, as a ``dfopt-info/1`` document."""
    from dfopt.costs.task_types import task_types
    from dfopt.files import fingerprint
    from dfopt.problem.cache_state import Leaves
    from dfopt.problem.instance import Objective
    from dfopt.problem.penalties import PenaltyF, PenaltyMatrix

    group = "type" if isinstance(instance.penalty, PenaltyMatrix) else "df"
    sizes: Counter[str] = Counter()
    leaves: Counter[Leaves] = Counter()
    for task in instance.tasks:
        sizes[getattr(task, group)] += task.multiplicity
        leaves[task.leaves] += task.multiplicity
    count = instance.task_count
    groups = [
        {group: name, "tasks": size, "share": round(size / count, 6)}
        for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    ]
    return {
        "format": "dfopt-info/1",
        "kind": "instance",
        "name": instance.name,
        "description": instance.description,
        "source": instance.source,
        "time_unit": instance.time_unit,
        "sha256": fingerprint(instance),
        "objective": str(instance.objective),
        "penalty": penalty_summary(instance.penalty),
        "cold_start": instance.cold_start,
        "final_write_back": instance.final_write_back,
        "cpus": instance.cpus,
        "capacity": instance.capacity,
        "tasks_per_cpu": instance.tasks_per_cpu,
        "feasible": not instance.missing_capacity,
        "missing_capacity": instance.missing_capacity,
        "initial": [state_summary(state) for state in instance.initial_states],
        "tasks": count,
        "task_types": len(task_types(instance)),
        "leaves": (
            {str(state): leaves[state] for state in Leaves}
            if isinstance(instance.penalty, PenaltyF)
            else None
        ),
        "exec": (
            sum(task.exec * task.multiplicity for task in instance.tasks)
            if instance.objective is Objective.MAKESPAN
            else None
        ),
        "released": sum(task.multiplicity for task in instance.tasks if task.release),
        "waiting": sum(task.multiplicity for task in instance.tasks if task.after),
        "fragments": groups if group == "df" else None,
        "types": groups if group == "type" else None,
    }


def penalty_summary(penalty: Penalty) -> dict[str, Any]:
    """Return the kind of a penalty and its parameters, but no whole table."""
    from dfopt.files import penalty_to_document
    from dfopt.problem.penalties import PenaltyMatrix

    if not isinstance(penalty, PenaltyMatrix):
        return penalty_to_document(penalty)
    return {
        "kind": "matrix",
        "types": len(penalty.types),
        "largest_switch": max(max(row) for row in penalty.switch),
        "start": penalty.start is not None,
        "finish": penalty.finish is not None,
    }


def state_summary(state: CacheState | None) -> dict[str, str] | None:
    """Return what a cache holds at the start, as in an instance document."""
    if state is None:
        return None
    if state.type is not None:
        return {"type": state.type}
    return {"df": str(state.df), "leaves": str(state.leaves)}


def figures(summary: dict[str, Any]) -> Table:
    """Return the table of everything but the groups of tasks."""
    from rich.table import Table

    penalty = dict(summary["penalty"])
    kind = penalty.pop("kind")
    parameters = ", ".join(f"{key} {shown(value)}" for key, value in penalty.items())
    flags = [flag for flag in ("cold_start", "final_write_back") if summary[flag]]
    capacity = f"at most {summary['tasks_per_cpu']} tasks a CPU"
    if isinstance(summary["capacity"], str):
        capacity = f"{summary['capacity']}, {capacity}"
    rows = {
        "name": summary["name"],
        "description": summary["description"],
        "source": summary["source"],
        "time unit": summary["time_unit"],
        "sha256": summary["sha256"],
        "objective": summary["objective"],
        "penalty": f"{kind}: {parameters}",
        "flags": ", ".join(flags) or "none",
        "CPUs": summary["cpus"],
        "capacity": capacity,
        "feasible": feasibility(summary),
        "initial": caches(summary["initial"]),
        "tasks": summary["tasks"],
        "task types": f"{summary['task_types']}; tasks of one type cost the same",
        "leaves": summary["leaves"] and distribution(summary["leaves"]),
        "exec": f"{summary['exec']} in all" if summary["exec"] else None,
        "release": f"{summary['released']} tasks" if summary["released"] else None,
        "after": f"{summary['waiting']} tasks wait for others" if summary["waiting"] else None,
    }
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in rows.items():
        if value is not None:
            table.add_row(label, printable(value))
    return table


def shown(value: object) -> str:
    """Return a value in words."""
    return {True: "given", False: "none"}[value] if isinstance(value, bool) else str(value)


def feasibility(summary: dict[str, Any]) -> str:
    """Return whether all tasks find room, and if not, how many do not."""
    if summary["feasible"]:
        return "yes"
    missing = f"{summary['missing_capacity']} of {summary['tasks']} tasks"
    return f"no, there is no room for {missing}; raise capacity or cpus"


def caches(states: list[dict[str, str] | None]) -> str:
    """Return what the caches hold at the start."""
    held = [
        f"CPU {cpu}: {' '.join(state.values())}"
        for cpu, state in enumerate(states)
        if state is not None
    ]
    if len(held) < len(states):
        held.append("others empty" if held else "all caches empty")
    return "; ".join(held)


def distribution(counts: dict[str, int]) -> str:
    """Return counts with their shares."""
    total = max(1, sum(counts.values()))
    return ", ".join(f"{name} {count} ({count / total:.0%})" for name, count in counts.items())


def largest_groups(summary: dict[str, Any]) -> Table:
    """Return the table of the fragments, or types, with the most tasks."""
    from dfopt_cli.tables import plain_table

    by_type = summary["fragments"] is None
    groups = summary["types"] if by_type else summary["fragments"]
    rows = [
        (group["type" if by_type else "df"], group["tasks"], group["share"]) for group in groups
    ]
    rest = rows[LARGEST_SHOWN:]
    if rest:
        _, tasks, shares = zip(*rest, strict=True)
        rows[LARGEST_SHOWN:] = [(f"and {len(rest)} more", sum(tasks), sum(shares))]
    table = plain_table()
    heading = f"{len(groups)} {'type' if by_type else 'fragment'}{'s' if len(groups) != 1 else ''}"
    table.add_column(heading, overflow="fold")
    table.add_column("tasks", justify="right")
    table.add_column("share", justify="right")
    for name, size, share in rows:
        table.add_row(printable(name), str(size), f"{share:.1%}")
    return table
