"""The first solve after an installation: it compiles beside the search, and still proves."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dfopt.files import write_instance
from dfopt.generate import zipf
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.problem.result import Status
from dfopt.solvers import auto
from dfopt.solvers.compilation import machine_code
from dfopt.solvers.compilation.machine_code import MachineCode
from dfopt.solvers.facade import solve
from tests.patience import PATIENCE_S

WITH_CUTS = zipf(tasks=24, cpus=3, fragments=8, seed=2, penalty=PenaltyG(fill=3, write_back=1))
SMALL = zipf(tasks=14, cpus=3, fragments=5, seed=3, penalty=PenaltyF(read_line=1, write_back=20))


def nothing() -> None:
    """Stand for calls that are loaded, and for a search that goes on."""


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the processes that are started find no machine code on disk."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_a_small_instance_is_proven_without_any_machine_code(empty: Path) -> None:
    program = (
        "import sys, dfopt\n"
        "result = dfopt.solve(dfopt.read_instance(sys.argv[1]))\n"
        "print(result.status.value, type(result.certificate).__name__)\n"
    )
    path = empty / "small.json"
    write_instance(WITH_CUTS, path)
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    warm = solve(WITH_CUTS)
    assert done.stdout.split() == [warm.status.value, type(warm.certificate).__name__]


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


@pytest.mark.slow
@pytest.mark.parametrize("instance", [SMALL, WITH_CUTS], ids=["f", "g"])
@pytest.mark.parametrize("plain_python_s", [0.0, 60.0])
def test_the_first_solve_proves_the_same_optimum(
    instance: Instance, plain_python_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm = solve(instance, workers=1)
    monkeypatch.setattr(machine_code.LOOPS, "is_ready", lambda check: False)
    monkeypatch.setattr(auto, "PLAIN_PYTHON_S", plain_python_s)
    cold = solve(instance, workers=1)
    assert warm.status is cold.status is Status.OPTIMAL
    assert cold.objective == warm.objective


@pytest.mark.slow
def test_the_search_goes_on_with_machine_code_once_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [False, False, False]
    monkeypatch.setattr(machine_code.LOOPS, "is_ready", lambda check: not answers or answers.pop())
    monkeypatch.setattr(auto, "PLAIN_PYTHON_S", 0.0)
    phases: list[str] = []
    result = solve(
        zipf(tasks=40, cpus=4, fragments=10, seed=0),
        workers=1,
        on_progress=lambda progress: phases.append(progress.phase),
    )
    assert result.status is Status.OPTIMAL
    assert any(phase.startswith("linear program") for phase in phases)
    assert not answers
