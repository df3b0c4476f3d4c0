"""The columns of data frames of a comparison, part by part."""

from __future__ import annotations

from typing import Literal, get_args

from dfopt.checks import described
from dfopt.errors import MethodError
from dfopt.table import TableColumn

FramePart = Literal["windows", "trace", "causes", "fragments", "cpus", "frontier"]
"""The parts of a comparison that data frames are made of."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "windows": (
        "window", "count", "realised", "bound", "rolling", "balanced", "ratio", "rolling_ratio",
        "difference", "closed", "balanced_closed", "rolling_closed",
    ),
    "trace": (
        "dispatches", "managed", "realised_total", "realised_max", "switches", "unlabelled_share",
        "latency_mean", "latency_p50", "latency_p99", "latency_longest", "wait_mean", "wait_p99",
        "wait_longest", "response_mean", "response_p99", "response_longest", "fairness",
        "migrations",
    ),
    "causes": ("cause", "cost"),
    "fragments": ("df", "name", "dispatches", "tasks", "cpus", "run_time", "switches", "cost"),
    "cpus": ("cpu", "dispatches", "managed", "fragments", "run_time", "switches", "cost"),
    "frontier": (
        "scheduling", "wait", "patience", "cost", "bound", "bound_with_lengths", "is_optimal",
        "dispatches", "total_wait", "mean_wait", "p99_wait",
    ),
}  # fmt: skip
"""The columns of each part after ``trace`` and ``policy``, without units."""

COSTS = frozenset({
    "realised", "bound", "rolling", "balanced", "difference", "realised_total", "realised_max",
    "cost", "bound_with_lengths",
})  # fmt: skip
"""The columns that are costs."""

TIMES = frozenset({
    "run_time", "wait", "patience", "total_wait", "mean_wait", "p99_wait", "latency_mean",
    "latency_p50", "latency_p99", "latency_longest", "wait_mean", "wait_p99", "wait_longest",
    "response_mean", "response_p99", "response_longest",
})  # fmt: skip
"""The columns that are times."""


def columns_of(part: FramePart, cost_unit: str, time_unit: str | None) -> list[TableColumn]:
    """Return a part's columns, with the unit of their values where there is one.

    Raises
    ------
    MethodError
        When there is no such part.
    """
    if part not in get_args(FramePart):
        parts = ", ".join(get_args(FramePart))
        raise MethodError(f"{described(part)} is no part of a comparison; name one of {parts}")
    units = dict.fromkeys(COSTS, cost_unit) | dict.fromkeys(TIMES, time_unit)
    return [TableColumn(name, units.get(name)) for name in COLUMNS[part]]
