"""The best schedule of ``auto`` after 1, 10 and 20 s, beside insertion and annealing.

``python -m pytest tests/benchmarks/test_first_second.py -k "plane-max-100 or f-max"`` chooses forms
and numbers of tasks, ``DFOPT_BENCH_SEEDS=0,1`` the instances, and ``DFOPT_BENCH_PEERS=routing`` who
gets as much time as ``auto``. With ``DFOPT_BENCH_YARDSTICK=FILE`` the yardstick's curves are kept
in a file, so that the next run needs only the time of ``auto``. All of it takes three hours.
All clocks count processor time, so that other programs on the machine do not matter much.
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

from dfopt import Instance, Objective, PenaltyMatrix, TimeLimit, solve
from dfopt.costs.cheap_bounds import cheap_bound
from dfopt.costs.task_types import task_types
from tests.benchmarks.forms import CPUS, FORMS
from tests.benchmarks.own_process import in_own_process
from tests.benchmarks.peers import PEERS
from tests.benchmarks.report import Table
from tests.benchmarks.test_configuration import chosen_seeds
from tests.benchmarks.yardstick import annealed, compiled, machine_compiler

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


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the yardstick's loops."""
    compiler = machine_compiler()
    if compiler is None:
        pytest.skip("the yardstick needs a C++ compiler, and this machine has none")
    return compiled(compiler, tmp_path_factory.mktemp("yardstick"))


def yardstick(form: str, tasks: int, seed: int, loops: Path) -> Curve:
    """Return the yardstick's curve, from the file if there is one."""
    name = f"{form} {tasks} {seed}"
    file = Path(os.environ.get("DFOPT_BENCH_YARDSTICK", os.devnull))
    kept = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    if name not in kept:
        instance = FORMS[form](tasks, seed)
        is_slow = isinstance(instance.penalty, PenaltyMatrix)  # to bound cheaply
        enough = 0 if is_slow else cheap_bound(instance, task_types(instance)).value
        kept[name], _ = in_own_process(annealed_after_loading, instance, enough, loops)
        if file != Path(os.devnull):
            file.write_text(json.dumps(kept, indent=0), "utf-8")
    return [tuple(step) for step in kept[name]]


def annealed_after_loading(instance: Instance, enough: int, loops: Path) -> Curve:
    """Return the yardstick's curve without the time that its machine code takes to load."""
    kin = FORMS["plane-releases" if instance.is_timed else "plane-max"](min(CPUS), 0)
    annealed(kin, 0.01, library=loops)
    return annealed(instance, LIMIT_S, library=loops, enough=enough)


def ratio(value: int | None, least: int) -> float:
    """Return how much larger a value is; nothing found is infinitely large."""
    if value is None:
        return float("inf")
    return value / least if least else 1.0 + value


def peer(name: str, instance: Instance) -> int | None:
    """Return what a peer finds; None for nothing, and for instances that it does not know."""
    is_routing, is_makespan = name == "routing", instance.objective is Objective.MAKESPAN
    if (is_routing and instance.is_timed) or (name == "PyJobShop" and not is_makespan):
        return None
    if name != "circuits" and instance.initial:
        return None
    return PEERS[name](instance, LIMIT_S, 1).objective


def both(ratios: Sequence[float]) -> str:
    """Write the median and, if there are several, the worst."""
    text = f"{median(ratios):.3f}"
    return text if len(ratios) == 1 else f"{text}, {max(ratios):.3f}"


@pytest.fixture(scope="module")
def rows() -> list[list[object]]:
    """The rows of this run."""
    return []


@pytest.mark.parametrize("tasks", CPUS)
@pytest.mark.parametrize("form", FORMS)
def test_curve(
    form: str,
    tasks: int,
    loops: Path,
    rows: list[list[object]],
    report: Callable[[Table], None],
) -> None:
    names = os.environ.get("DFOPT_BENCH_PEERS", "")
    peers = names.split(",") if names else []
    last: list[int] = []
    ratios: list[list[float]] = []
    for seed in chosen_seeds(range(3)):
        instance = FORMS[form](tasks, seed)
        curve = yardstick(form, tasks, seed, loops)
        last.append(curve[-1][1])
        (found, objective, lower_bound), _ = in_own_process(solved, instance)
        assert lower_bound <= last[-1]
        values = [best_at(curve, moment) for moment in MOMENTS_S][:-1]
        values += [*(best_at(found, moment) for moment in MOMENTS_S)][:-1]
        values += [objective, lower_bound]
        values += [in_own_process(peer, name, instance)[0] for name in peers]
        ratios.append([ratio(value, last[-1]) for value in values])
    columns = list(zip(*ratios, strict=True))
    first = len(MOMENTS_S) - 1
    missed = [
        f"{moment:g} s"
        for (moment, allowed), column in zip(MOMENTS_S.items(), columns[first:], strict=False)
        if max(column) > allowed
    ]
    cells = [both(column) for column in columns]
    rows.append([form, tasks, ", ".join(map(str, last)), *cells, ", ".join(missed)])
    moments = [f"{moment:g} s" for moment in MOMENTS_S]
    report(
        Table(
            name="first-second",
            title="auto beside insertion and annealing, × the yardstick's last schedule",
            command="python -m pytest tests/benchmarks/test_first_second.py",
            columns=[
                "form", "tasks", "yardstick's last",
                *(f"yardstick, {moment}" for moment in moments[:-1]),
                *(f"auto, {moment}" for moment in moments),
                "lower bound", *peers, "missed",
            ],
            rows=list(rows),
            notes=["median and worst of the seeds; inf is no schedule yet, or none that is known"],
        )
    )  # fmt: skip
    assert not missed
