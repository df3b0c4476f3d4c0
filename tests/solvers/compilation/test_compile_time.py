"""The notice for who waits while loops are compiled."""

import subprocess
import sys
from pathlib import Path

import pytest

from dfopt.solvers.compilation.compile_time import COMPILING

LOOPS = """
import sys

from dfopt.parallel.notices import receiving
from dfopt.solvers.compilation import compile_time
from dfopt.solvers.compilation.compiled import compiled


@compiled
def doubled(number: int) -> int:
    return 2 * number


@compiled
def quadrupled(number: int) -> int:
    return doubled(doubled(number))


compile_time.LONG_S = float(sys.argv[1])
with receiving(print):
    print(quadrupled(3))
"""


def printed(folder: Path, long_s: float) -> str:
    program = folder / "loops.py"
    if not program.exists():
        program.write_text(LOOPS)
    command = [sys.executable, program, str(long_s)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.slow
def test_who_waits_for_the_compiler_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert printed(tmp_path, 0.0) == f"{COMPILING}\n12\n"
    assert printed(tmp_path, 0.0) == "12\n"  # machine code is on disk now


@pytest.mark.slow
@pytest.mark.parametrize("disabled", ["0", "1"])
def test_nothing_is_told_where_compiling_takes_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disabled: str
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", disabled)
    assert printed(tmp_path, 0.0 if disabled == "1" else 3600.0) == "12\n"
