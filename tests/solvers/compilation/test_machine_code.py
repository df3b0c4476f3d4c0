"""Loops are compiled in a process beside the search, and then loaded."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dfopt.solvers.compilation import machine_code
from dfopt.solvers.compilation.machine_code import MachineCode
from tests.patience import PATIENCE_S


def nothing() -> None:
    """Stand for a search that goes on."""


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the processes that are started find no machine code on disk."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_compiler_ends_with_the_process_that_wants_it(empty: Path) -> None:
    compiler = machine_code.start_compiler(("signal:pause",))
    assert compiler.stdin is not None
    compiler.stdin.close()
    assert compiler.wait(PATIENCE_S) == 1


def test_what_another_process_has_compiled_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(callers: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    loaded: list[Callable[[], None]] = []
    code = MachineCode()
    monkeypatch.setattr(machine_code, "start_compiler", started)
    monkeypatch.setattr(machine_code, "load_kept", lambda calls, check: False)
    monkeypatch.setattr(machine_code, "load", lambda calls, check: loaded.append(calls))
    assert not code.is_ready(nothing)
    assert not code.is_ready(nothing)
    compiler = code._compiler
    assert compiler is not None
    compiler.communicate(b"end" + os.linesep.encode())
    assert code.is_ready(nothing)
    assert code.is_ready(nothing)
    assert loaded == [code.first_calls]
