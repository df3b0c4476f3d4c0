"""Commands that start without the packages that take long to load."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

HEAVY = {
    "distributed", "matplotlib", "networkx", "ortools", "pandas", "scipy", "sympy",
}  # fmt: skip

RUN = """
import sys
from dfopt_cli.app import app
from dfopt_cli.exit_codes import INFEASIBLE
for command in sys.argv[1:]:
    try:
        app(command.split(), prog_name="dfopt")
    except SystemExit as end:
        assert end.code in (None, 0, INFEASIBLE), command
print(*sys.modules)
"""


def loaded_by(*commands: str) -> set[str]:
    """Return the packages that a process has loaded after these commands."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *commands],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "",
        "solve",
        "compare",
        "simulate run-queue",
        "plot schedule",
        "model crossover",
        "model contention",
        "bench",
    ],
)
def test_help_is_light(command: str) -> None:
    assert (HEAVY | {"numpy"}).isdisjoint(loaded_by(f"{command} --help"))


@pytest.mark.slow
def test_completion_is_light(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_DFOPT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "dfopt simulate run-queue ch")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert (HEAVY | {"numpy"}).isdisjoint(loaded_by(""))


@pytest.mark.slow
def test_small_instances_are_light() -> None:
    files = sorted((ROOT / "instances/small").glob("*.json"))
    commands = [f"{command} {file}" for file in files for command in ("solve", "info")]
    assert HEAVY.isdisjoint(loaded_by(*commands))


@pytest.mark.slow
def test_comparing_a_trace_needs_numpy_alone() -> None:
    # What was attainable in all CPUs' cost together needs the core, and flows.
    costs = "--objective max-penalty"
    loaded = loaded_by(f"compare docs/examples/two-cpus.jsonl {costs} --workers 1")
    assert "numpy" in loaded
    assert HEAVY.isdisjoint(loaded)
