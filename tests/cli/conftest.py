"""Fixtures that run ``dfopt``, in this process or in one of its own, and files to run it on."""

import os
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from typer.testing import CliRunner

from dfopt.files import fingerprint, write_instance, write_result
from dfopt.problem.result import InstanceName, Result, Status, StopReason
from dfopt_cli import progress
from dfopt_cli.app import app
from tests.cli.terminal import Terminal
from tests.compare.examples import write_trace
from tests.plot.worked_example import DATA_AFFINITY, INSTANCE

NEVER_S = 1e6

EXECUTABLE = Path(sysconfig.get_path("scripts"), "dfopt")


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands say nothing of how long they take."""
    monkeypatch.setattr(progress, "FIRST_LINE_S", NEVER_S)


class Run(Protocol):
    """Runs ``dfopt`` in this process; returns exit code, standard output and standard error."""

    def __call__(self, *arguments: str | Path, stdin: str = "") -> tuple[int, str, str]: ...


@pytest.fixture
def run() -> Run:
    def invoke(*arguments: str | Path, stdin: str = "") -> tuple[int, str, str]:
        outcome = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if outcome.exception and not isinstance(outcome.exception, SystemExit):
            raise outcome.exception
        return outcome.exit_code, outcome.stdout, outcome.stderr

    return invoke


class Start(Protocol):
    """Starts ``dfopt`` as a process of its own."""

    def __call__(
        self,
        *arguments: str | Path,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        encoding: str = "utf-8",
    ) -> "subprocess.Popen[str]": ...


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def popen(
        *arguments: str | Path,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        encoding: str = "utf-8",
    ) -> "subprocess.Popen[str]":
        # Output is buffered, as it is for users, whatever the tests themselves run under.
        environment = {**os.environ, "PYTHONUNBUFFERED": "", "PYTHONIOENCODING": encoding}
        started.append(
            subprocess.Popen(
                [EXECUTABLE, *arguments],
                stdout=stdout,
                stderr=stderr,
                env=environment,
                text=True,
                encoding=encoding,
            )
        )
        return started[-1]

    yield popen
    for process in started:
        if process.poll() is None:  # its test has failed
            process.kill()
            process.communicate()


@pytest.fixture
def terminal(start: Start, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal for a process."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal(start)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace to compare, as a file."""
    return write_trace(tmp_path / "trace.jsonl", time_unit="ns")


@pytest.fixture
def instance_file(tmp_path: Path) -> Path:
    """The worked example as a file."""
    path = tmp_path / "instance.json"
    write_instance(INSTANCE, path)
    return path


@pytest.fixture
def result_file(tmp_path: Path) -> Path:
    """Its best schedule as a file."""
    path = tmp_path / "result.json"
    result = Result(
        instance=InstanceName(name=INSTANCE.name, sha256=fingerprint(INSTANCE)),
        status=Status.FEASIBLE,
        stop_reason=StopReason.GIVEN,
        objective=15,
        gap=1.0,
        schedule=DATA_AFFINITY,
    )
    write_result(result, path)
    return path
