"""The view of schedules of an instance, beside its optimum."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from dfopt.compare.compare_schedules import SchedulesComparison
from dfopt.render import printable
from dfopt_cli.tables import pairs, plain_table, times


def schedules_tables(compared: SchedulesComparison) -> list[Table | Text]:
    """Return what a terminal shows, from top to bottom."""
    instance = compared.instance
    unit = f", in {printable(instance.time_unit)}" if instance.time_unit else ""
    if compared.is_proven:
        optimum = f"{compared.best:,}, proven"
    else:
        optimum = f"between {compared.lower_bound:,} (proven) and {compared.best:,} (found)"
    table = plain_table()
    table.add_column("schedule", overflow="fold")
    for heading in ("cost", "ratio", "difference", "most expensive\nCPU", "all CPUs"):
        table.add_column(heading, justify="right")
    table.add_column("method")
    for schedule in compared.schedules:
        table.add_row(
            printable(schedule.name),
            f"{schedule.objective:,}",
            Text(times(compared.ratio(schedule)), style="bold"),
            f"{schedule.objective - compared.lower_bound:,}",
            f"{schedule.worst:,}",
            f"{schedule.total:,}",
            printable(schedule.method) if schedule.method else "",
        )
    subject = pairs(
        {
            "instance": printable(instance.name or "without a name"),
            "objective": f"{instance.objective}{unit}",
            "optimum": optimum,
            "ratio": "cost / " + ("optimum" if compared.is_proven else "lower bound"),
        }
    )
    return [subject, Text(""), table]
