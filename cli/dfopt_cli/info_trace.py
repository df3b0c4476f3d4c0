"""``dfopt info`` of a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from dfopt_cli.common import naming, print_json, print_rich, printable
from dfopt_cli.comparing import names_of, tell_warnings
from dfopt_cli.labelling import labelled_if_possible, named
from dfopt_cli.tables import counted, pairs, plain_table, share
from dfopt_cli.trace_options import LabelOptions

LARGEST_SHOWN = 10


def show_trace(file: str, labels: LabelOptions, *, as_json: bool) -> None:
    """Print what a trace holds; what makes it doubtful goes to standard error."""
    from dfopt.files.streams import first_bytes
    from dfopt.trace.content import content_of
    from dfopt.trace.summary import trace_summary

    with naming(file):
        content = content_of(first_bytes(file))
    trace, source = labelled_if_possible(file, labels)
    trace = named(trace, *names_of([file]))
    document = {
        "format": "dfopt-info/1",
        "kind": "trace",
        "content": content.value,
        "labels": source,
        **trace_summary(trace),
    }
    tell_warnings(file, trace.quality.warnings)
    if as_json:
        print_json(document)
    else:
        print_rich(figures(document), *fragments(document))


def figures(document: Mapping[str, Any]) -> Table:
    """Return everything but the fragments."""
    unit = f" {printable(document['time_unit'])}" if document["time_unit"] else ""
    penalty = dict(document["penalty"] or {})
    kind = penalty.pop("kind", None)
    length = None if document["start"] is None else document["end"] - document["start"]
    rows = {
        "name": document["name"],
        "content": document["content"],
        "source": document["source"],
        "policy": document["policy"],
        "CPUs": document["cpus"],
        "time": None
        if length is None
        else f"{length:,}{unit}, from {document['start']:,} to {document['end']:,}",
        "dispatches": f"{document['dispatches']:,} of {counted(document['tasks'], 'task')}",
        "run time": f"{document['run_time']:,}{unit}",
        "penalty": kind and f"{kind}: " + ", ".join(f"{k} {v}" for k, v in penalty.items()),
        "objective": document["objective"],
        "labels": document["labels"] or "none; --df says where to take them from",
        "managed": share_of(document["managed"], document["dispatches"]),
        "gaps": ", ".join(f"{reason} ×{number:,}" for reason, number in document["gaps"].items())
        or "none",
        "events": f"{counted(document['wakeups'], 'wakeup')}, "
        f"{counted(document['forks'], 'fork')}, {counted(document['marks'], 'mark')}",
        "quality": quality(document["quality"]),
    }
    return pairs({name: printable(value) for name, value in rows.items() if value is not None})


def share_of(part: int, whole: int) -> str:
    """Return a number with its share."""
    return f"{part:,} ({share(part, whole)})" if whole else f"{part:,}"


def quality(figures: Mapping[str, Any]) -> str:
    """Return how much was read, and whether anything was wrong with it."""
    read = f"{counted(figures['lines'], 'line')}, {counted(figures['events'], 'event')}"
    return read if figures["warnings"] else f"{read}, nothing missing"


def fragments(document: Mapping[str, Any]) -> list[Table | str]:
    """Return the table of the fragments with the most dispatches, if there are any."""
    rows = document["fragments"]
    if not rows:
        return []
    unit = f", {printable(document['time_unit'])}" if document["time_unit"] else ""
    table = plain_table()
    table.add_column(counted(len(rows), "fragment"), overflow="fold")
    for heading in ("dispatches", "share", f"run time{unit}", "share"):
        table.add_column(heading, justify="right")
    rest = rows[LARGEST_SHOWN:]
    shown = list(rows[:LARGEST_SHOWN])
    if rest:
        keys = ("dispatches", "share", "run_time", "run_time_share")
        sums = {key: sum(row[key] for row in rest) for key in keys}
        shown.append({"df": f"and {len(rest)} more", **sums})
    for row in shown:
        table.add_row(
            printable(row["df"]),
            f"{row['dispatches']:,}",
            f"{row['share']:.1%}",
            f"{row['run_time']:,}",
            f"{row['run_time_share']:.1%}",
        )
    return ["", table]
