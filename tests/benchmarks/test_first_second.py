"""The best schedule of ``auto`` after 1, 10 and 20 s, beside insertion and annealing.

``python -m pytest tests/benchmarks/test_first_second.py -k "plane-max and 500"`` chooses forms and
numbers of tasks, ``DFOPT_BENCH_SEEDS=0,1`` the instances. With ``DFOPT_BENCH_YARDSTICK=FILE`` the
yardstick's curves are kept in a file, so that the next run needs only the time of ``auto``. All of
it takes three hours, and one and a half of them after that. Both clocks count processor time, so
that other programs on the machine do not matter much.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import process_time
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from dfopt import Instance, TimeLimit, solve
from dfopt.bounds import cheap_bound
from dfopt.costs.task_types import task_types
from tests.benchmarks.forms import CPUS, FORMS
from tests.benchmarks.own_process import in_own_process
from tests.benchmarks.report import Table
from tests.benchmarks.test_configuration import chosen_seeds
from tests.benchmarks.yardstick import annealed

LIMIT_S = 20.0
MOMENTS_S = {1.0: 1.05, 10.0: 1.01, LIMIT_S: 1.0}
"""How much more than the yardstick's last schedule is allowed when."""

Curve = Sequence[tuple[float, int]]


def solved(instance: Instance) -> tuple[Curve, int, int]:
    """Return what ``auto`` had when, in seconds of processor time, its objective and bound."""
    with patch("dfopt.solvers.search.time", SimpleNamespace(monotonic=process_time)):
        result = solve(instance, stop=TimeLimit(LIMIT_S), workers=1)
    assert result.objective is not None
    assert result.lower_bound is not None
    found = [(step.time_s, step.objective) for step in result.history if step.objective is not None]
    return found, result.objective, result.lower_bound


def best_at(curve: Curve, moment: float) -> int | None:
    """Return the best objective by then."""
    return min((value for time_s, value in curve if time_s <= moment), default=None)


def yardstick(form: str, tasks: int, seed: int) -> Curve:
    """Return the yardstick's curve, from the file if there is one."""
    name = f"{form} {tasks} {seed}"
    file = Path(os.environ.get("DFOPT_BENCH_YARDSTICK", os.devnull))
    kept = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    if name not in kept:
        instance = FORMS[form](tasks, seed)
        enough = cheap_bound(instance, task_types(instance)).value
        kept[name], _ = in_own_process(annealed_after_loading, instance, enough)
        if file != Path(os.devnull):
            file.write_text(json.dumps(kept, indent=0), "utf-8")
    return [tuple(step) for step in kept[name]]


def annealed_after_loading(instance: Instance, enough: int) -> Curve:
    """Return the yardstick's curve without the time that its machine code takes to load."""
    kin = FORMS["plane-releases" if instance.is_timed else "plane-max"](min(CPUS), 0)
    annealed(kin, 0.01)
    return annealed(instance, LIMIT_S, enough=enough)


def ratio(value: int | None, least: int) -> float:
    """Return how much larger a value is; nothing found is infinitely large."""
    if value is None:
        return float("inf")
    return value / least if least else 1.0 + value


@pytest.mark.parametrize("tasks", CPUS)
@pytest.mark.parametrize("form", FORMS)
def test_curve(form: str, tasks: int, report: Callable[[Table], None]) -> None:
    rows: list[list[object]] = []
    ratios: list[list[float]] = []
    for seed in chosen_seeds(range(3)):
        curve = yardstick(form, tasks, seed)
        least = curve[-1][1]
        instance = FORMS[form](tasks, seed)
        (found, objective, lower_bound), _ = in_own_process(solved, instance)
        assert lower_bound <= least
        ours = [best_at(found, moment) for moment in MOMENTS_S]
        ours[-1] = objective
        ratios.append([ratio(value, least) for value in ours])
        rows.append(
            [
                seed,
                *(best_at(curve, moment) for moment in MOMENTS_S),
                *ours,
                lower_bound,
            ]
        )
    columns = list(zip(*ratios, strict=True))
    worst = [max(column) for column in columns]
    report(
        Table(
            name=f"first-second-{form}-{tasks}",
            title=f"auto against insertion and annealing: {form}, {tasks} tasks",
            command=f'python -m pytest tests/benchmarks/test_first_second.py -k "{form}-{tasks}"',
            columns=[
                "seed",
                *(f"yardstick, {moment:g} s" for moment in MOMENTS_S),
                *(f"auto, {moment:g} s" for moment in MOMENTS_S),
                "lower bound",
            ],
            rows=rows,
            notes=[
                "auto × the yardstick's last schedule, median and worst: "
                + "; ".join(
                    f"{moment:g} s: {median(column):.3f}, {max(column):.3f}"
                    + ("" if max(column) <= allowed else " (MISSED)")
                    for (moment, allowed), column in zip(MOMENTS_S.items(), columns, strict=True)
                )
            ],
        )
    )
    assert all(
        value <= allowed for value, allowed in zip(worst, MOMENTS_S.values(), strict=True)
    ), worst
