"""The view of a result: the fragments of each CPU in order, then the proof."""

from __future__ import annotations

from itertools import groupby

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
    Tour,
)
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.problem.result import Result, Status, StopReason
from dfopt.problem.unit_text import unit_text
from dfopt.render import counted
from dfopt.table import Table, columns, facts

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


def result_tables(instance: Instance, result: Result) -> list[Table]:
    """Return what there is to say of a result: the schedule, then bound, gap and proof."""
    if result.status is Status.INFEASIBLE:
        return [Table(infeasibility(instance))]
    seconds = f"{result.wall_time_s:.2f} s, method {result.method}"
    gap = result.gap
    proven = facts({
        "objective": None
        if result.objective is None
        else f"{in_unit(instance, result.objective)} ({instance.objective})",
        "lower bound": in_unit(instance, result.lower_bound or 0),
        "gap": None if gap is None else f"{gap:.2%}",
        "status": f"{result.status}, {ENDINGS[result.stop_reason]}",
        "proof": proof(result),
        "time": seconds,
    })  # fmt: skip
    return [proven] if result.schedule is None else [schedule_table(instance, result), proven]


def in_unit(instance: Instance, cost: int) -> str:
    """Return a cost with its unit, if it has one."""
    return f"{cost}{unit_text(instance.time_unit, cost)}"


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
    tasks = instance.tasks_by_name()
    rows = []
    for number, cpu in enumerate(result.schedule.cpus):
        groups = (tasks[name].type if by_type else tasks[name].df for name in cpu.tasks)
        runs = [(str(group), sum(1 for _ in members)) for group, members in groupby(groups)]
        visits = " ".join(f"{group}×{count}" if count > 1 else group for group, count in runs)
        rows.append((number, len(cpu.tasks), cpu.cost, visits))
    busy = [row for row in rows if row[1]]
    idle = len(rows) - len(busy)
    order = f"{'types' if by_type else 'fragments'} in order ×tasks"
    notes = [f"{counted(idle, 'CPU')} idle"] if idle else []
    return Table("", columns("CPU", "tasks", "cost", order), busy, notes)


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
