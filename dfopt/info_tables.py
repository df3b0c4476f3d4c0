"""Tables of what ``dfopt info`` says: the figures, then the largest fragments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dfopt.render import counted, share
from dfopt.table import Table, Value, columns, facts
from dfopt.time_units import full_time, readable_time

MOST_CPUS = 8
"""At most this many CPUs are listed one by one."""

LARGEST_SHOWN = 10
"""At most this many fragments are listed; the JSON document has them all."""


def instance_tables(summary: dict[str, Any]) -> list[Table]:
    """Return what an instance holds, and its groups of tasks."""
    noun = "type" if summary["fragments"] is None else "fragment"
    groups = [tuple(group.values()) for group in summary[f"{noun}s"]]
    penalty = dict(summary["penalty"])
    penalty_name = penalty.pop("kind")
    parameters = ", ".join(f"{key} {shown(value)}" for key, value in penalty.items())
    flags = [flag for flag in ("cold_start", "final_write_back") if summary[flag]]
    sizes = summary["sizes"]
    capacity = f"at most {summary['tasks_per_cpu']} tasks a CPU"
    if sizes:
        capacity = f"at most a size of {sizes['room']} on a CPU"
    if isinstance(summary["capacity"], str):
        capacity = f"{summary['capacity']}, {capacity}"
    rows: dict[str, Value] = {
        "name": summary["name"],
        "description": summary["description"],
        "source": summary["source"],
        "time unit": summary["time_unit"],
        "sha256": summary["sha256"],
        "objective": summary["objective"],
        "penalty": f"{penalty_name}: {parameters}",
        "flags": ", ".join(flags) or "none",
        "CPUs": summary["cpus"],
        "capacity": capacity,
        "feasible": feasibility(summary),
        "initial": caches(summary["initial"]),
        "tasks": summary["tasks"],
        "sizes": sizes and f"{sizes['smallest']} to {sizes['largest']}, {sizes['total']} in all",
        "task types": f"{summary['task_types']}; tasks of one type cost the same",
        "leaves": summary["leaves"] and distribution(summary["leaves"]),
        "exec": f"{summary['exec']} in all" if summary["exec"] else None,
        "release": f"{summary['released']} tasks" if summary["released"] else None,
        "after": f"{summary['waiting']} tasks wait for others" if summary["waiting"] else None,
    }
    largest = Table(counted(len(groups), noun), columns(noun, "tasks", "share :.1%"), groups)
    return [facts(rows), largest.largest(LARGEST_SHOWN, "tasks", "share")]


def shown(value: object) -> str:
    """Return a value in words."""
    return {True: "given", False: "none"}[value] if isinstance(value, bool) else str(value)


def feasibility(summary: dict[str, Any]) -> str:
    """Return whether all tasks find room, and if not, how many do not."""
    if summary["feasible"]:
        return "yes"
    if summary["feasible"] is None:
        return "not known before a search: the sizes are hard to pack"
    missing = f"{summary['missing_capacity']} of {summary['tasks']} tasks"
    if summary["sizes"]:
        missing = f"tasks of a size of {summary['missing_capacity']}"
    return f"no, there is no room for {missing}; raise capacity or cpus"


def caches(states: list[dict[str, str] | str | None]) -> str:
    """Return what the caches hold at the start."""
    held = [
        f"CPU {cpu}: {state if isinstance(state, str) else ' '.join(state.values())}"
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


ASSUMED = {
    "cpus": "on which CPU each dispatch ran",
    "starts": "when and on which CPU each dispatch ran",
}


def trace_tables(document: Mapping[str, Any]) -> list[Table]:
    """Return what a trace holds, and its fragments if there are any."""
    from dfopt.trace.fragment_titles import CommCount, title  # loads NumPy

    unit, waits = document["time_unit"], document["waits"]
    problem = waits["problem"]
    penalty = dict(document["penalty"] or {})
    penalty_name = penalty.pop("kind", None)
    length = None if document["start"] is None else document["end"] - document["start"]
    rows: dict[str, Value] = {
        "name": document["name"],
        "content": document["content"],
        "source": document["source"],
        "policy": document["policy"],
        "assumed": document["assumed"] and ASSUMED[document["assumed"]],
        "CPUs": document["cpus"],
        "time": None
        if length is None
        else f"{readable_time(length, unit)}, from {full_time(document['start'], unit)} to "
        f"{full_time(document['end'], unit)}",
        "dispatches": f"{document['dispatches']:,} of {counted(document['tasks'], 'task')}",
        "run time": readable_time(document["run_time"], unit),
        "busy": busy(document["busy"]),
        "shared": None
        if document["same_fragment_share"] is None
        else f"{document['same_fragment_share']:.1%} of the time several CPUs ran one fragment",
        "waits": problem and f"not known: {problem}",
        "penalty": penalty_name
        and f"{penalty_name}: " + ", ".join(f"{key} {value}" for key, value in penalty.items()),
        "objective": document["objective"],
        "labels": document["labels"] or "none; `labels` says where to take them from",
        "managed": share_of(document["managed"], document["dispatches"]),
        "gaps": ", ".join(f"{reason} ×{number:,}" for reason, number in document["gaps"].items())
        or "none",
        "events": f"{counted(document['wakeups'], 'wakeup')}, "
        f"{counted(document['forks'], 'fork')}, {counted(document['marks'], 'mark')}",
        "quality": quality(document["quality"]),
    }
    fragments = [
        (
            title(
                row["df"], row.get("name"), [CommCount(**found) for found in row.get("comms", ())]
            ),
            *(row[key] for key in ("dispatches", "share", "run_time", "run_time_share")),
        )
        for row in document["fragments"]
    ]
    times = (f"{name} [{unit or ''}] :time" for name in ("mean", "median", "p99", "longest"))
    which = " with a fragment" if document["managed"] else ""
    headings = columns("known", "unknown", *times)
    found = [[waits[column.name] for column in headings]] if waits["known"] else []
    written = ("dispatches", "share :.1%", f"run time [{unit or ''}] :time", "share of time :.1%")
    used = Table(counted(len(fragments), "fragment"), columns("fragment", *written), fragments)
    added = [column.name for column in used.columns[1:]]
    tables = [
        Table(f"Waits of dispatches{which}", headings, found),
        used.largest(LARGEST_SHOWN, *added),
    ]
    return [facts(rows), *(table for table in tables if table.rows)]


def busy(figures: Mapping[str, Any] | None) -> str | None:
    """Return in what share of the time all CPUs were busy, and each of them."""
    if figures is None:
        return None
    shares = figures["shares"]
    listed = ", ".join(f"{part:.1%}" for part in shares[:MOST_CPUS])
    if len(shares) > MOST_CPUS:
        listed = f"from {min(shares):.1%} to {max(shares):.1%}"
    return f"{figures['share']:.1%} of the time; by CPU {listed}"


def share_of(part: int, whole: int) -> str:
    """Return a number with its share."""
    return f"{part:,} ({share(part, whole)})" if whole else f"{part:,}"


def quality(figures: Mapping[str, Any]) -> str:
    """Return how much was read, and whether anything was wrong with it."""
    read = f"{counted(figures['lines'], 'line')}, {counted(figures['events'], 'event')}"
    return read if figures["warnings"] else f"{read}, nothing missing"
