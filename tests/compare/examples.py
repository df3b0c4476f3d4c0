"""A comparison made by hand, and a trace small enough to count on one's fingers."""

import json
from collections.abc import Iterable
from pathlib import Path

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.compare.comparison import Comparison
from dfopt.compare.comparison_parts import Cause, CpuResult, FragmentResult, Realised, WindowResult
from dfopt.compare.cost_model import CostModel
from dfopt.trace.quality import LabelledQuality


def causes(**costs: int) -> dict[Cause, int]:
    """Return costs by cause; a cause is named as in :class:`Cause`, in small letters."""
    return {cause: costs.get(cause.name.lower(), 0) for cause in Cause}


def window(label: str, *, bound: int, rolling: int, realised: int = 12) -> WindowResult:
    return WindowResult(
        window=label,
        count=4,
        realised=realised,
        bound=bound,
        rolling=rolling,
        balanced=bound + 1,
        closed=3,
        balanced_closed=4,
        rolling_closed=4,
    )


def frontier_row(scheduling: Scheduling, cost: int, mean: int, **more: int) -> FrontierRow:
    """Return a row of 18 dispatches that wait for ``mean`` on average."""
    return FrontierRow(
        scheduling=scheduling,
        cost=cost,
        dispatches=18,
        total_wait=18 * mean,
        p99_wait=7 * mean,
        **more,  # type: ignore[arg-type]
    )


def frontier(**changes: object) -> WaitingFrontier:
    """Return rows that fit :func:`comparison`, with waits in nanoseconds."""
    rule = [
        frontier_row(Scheduling.PATIENCE, cost, wait, patience=patience)
        for cost, wait, patience in ((10, 30_000, 0), (8, 50_000, 30_000), (7, 90_000, 10**6))
    ]
    fields: dict[str, object] = {
        "rows": (
            frontier_row(Scheduling.RECORDED, 12, 60_000),
            frontier_row(Scheduling.SAME_TIMELINE, 11, 60_000, bound=11, bound_with_lengths=11),
            frontier_row(Scheduling.LEAST_RECENTLY_USED, 12, 60_000),
            frontier_row(Scheduling.NOBODY_LATER, 7, 25_000, wait=0, bound=5, bound_with_lengths=6),
            frontier_row(
                Scheduling.LONGEST_WAIT, 5, 430_000, wait=10**6, bound=3, bound_with_lengths=5
            ),
            frontier_row(Scheduling.SAME_MEAN_WAIT, 6, 55_000, bound=3, bound_with_lengths=3),
            rule[1],
        ),
        "patience": tuple(rule),
        "unknown": 1,
        "kept": 2,
    }
    return WaitingFrontier(**{**fields, **changes})  # type: ignore[arg-type]


def comparison(*, unlabelled_share: float = 0.125, **changes: object) -> Comparison:
    """Return two CPUs and two fragments that paid 12, and could have paid 4 to 6."""
    fields: dict[str, object] = {
        "name": "made by hand",
        "model": CostModel(),
        "cost_unit": "ns",
        "time_unit": "ns",
        "dispatches": 20,
        "managed": 18,
        "realised": Realised(total=12, worst=7, switches=12),
        "windows": (window("5", bound=4, rolling=9), window("whole", bound=4, rolling=6)),
        "causes": causes(first_load=2, revisited=6, split=4),
        "fragments": (
            FragmentResult(
                df="A", dispatches=10, tasks=3, cpus=2, run_time=100, switches=7, cost=7,
                causes=causes(first_load=1, revisited=4, split=2),
            ),
            FragmentResult(
                df="B", dispatches=8, tasks=2, cpus=2, run_time=80, switches=5, cost=5,
                causes=causes(first_load=1, revisited=2, split=2),
            ),
        ),
        "cpus": (
            CpuResult(
                cpu=0, dispatches=11, managed=10, fragments=2, run_time=100, switches=7, cost=7,
                causes=causes(first_load=1, revisited=4, split=2),
            ),
            CpuResult(
                cpu=1, dispatches=9, managed=8, fragments=2, run_time=90, switches=5, cost=5,
                causes=causes(first_load=1, revisited=2, split=2),
            ),
        ),
        "quality": LabelledQuality(
            lines=21, events=20, breaks=1, silent_cpus=(3,), unlabelled_share=unlabelled_share
        ),
    }  # fmt: skip
    return Comparison(**{**fields, **changes})  # type: ignore[arg-type]


Row = tuple[int, int, str, str | None]
"""CPU, start, task and fragment of a dispatch that takes 10."""

ROWS: tuple[Row, ...] = (
    (0, 0, "a", "A"),
    (1, 0, "b", "B"),
    (0, 10, "c", "B"),
    (1, 10, "d", "A"),
    (0, 20, "a", "A"),
    (1, 20, "b", "B"),
    (0, 30, "idler", None),
    (0, 40, "a", "A"),
)
"""Four changes of fragment, where two CPUs that keep to their fragments need none."""


def write_trace(path: Path, rows: Iterable[Row] = ROWS, **header: object) -> Path:
    """Write a ``dfopt-trace/1``."""
    lines: list[dict[str, object]] = [{"format": "dfopt-trace/1", "cpus": 2, **header}]
    lines += [
        {"cpu": cpu, "start": start, "end": start + 10, "task": task, "df": df}
        for cpu, start, task, df in rows
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
