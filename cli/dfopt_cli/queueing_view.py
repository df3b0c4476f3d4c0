"""Tables of queues and footprints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from dfopt_cli.printing import printable
from dfopt_cli.tables import pairs, plain_table
from dfopt_models.parameter_fields import is_assumed

if TYPE_CHECKING:
    from dfopt_models.queueing.model import QueueingModel, QueueingRow

NOTHING = "–"
MICROSECONDS = 1e6

MEANINGS = {
    "load": "share of the CPUs' time that the jobs take without reloads",
    "ideal": "one queue, and moving costs nothing: no policy that does not know service times has "
    "less",
    "partitions": "each CPU has its own jobs, chosen at random, and never reloads",
    "global": "~ one queue, and a job runs on any CPU; the service time with its reload is taken "
    "for exponential",
    "best": "the best policy lies between the ideal and the lesser of the others, as far as the "
    "model of the global queue holds",
}


def queueing_tables(
    model: QueueingModel, rows: Sequence[QueueingRow], document: dict[str, object]
) -> list[Table | Text]:
    """Return what a terminal shows of queues, and of programs that share a cache."""
    shown: list[Table | Text] = [heading(model), Text(""), times_table(model, rows), Text("")]
    shown += [crossings_table(model, document["crossings"]), Text("")]  # type: ignore[arg-type]
    if model.programs:
        shown += [programs_table(document["programs"]), Text("")]  # type: ignore[arg-type]
    meanings = dict(MEANINGS)
    if model.programs:
        meanings["P^A after"] = "µs to read again what this program replaced (footprints)"
    if assumed(model):
        meanings["~ assumed"] = ", ".join(map(printable, assumed(model)))
    return [*shown, pairs(meanings, style="dim")]


def heading(model: QueueingModel) -> Table:
    """Return what the model is called, and its parameters; ``~`` marks assumptions."""

    def mark(name: str) -> str:
        return "~" if is_assumed(model.sources.get(name)) else ""

    return pairs(
        {
            "model": printable(model.name),
            "service": f"{mark('service')}{model.service:g} s",
            "reload": f"{mark('reload')}{model.reload:g} s, "
            f"{model.reload / model.service:.3g} of the service time",
        }
    )


def assumed(model: QueueingModel) -> list[str]:
    """Return the parameters that are assumptions, with their tables."""
    tables = [("", model.sources), ("cache.", model.cache_sources)]
    tables += [(f"program {program.name}: ", program.sources) for program in model.programs]
    return [
        f"{place}{name}"
        for place, sources in tables
        for name, source in sources.items()
        if is_assumed(source)
    ]


def times_table(model: QueueingModel, rows: Sequence[QueueingRow]) -> Table:
    """Return mean response times, over the service time."""
    table = plain_table()
    table.title, table.title_justify, table.title_style = (
        "Response time ÷ service time", "left", "bold",
    )  # fmt: skip
    for heading_of in ("CPUs", "load", "ideal", "partitions", "~global", "best"):
        table.add_column(heading_of, justify="right")
    for row in rows:
        low, *others = (
            time / model.service for time in (row.ideal, row.partition, row.shared, row.best_known)
        )
        partitions, shared, best = others
        table.add_row(
            str(row.cpus),
            f"{row.load:g}",
            f"{low:.3f}",
            f"{partitions:.3f}",
            f"{shared:.3f}" if math.isfinite(shared) else NOTHING,
            Text(f"{low:.3f} to {best:.3f}", style="bold"),
        )
    return table


def crossings_table(model: QueueingModel, found: Sequence[dict[str, object]]) -> Table:
    """Return the loads between which a global queue beats partitions."""
    table = plain_table()
    table.title, table.title_justify, table.title_style = (
        "Where a global queue beats partitions", "left", "bold",
    )  # fmt: skip
    for heading_of in ("CPUs", "from load", "to load", "if reload ÷ service below"):
        table.add_column(heading_of, justify="right")
    for entry in found:
        loads = entry["loads"] or (math.nan, math.nan)
        table.add_row(
            str(entry["cpus"]),
            *(NOTHING if math.isnan(load) else f"{load:.3f}" for load in loads),  # type: ignore[attr-defined]
            f"{entry['largest_reload_s'] / model.service:.3f}",  # type: ignore[operator]
        )
    return table


def programs_table(programs: Sequence[dict[str, object]]) -> Table:
    """Return footprints, and what programs lose to each other."""
    table = plain_table()
    table.add_column("program", overflow="fold")
    names = [str(program["name"]) for program in programs]
    after = (f"P^A after\n{printable(name)}" for name in names)
    for heading_of in ("lines", "held", "P^NA, µs", *after):
        table.add_column(heading_of, justify="right")
    for program in programs:
        penalties = program["penalty_affinity_s"]
        table.add_row(
            printable(str(program["name"])),
            f"{program['lines']:,}",
            f"{program['held_lines']:,.0f}",
            f"{program['penalty_no_affinity_s'] * MICROSECONDS:,.0f}",  # type: ignore[operator]
            *(f"{penalties[name] * MICROSECONDS:,.0f}" for name in names),  # type: ignore[index]
        )
    return table
