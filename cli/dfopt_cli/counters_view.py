"""Tables of counters: figures of samples, penalties between task types, warm-up, segregation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from dfopt_cli.printing import printable
from dfopt_cli.tables import duration, pairs, plain_table
from dfopt_models.parameter_fields import is_assumed

if TYPE_CHECKING:
    from dfopt_models.counters import CountedType, CounterFigures, CountersModel
    from dfopt_models.counters.figures import DeviationRow, PerformanceRow, QueueRow

ASSUMED = "~"
UNKNOWN = "?"
FOOT = {
    ASSUMED: "assumed: neither measured nor published",
    UNKNOWN: "too few dispatches; add the value to a file of the model",
}


def counters_tables(model: CountersModel, figures: CounterFigures | None) -> list[Table | Text]:
    """Return what a terminal shows of a model, and of the samples that it comes from."""
    shown: list[Table | Text] = [Text(printable(model.name), style="bold"), Text("")]
    if figures is not None:
        shown += _figures(figures)
    shown += [_types(model), Text(""), Text("penalty of a type (across) after another one (down)")]
    shown += [_matrix(model), Text("")]
    more = _warm_up(model) | _segregation(model)
    if more:
        shown += [pairs(more), Text("")]
    cells = [
        str(cell)
        for table in shown
        if isinstance(table, Table)
        for column in table.columns
        for cell in column.cells
    ]
    feet = {sign: text for sign, text in FOOT.items() if any(sign in cell for cell in cells)}
    return [*shown, pairs(feet, style="dim")] if feet else shown


def _mark(sources: object, name: str) -> str:
    assert hasattr(sources, "get")
    return ASSUMED if is_assumed(sources.get(name)) else ""


def _types(model: CountersModel) -> Table:
    table = plain_table()
    table.add_column("type", overflow="fold")
    for title in ("dispatches", "share", "best IPC", "best dispatch"):
        table.add_column(title, justify="right")
    whole = sum(task_type.dispatches for task_type in model.types)
    for task_type in model.types:
        table.add_row(
            printable(task_type.name),
            f"{_mark(task_type.sources, 'dispatches')}{task_type.dispatches:,g}",
            f"{task_type.dispatches / whole:.1%}",
            f"{_mark(task_type.sources, 'best_ipc')}{task_type.best_ipc:.4g}",
            _mark(task_type.sources, "best_dispatch") + duration(task_type.best_dispatch, "ns"),
        )
    return table


def _matrix(model: CountersModel) -> Table:
    table = plain_table()
    table.add_column("after", overflow="fold")
    for task_type in model.types:
        table.add_column(printable(task_type.name), justify="right")
    for before in model.types:
        table.add_row(
            printable(before.name), *(_penalty(after, before.name) for after in model.types)
        )
    return table


def _penalty(after: CountedType, before: str) -> str:
    penalty, cell = after.penalty(before), after.after_type(before)
    if penalty is None or cell is None:
        return UNKNOWN
    error = after.penalty_error(before)
    spread = "" if error is None else f" ± {duration(error, 'ns')}"
    return f"{_mark(cell.sources, 'ipc')}{duration(penalty, 'ns')}{spread}"


def _warm_up(model: CountersModel) -> dict[str, str]:
    lines = {}
    for points in model.warm_up:
        curve = points.curve
        lines[f"warm-up of {printable(points.type)}"] = (
            f"from {curve.initial:.2g} to {curve.limit:.3g}, time constant "
            f"{curve.time_constant:.3g} ms; a cold slice loses {curve.lost:.3g} ms "
            f"({_mark(points.sources, 'reading')}{points.reading} reading)"
        )
    return lines


def _segregation(model: CountersModel) -> dict[str, str]:
    figures, given = model.segregation_figures(), model.segregation
    if figures is None or given is None:
        return {}
    name, harmful = printable(given.type), printable(given.harmful_type)
    return {
        f"{name} after {harmful}": f"{figures.relative_speed:.1%} of its best speed, "
        f"{1 / figures.relative_speed:.3g} times as long",
        f"lost to {harmful}": f"{figures.wasted_of_type:.1%} of the time of {name}, "
        f"{figures.wasted_of_all:.1%} of all CPU time",
        f"{name} on a CPU of its own": f"idle for {figures.idle:.1%} of the time; the "
        f"longest queue takes {duration(figures.drain, 'ns')}",
    }


def _figures(figures: CounterFigures) -> list[Table | Text]:
    tables = {
        "by CPU (Figure 3)": _performance(figures.by_cpu),
        "by CPU and type (Figures 4 and 5)": _performance(figures.by_type),
        "threads that are dispatched most often (Figure 6)": _performance(figures.by_thread),
        "threads by distance from the mean of all (Figure 7)": _deviations(figures.deviations),
        "by what ran before (Figures 8 and 9)": _performance(figures.by_predecessor),
        "by slice length (Figure 10)": _performance(figures.by_length),
    }
    if figures.queues:
        tables["threads that wait (Figure 11)"] = _queues(figures.queues)
    return [part for title, table in tables.items() for part in (Text(title), table, Text(""))]


def _performance(rows: Sequence[PerformanceRow]) -> Table:
    table = plain_table()
    for name, _ in rows[0].group if rows else ():
        table.add_column(name, overflow="fold")
    for title in (
        "dispatches", "share", "time", "mean length", "IPC", "IPC of dispatches",
    ):  # fmt: skip
        table.add_column(title, justify="right")
    misses = [
        (title, name)
        for title, name in (("I-misses", "instruction_misses"), ("D-misses", "data_misses"))
        if rows and getattr(rows[0], name) is not None
    ]
    for title, _ in misses:
        table.add_column(f"{title} / 100", justify="right")
    for row in rows:
        table.add_row(
            *(printable(value) for _, value in row.group),
            f"{row.dispatches:,}",
            f"{row.dispatch_share:.1%}",
            f"{row.time_share:.1%}",
            duration(row.mean_length, "ns"),
            f"{row.ipc:.3f}",
            f"{row.ipc_of_dispatches:.3f}",
            *(f"{getattr(row, name):.3g}" for _, name in misses),
        )
    return table


def _deviations(rows: Sequence[DeviationRow]) -> Table:
    table = plain_table()
    table.add_column("metric")
    ranges = list(dict.fromkeys((row.low, row.high) for row in rows))
    for low, high in ranges:
        table.add_column(_range(low, high), justify="right")
    for metric in dict.fromkeys(row.metric for row in rows):
        shares = [f"{row.share:.1%}" for row in rows if row.metric == metric]
        table.add_row(metric.replace("_", " ").replace("ipc", "IPC"), *shares)
    return table


def _range(low: float, high: float) -> str:
    if low == float("-inf"):
        return f"below {high:+g}σ"
    return f"above {low:+g}σ" if high == float("inf") else f"{low:+g}σ to {high:+g}σ"


def _queues(rows: Sequence[QueueRow]) -> Table:
    table = plain_table()
    for title in ("CPU", "mean", "median", "95 %", "largest"):
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(
            str(row.cpu), f"{row.mean:.2f}", f"{row.median:g}", f"{row.percentile_95:g}",
            str(row.largest),
        )  # fmt: skip
    return table
