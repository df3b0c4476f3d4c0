"""A file of another kind, or a name of one, is answered with the commands for it."""

import re
from pathlib import Path

import pytest

from dfopt.files.formats import Format
from tests.cli.conftest import Run

EXAMPLES = Path(__file__).parents[2] / "docs/examples"


@pytest.mark.parametrize("kind", Format)
def test_the_commands_for_a_kind_exist(run: Run, kind: Format) -> None:
    for command in re.findall(r"'dfopt (.*?)'", kind.takers + kind.makers):
        assert run(*command.split(), "--help")[0] == 0, command


@pytest.mark.parametrize(
    ("command", "name", "said"),
    [
        ("plot crossover", "mix.toml", "a mix of jobs"),
        ("solve", "mix.toml", "a mix of jobs"),
        ("solve", "workers.ftrace.txt", "a trace"),
        ("compare", "mix.toml", "a mix of jobs"),
        ("report", "shop.json", "an instance"),
        ("model counters", "shop.json", "an instance"),
        ("model contention", "workers.ftrace.txt", "a trace"),
        ("simulate space-sharing", "scenario.toml", "a scenario"),
        ("simulate run-queue", "mix.toml", "a mix of jobs"),
    ],
)
def test_a_file_of_another_kind(
    run: Run, tmp_path: Path, command: str, name: str, said: str
) -> None:
    output = ["-o", tmp_path / ("x.html" if command == "report" else "x.svg")]
    draws = command.startswith(("plot", "report"))
    code, out, err = run(*command.split(), EXAMPLES / name, *(output if draws else []))
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {EXAMPLES / name}: format: the file holds {said} (dfopt-")
    assert " is due here" in err


@pytest.mark.parametrize(
    ("command", "name", "said"),
    [
        ("model response-time", "mix-1", "a mix of jobs"),
        ("solve", "sohn-kim", "a contention model"),
        ("simulate space-sharing", "chat", "a scenario"),
        ("simulate run-queue", "mix-1", "a mix of jobs"),
    ],
)
def test_a_name_of_another_kind(run: Run, command: str, name: str, said: str) -> None:
    code, out, err = run(*command.split(), name)
    assert (code, out) == (1, "")
    assert f"; {name} is {said} (dfopt-" in err
    assert "did you mean" not in err
