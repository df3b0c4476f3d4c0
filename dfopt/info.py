"""The contents of a file in figures, as the document ``dfopt-info/1``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from dfopt.costs.task_types import task_types
from dfopt.files import fingerprint, penalty_to_document
from dfopt.files.formats import Format
from dfopt.problem.cache_state import CacheState, InitialState, Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyMatrix
from dfopt.solvers.search import Search
from dfopt.solvers.sizes import packings

if TYPE_CHECKING:
    from dfopt.trace import Trace

FORMAT = Format.INFO


def instance_info(instance: Instance) -> dict[str, Any]:
    """Return the figures of an instance, as a ``dfopt-info/1`` document.

    Its fragments, or its types under a matrix, come with the number of their tasks, the largest
    first.
    """
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
        "format": FORMAT,
        "kind": "instance",
        "name": instance.name,
        "description": instance.description,
        "source": instance.source,
        "time_unit": instance.time_unit,
        "sha256": fingerprint(instance),
        "objective": str(instance.objective),
        "penalty": _penalty(instance.penalty),
        "cold_start": instance.cold_start,
        "final_write_back": instance.final_write_back,
        "cpus": instance.cpus,
        "capacity": instance.capacity,
        "tasks_per_cpu": instance.tasks_per_cpu,
        "feasible": _is_feasible(instance),
        "missing_capacity": instance.missing_capacity,
        "sizes": _sizes(instance),
        "initial": [_cache(state) for state in instance.initial_states],
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


def _is_feasible(instance: Instance) -> bool | None:
    """Return whether all tasks find room; None where a first look does not tell."""
    if instance.missing_capacity:
        return False
    if not instance.has_sizes or next(packings(Search(instance)), None) is not None:
        return True
    return None


def _sizes(instance: Instance) -> dict[str, int] | None:
    sizes = [task.size for task in instance.tasks]
    if max(sizes, default=1) == 1:
        return None
    total = sum(task.size * task.multiplicity for task in instance.tasks)
    if isinstance(instance.capacity, int):
        room = instance.capacity
    elif instance.has_sizes or min(sizes) == max(sizes):
        room = instance.room * instance.size_unit
    else:
        room = total  # all tasks fit on a CPU
    return {"smallest": min(sizes), "largest": max(sizes), "total": total, "room": room}


def _penalty(penalty: Penalty) -> dict[str, Any]:
    # A matrix may be large: its size and its largest cost stand for it.
    if not isinstance(penalty, PenaltyMatrix):
        return penalty_to_document(penalty)
    return {
        "kind": "matrix",
        "types": len(penalty.types),
        "largest_switch": max(max(row) for row in penalty.switch),
        "start": penalty.start is not None,
        "finish": penalty.finish is not None,
    }


def _cache(state: InitialState) -> dict[str, str] | str | None:
    if not isinstance(state, CacheState):
        return state
    if state.type is not None:
        return {"type": state.type}
    return {"df": str(state.df), "leaves": str(state.leaves)}


def trace_info(trace: Trace, *, content: str, labels: str | None) -> dict[str, Any]:
    """Return the figures of a trace, as a ``dfopt-info/1`` document.

    Its fragments come with the number of their dispatches, the largest first. Times are in the
    trace's unit.

    Parameters
    ----------
    trace
        Any trace.
    content
        The kind of file that was recognised, such as ``perf script text``.
    labels
        Where its fragments come from, such as ``marks``; None if it has none.
    """
    from dfopt.trace.summary import trace_summary  # loads NumPy, which an instance does not need

    return {
        "format": FORMAT,
        "kind": "trace",
        "content": content,
        "labels": labels,
        **trace_summary(trace),
    }
