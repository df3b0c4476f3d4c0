"""The page on cache domains: its figures are those of the commands that it shows."""

import json
import shlex
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from dfopt import replace
from dfopt_cli.app import app

ROOT = Path(__file__).parents[3]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the simulations of the page."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "reproduction" / "run_queue")
    return import_module("cache_domains_runs")


@pytest.mark.parametrize("name", ["fitted_chat", "chat"])
def test_a_command_gives_the_first_row(
    name: str, runs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = import_module("cache_domains_cases")
    case = getattr(cases, name)(1, "0-1;2-3")
    case = replace(case, settings=tuple((dict(case.settings) | {"messages": 3}).items()))
    figures = runs.figures_of((case, runs.EEVDF, case.values[0]))
    monkeypatch.chdir(ROOT / "docs" / "examples")
    _, *words = shlex.split(case.command(runs.EEVDF))
    told = CliRunner().invoke(app, [*words, "--json", "--quiet", "--workers", "1"])
    (run,) = json.loads(told.stdout)["runs"]
    assert figures.changes == run["fragment_switches"] > 0
    assert figures.penalty == run["penalty"]["total"] / 1e6
    assert figures.p99 == run["service"]["wakeup_latency"]["p99"] / 1e6
    assert figures.least_changes <= figures.changes
    assert figures.least_arrivals <= figures.arrivals
    tables = import_module("cache_domains_tables")
    twice = replace(case, values=(case.values[0],) * 2)
    results = runs.Results([(twice, [runs.EEVDF])], processes=1)
    shown = "\n".join(tables.Tables(results, {}).small_table({twice: ["x"]}, ["y"], [runs.EEVDF]))
    assert f"| x | `eevdf` | {figures.changes:.0f} ± 0 |" in shown


def test_a_recording_is_charged_by_distance(runs: ModuleType) -> None:
    apart, together = (runs.Case("hackbench-4", domains) for domains in ("0;1", "0-1"))
    alone = runs.recorded_figures(apart)
    # 191 changes of 64 lines of 100 ns each, and 5 µs to write back, as dfopt compare says.
    assert (alone.changes, alone.penalty) == (191, 191 * 0.0114)
    assert (alone.least_changes, alone.least_arrivals, alone.arrivals) == (3, 4, 303)
    quarter, half, whole = (
        runs.recorded_figures(replace(together, nearer=nearer)).penalty for nearer in (4, 2, 1)
    )
    assert quarter < half < whole == alone.penalty
    # What is saved is near, whatever the price.
    assert (whole - quarter) / (whole - half) == pytest.approx(1.5)
