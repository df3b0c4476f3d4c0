"""The view of a result: the fragments of each CPU in order, then the proof."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.table import Table
from rich.text import Text

from dfopt.problem.certificate import (
    Branching,
    Certificate,
    CompleteSearch,
    Counting,
    DualWeights,
    EvenShares,
    Exhaustive,
    FullGroups,
    Supports,
)
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.problem.result import Result, Status, StopReason
from dfopt.problem.tour_certificate import Tour
from dfopt.problem.unit_text import unit_text
from dfopt.render import printable
from dfopt_cli.tables import plain_table

COLOURS = ("cyan", "yellow", "green", "magenta", "blue", "red", "bright_cyan", "bright_yellow")

COUNTING_BOUNDS = ("area", "transportation")
"""Bounds that need no search, but have no certificate that a checker could follow."""

PROOFS: dict[type[Certificate], str] = {
    DualWeights: "dual weights; 'dfopt verify' checks them without a solver",
    FullGroups: "prices of groups; 'dfopt verify' checks them without a solver",
    Tour: "weights of arcs; 'dfopt verify' checks them without a solver",
    Supports: "weights of supports; 'dfopt verify' checks them without a solver",
    Exhaustive: "enumeration; 'dfopt verify' repeats it",
    EvenShares: "an even share of the least total penalty; 'dfopt verify' checks it",
}
"""What is said of certificates that have no name or number of their own."""

ENDINGS = {
    StopReason.PROOF: "proven",
    StopReason.GAP_LIMIT: "stopped at the gap limit",
    StopReason.TIME_LIMIT: "stopped at the time limit",
    StopReason.INTERRUPT: "interrupted",
    StopReason.GIVEN: "given",
}


def result_tables(instance: Instance, result: Result) -> list[Table | Text]:
    """Return what a terminal shows of a result, from top to bottom."""
    if result.status is Status.INFEASIBLE:
        return [Text(infeasibility(instance))]
    shown: list[Table | Text] = []
    if result.schedule is not None:
        shown += [schedule_table(instance, result), Text("")]
    return [*shown, proof_table(instance, result)]


def infeasibility(instance: Instance) -> str:
    """Say by how much the capacity is too small."""
    missing = instance.missing_capacity
    if instance.has_sizes:
        return (
            f"infeasible: {instance.task_count} tasks of different sizes do not fit on "
            f"{instance.cpus} CPUs that hold a size of {instance.room * instance.size_unit} each"
        )
    return (
        f"infeasible: {instance.task_count} tasks, but {instance.cpus} CPUs hold "
        f"{instance.tasks_per_cpu} each; there is no room for {missing} "
        f"task{'s' if missing != 1 else ''}"
    )


def schedule_table(instance: Instance, result: Result) -> Table:
    """Return one row a CPU: its tasks, its cost, and its fragments in order with task counts."""
    assert result.schedule is not None
    by_type = isinstance(instance.penalty, PenaltyMatrix)
    groups = {
        name: str(task.type if by_type else task.df)
        for name, task in instance.tasks_by_name().items()
    }
    colour = {
        group: COLOURS[number % len(COLOURS)]
        for number, group in enumerate(dict.fromkeys(groups.values()))
    }
    worst = max((cpu.cost for cpu in result.schedule.cpus), default=0)
    table = plain_table()
    table.add_column("CPU", justify="right")
    table.add_column("tasks", justify="right")
    table.add_column("cost", justify="right")
    table.add_column(f"{'types' if by_type else 'fragments'} in order ×tasks", overflow="fold")
    idle = 0
    for number, cpu in enumerate(result.schedule.cpus):
        if not cpu.tasks:
            idle += 1
            continue
        runs = [
            (group, sum(1 for _ in members))
            for group, members in groupby(groups[name] for name in cpu.tasks)
        ]
        table.add_row(
            str(number),
            str(len(cpu.tasks)),
            Text(str(cpu.cost), style="bold" if cpu.cost == worst else ""),
            visits(runs, colour),
        )
    if idle:
        table.add_row("", "", "", Text(f"{idle} CPU{'s' if idle > 1 else ''} idle", style="dim"))
    return table


def visits(runs: Sequence[tuple[str, int]], colour: dict[str, str]) -> Text:
    """Return the fragments that a CPU visits, each with its number of tasks."""
    parts = []
    for group, count in runs:
        part = Text(printable(group), style=colour[group])
        if count > 1:
            part.append(f"×{count}")
        parts.append(part)
    return Text(" ").join(parts)


def proof_table(instance: Instance, result: Result) -> Table:
    """Return objective, bound, gap, and why to believe them."""
    unit = printable(instance.time_unit) if instance.time_unit else None
    seconds = f"{result.wall_time_s:.2f} s, method {result.method}"
    bound = result.lower_bound
    rows = {"lower bound": f"{bound}{unit_text(unit, bound or 0)}"}
    if result.objective is not None and result.gap is not None:
        rows = {
            "objective": f"{result.objective}{unit_text(unit, result.objective)} "
            f"({instance.objective})",
            **rows,
            "gap": f"{result.gap:.2%}",
        }
    rows["status"] = f"{result.status}, {ENDINGS[result.stop_reason]}"
    rows["proof"] = proof(result)
    rows["time"] = seconds
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in rows.items():
        table.add_row(label, value)
    return table


def proof(result: Result) -> str:
    """Say what kind of proof the lower bound has."""
    match result.certificate:
        case None:
            free = result.lower_bound == 0
            return "none needed: no schedule costs less than 0" if free else "none"
        case CompleteSearch(solver=solver):
            # The bound of a search that goes on is the solver's word for it, too.
            is_complete = solver not in COUNTING_BOUNDS and result.stop_reason is StopReason.PROOF
            reason = f"complete search by {solver}" if is_complete else f"{solver} bound"
            return f"{reason}; not independently checkable"
        case Branching(nodes=nodes):
            return f"dual weights in a tree of {len(nodes)} nodes; 'dfopt verify' checks them"
        case Counting(argument=argument):
            return f"{argument} bound; 'dfopt verify' counts it again"
    return PROOFS[type(result.certificate)]
