"""What ``--help`` says: every command in lists in full, and examples that can be typed."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from dfopt_cli.app import app
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
FILES = {
    "instance.json": "worked-example.json",
    "instances/hackbench-4-groups-100.json": "worked-example.json",
    "ft53.atsp": "four-cities.atsp",
    "requests.csv": "gpu-requests.csv",
}
"""Files that the examples name, and those that ship and take their places."""

TRACES = ("trace.txt", "old.txt", "new.txt", "perf.txt", "a.txt", "b.txt")

TAKES_SECONDS = {
    "measure machine",
    "measure penalties",
    "simulate run-queue",
    "simulate space-sharing",
}
"""Commands that measure or simulate much."""


def commands_below(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a command and all below it, with the words that call them."""
    yield names, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands_below(inner, *names, name)


COMMANDS = dict(commands_below(get_command(app)))
GROUPS = [names for names, command in COMMANDS.items() if hasattr(command, "commands")]


@pytest.mark.parametrize("names", GROUPS, ids=" ".join)
def test_lists_of_commands_cut_no_description(
    run: Run, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = run(*names, "--help")[1].partition("Commands:\n")[2].splitlines()
    assert len(listed) == len(COMMANDS[names].commands)  # one line each
    assert not [line for line in listed if line.endswith("...") or "\u2026" in line]


@pytest.mark.parametrize("names", [n for n in COMMANDS if n not in GROUPS], ids=" ".join)
def test_every_command_helps_with_an_example(
    run: Run, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(*names, "--help")
    assert code == 0
    assert f"Example: dfopt {' '.join(names)} " in " ".join(out.split())
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "\nArgs" not in out


def test_the_options_that_most_people_need_come_first(run: Run) -> None:
    usual, others = run("compare", "--help")[1].partition("Options:\n")[2].split("\n\n", 1)
    listed = [line.split("-", 1)[1] for line in usual.splitlines() if line.startswith("  -")]
    assert len(listed) == 12
    assert {line for line in others.splitlines() if line and line[0] != " "} == {
        "Which threads share data:",
        "What switches cost:",
        "Windows of dispatches:",
        "Time and processes:",
    }


@pytest.mark.parametrize("names", [n for n in COMMANDS if n not in GROUPS], ids=" ".join)
def test_every_option_is_listed_once(run: Run, names: tuple[str, ...]) -> None:
    listed = run(*names, "--help")[1].partition("\nOptions:\n")[2]
    shown = re.findall(r"^  (?:-\w, )?(--[\w-]+)", listed, re.MULTILINE)
    for option in COMMANDS[names].params:
        if option.param_type_name == "option":
            assert shown.count(option.opts[0]) == 1


def example_of(names: tuple[str, ...]) -> str:
    """Return what a command's example types behind ``dfopt``."""
    return " ".join(COMMANDS[names].help.partition("Example: dfopt ")[2].split())


def text_of_a_trace() -> str:
    """Return what ftrace prints when two processes of two threads share two CPUs for 20 ms."""
    lines = ["# tracer: nop"]
    running = [0, 0]
    for step in range(1, 20):
        for cpu in (0, 1):
            before, after = running[cpu], 100 * (1 + (step + cpu) // 3 % 2) + cpu
            running[cpu] = after
            head = f"p-{before} ({before // 100 * 100:5}) [00{cpu}] d..2. "
            lines += [
                f"{head}{100 + step / 1000 - 0.0005:.6f}: sched_waking: comm=p pid={after} "
                f"prio=120 target_cpu=00{cpu}",
                f"{head}{100 + step / 1000:.6f}: sched_switch: prev_comm=p prev_pid={before} "
                f"prev_prio=120 prev_state=S ==> next_comm=p next_pid={after} next_prio=120",
            ]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
def test_examples_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run in the order of the help; what one of them writes is there for the next ones."""
    monkeypatch.chdir(tmp_path)
    for name, shipped in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        shutil.copyfile(EXAMPLES / shipped, name)
    for name in TRACES:
        Path(name).write_text(text_of_a_trace(), "utf-8")
    failed = []
    for names in [("trace", "label"), *COMMANDS]:
        if names in GROUPS or " ".join(names) in TAKES_SECONDS:
            continue
        words = example_of(names).partition(" > ")[0]
        code, _, err = run(*shlex.split(words))
        if code:
            failed.append(f"{words}: {code}, {err}")
    assert not failed, "\n".join(failed)
