"""Tables of batches of threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from dfopt_cli.contention_view import titled
from dfopt_cli.printing import printable
from dfopt_cli.tables import duration, pairs

if TYPE_CHECKING:
    from dfopt_models.batching import BatchChoice, BatchingModel, CountedMisses, GainRow

SHOWN = {
    "cache": ("cache_lines", "{:,} lines"),
    "a line": ("integers_of_a_line", "{:,} integers"),
    "array": ("array_size", "{:,} integers"),
    "MAXBSIZE": ("max_batch_size", "{:,} threads"),
    "MAXBCOUNT": ("max_batch_count", "{:,} dispatches"),
    "own lines": ("own_lines", "{:g}"),
}
TIMES = {
    "switch": "switch",
    "increment": "increment",
    "miss": "miss",
    "next line": "next_line",
    "creation": "creation",
    "batch switch": "batch_switch",
}


def batching_tables(
    model: BatchingModel,
    rows: Sequence[GainRow],
    curve: Sequence[BatchChoice],
    granularity: int,
    counted: Sequence[CountedMisses],
) -> list[Table | Text]:
    """Return what a terminal shows of batches."""
    from dfopt_models.batching import own_choice

    shown: list[Table | Text] = [heading(model), Text(""), gain_rows(model, rows), Text("")]
    shown += [
        batch_rows(model, rows),
        Text(""),
        curve_rows(curve, own_choice(model, granularity), granularity),
        Text(""),
    ]
    if counted:
        shown += [counted_rows(counted), Text("")]
    meanings = {
        "gain": "how many times as fast batches are as one circular queue",
        "limit": "the gain of processes without end; it would be the same at every GRANULARITY "
        f"if the next line took {model.flat_next_line:.1f} ns",
        "waits": "for which a batch waits for its next turn, processes without end",
    }
    if model.assumed:
        meanings["~"] = "assumed"
    return [*shown, pairs(meanings, style="dim")]


def heading(model: BatchingModel) -> Table:
    """Return what the model is called, and its parameters."""

    def marked(name: str, text: str) -> str:
        return f"~{text}" if name in model.assumed else text

    facts = {"model": printable(model.name)}
    facts |= {
        shown: marked(name, text.format(getattr(model, name)))
        for shown, (name, text) in SHOWN.items()
    }
    facts["times"] = ", ".join(
        marked(name, f"{shown} {getattr(model, name):g} ns") for shown, name in TIMES.items()
    )
    return pairs(facts)


def gain_rows(model: BatchingModel, rows: Sequence[GainRow]) -> Table:
    """Return gains by granularity and process length."""
    table = titled(
        "Gain by PROCESS_LENGTH",
        ["GRANULARITY", *(f"{length:,}" for length in model.lengths), "limit"],
    )
    for row in rows:
        gains = (f"{gain:.3f}" for gain in (*row.gains, row.limit))
        table.add_row(f"{row.granularity:,}", *gains)
    return table


def batch_rows(model: BatchingModel, rows: Sequence[GainRow]) -> Table:
    """Return the largest batch that fits."""
    table = titled(
        "Batches and the cache",
        ["GRANULARITY", "lines of\na thread", "largest batch\nthat fits", "lines of\nMAXBSIZE"],
    )
    for row in rows:
        table.add_row(
            f"{row.granularity:,}",
            f"{row.footprint:g}",
            f"{row.largest_batch:,}",
            f"{row.batch_lines:,.0f}" + ("" if row.batch_lines <= model.cache_lines else " !"),
        )
    return table


def curve_rows(curve: Sequence[BatchChoice], own: BatchChoice, granularity: int) -> Table:
    """Return choices of batches that no other one beats, and the model's own."""
    table = titled(
        f"Batches that no other ones beat, GRANULARITY {granularity:,}",
        ["MAXBSIZE", "MAXBCOUNT", "missed lines\na dispatch", "waits", "a dispatch", ""],
    )
    for each in [*curve, own]:
        table.add_row(
            f"{each.batch:,}",
            f"{each.dispatches:,}",
            f"{each.misses:.4g}",
            duration(each.waiting, "ns"),
            duration(each.cost, "ns"),
            "as it is" if each is own else "",
        )
    return table


def counted_rows(rows: Sequence[CountedMisses]) -> Table:
    """Return what the model says of misses, beside what was counted."""
    table = titled(
        "Missed lines a dispatch, and counted line by line",
        ["GRANULARITY", "PROCESS_\nLENGTH", "in batches", "counted", "without", "counted"],
    )
    for row in rows:
        found = (row.model, row.counted, row.model_without, row.counted_without)
        table.add_row(
            f"{row.granularity:,}", f"{row.length:,}", *(f"{misses:.4f}" for misses in found)
        )
    return table
