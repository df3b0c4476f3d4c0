"""Tables of counters: figures of samples, penalties between task types, warm-up, segregation."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.table import TIME, Table, TableColumn, Uncertain, Value, columns, facts, table_of
from dfopt.time_units import readable_time
from dfopt_models.counters.figures import CounterFigures, DeviationRow, PerformanceRow
from dfopt_models.counters.model import CountedType, CountersModel
from dfopt_models.parameter_fields import is_assumed

PERFORMANCE = {
    "dispatches": "dispatches",
    "dispatch_share": "share :.1%",
    "time_share": "time :.1%",
    "mean_length": "mean length [ns] :time",
    "ipc": "IPC :.3f",
    "ipc_of_dispatches": "IPC of dispatches :.3f",
    "instruction_misses": "I-misses / 100 :.3g",
    "data_misses": "D-misses / 100 :.3g",
}

QUEUES = {
    "cpu": "CPU",
    "mean": "mean :.2f",
    "median": "median :g",
    "percentile_95": "95 % :g",
    "largest": "largest",
}


TYPE_NUMBERS = ("dispatches", "best_ipc", "best_dispatch")


def counters_tables(model: CountersModel, figures: CounterFigures | None) -> list[Table]:
    """Return a model, and the samples that it comes from, as tables."""
    after = [TableColumn("after")]
    after += [TableColumn(each.name, "ns", TIME) for each in model.types]
    penalties = [
        (before.name, *(_penalty(each, before.name) for each in model.types))
        for before in model.types
    ]
    unknown = any(value is None for row in penalties for value in row)
    tables = [
        *([] if figures is None else _figures(figures)),
        _types(model),
        Table(
            "penalty of a type (across) after another one (down)",
            after,
            penalties,
            ["–: too few dispatches; add the value to a file of the model"] * unknown,
        ),
        facts(_warm_up(model) | _segregation(model), "warm-up and segregation"),
    ]
    return [Table(model.name), *(table for table in tables if table.rows)]


def _types(model: CountersModel) -> Table:
    whole = sum(each.dispatches for each in model.types)
    rows: list[tuple[Value, ...]] = [
        (each.name, *(_marked(each, name) for name in TYPE_NUMBERS), each.dispatches / whole)
        for each in model.types
    ]
    return Table(
        "task types",
        columns(
            "type", "dispatches :,g", "best IPC :.4g", "best dispatch [ns] :time", "share :.1%"
        ),
        rows,
        ["~: neither measured nor published, but assumed"]
        * any(is_assumed(each.sources.get(name)) for each in model.types for name in TYPE_NUMBERS),
    )


def _marked(task_type: CountedType, name: str) -> Uncertain:
    assumed = is_assumed(task_type.sources.get(name))
    return Uncertain(getattr(task_type, name), assumed=assumed)


def _penalty(after: CountedType, before: str) -> Uncertain | None:
    cell = after.after_type(before)
    if cell is None:
        return None
    assumed = is_assumed(cell.sources.get("ipc"))
    return Uncertain(after.penalty(before), after.penalty_error(before), assumed)


def _warm_up(model: CountersModel) -> dict[str, Value]:
    return {
        f"warm-up of {points.type}": f"from {points.curve.initial:.2g} to {points.curve.limit:.3g}"
        f", time constant {points.curve.time_constant:.3g} ms; a cold slice loses "
        f"{points.curve.lost:.3g} ms ({'~' if is_assumed(points.sources.get('reading')) else ''}"
        f"{points.reading} reading)"
        for points in model.warm_up
    }


def _segregation(model: CountersModel) -> dict[str, Value]:
    figures, given = model.segregation_figures(), model.segregation
    if figures is None or given is None:
        return {}
    name, harmful = given.type, given.harmful_type
    return {
        f"{name} after {harmful}": f"{figures.relative_speed:.1%} of its best speed, "
        f"{1 / figures.relative_speed:.3g} times as long",
        f"lost to {harmful}": f"{figures.wasted_of_type:.1%} of the time of {name}, "
        f"{figures.wasted_of_all:.1%} of all CPU time",
        f"{name} on a CPU of its own": f"idle for {figures.idle:.1%} of the time; the "
        f"longest queue takes {readable_time(figures.drain, 'ns')}",
    }


def _figures(figures: CounterFigures) -> list[Table]:
    groups = {
        "by CPU (Figure 3)": figures.by_cpu,
        "by CPU and type (Figures 4 and 5)": figures.by_type,
        "threads that are dispatched most often (Figure 6)": figures.by_thread,
        "by what ran before (Figures 8 and 9)": figures.by_predecessor,
        "by slice length (Figure 10)": figures.by_length,
    }
    return [
        *(_performance(title, rows) for title, rows in groups.items()),
        _deviations(figures.deviations),
        table_of("threads that wait (Figure 11)", figures.queues, QUEUES),
    ]


def _performance(title: str, rows: Sequence[PerformanceRow]) -> Table:
    own = table_of(title, rows, PERFORMANCE)
    names = columns(*(name for row in rows[:1] for name, _ in row.group))
    values = [
        (*(value for _, value in row.group), *figures)
        for row, figures in zip(rows, own.rows, strict=True)
    ]
    return Table(title, (*names, *own.columns), values)


def _deviations(rows: Sequence[DeviationRow]) -> Table:
    ranges = dict.fromkeys(_range(row.low, row.high) for row in rows)
    return Table(
        "threads by distance from the mean of all (Figure 7)",
        columns("metric", *(f"{each} :.1%" for each in ranges)),
        [
            (
                metric.replace("_", " ").replace("ipc", "IPC"),
                *(row.share for row in rows if row.metric == metric),
            )
            for metric in dict.fromkeys(row.metric for row in rows)
        ],
    )


def _range(low: float, high: float) -> str:
    if low == float("-inf"):
        return f"below {high:+g}σ"
    return f"above {low:+g}σ" if high == float("inf") else f"{low:+g}σ to {high:+g}σ"
