"""Small sets of instances, and a method that fails on demand."""

import os
import pickle
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dfopt import replace
from dfopt.bench import Entry, read_set
from dfopt.files import write_instance
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from tests.patience import PATIENCE_S

PLAIN = Instance(
    name="plain-1",
    cpus=2,
    penalty=PenaltyG(fill=3, write_back=1),
    tasks=(Task(id="a", df="X", count=2), Task(id="b", df="Y"), Task(id="c", df="Z")),
)
TABLE = Instance(
    name="table",
    cpus=1,
    penalty=PenaltyMatrix(types=("s", "t"), switch=((0, 2), (5, 0))),
    tasks=(Task(id="a", type="s"), Task(id="b", type="t")),
)
OPTIMA = {"plain-1": 4, "plain-2": 4, "table": 2}

MISBEHAVIOUR = '''
"""Does what the name of the instance says, or what dp does."""

import os
import signal
import sys
import time

from dfopt.problem.certificate import Exhaustive
from dfopt.solvers.dp import solve_by_dp


def solve(search):
    match search.instance.name:
        case "raises":
            raise ZeroDivisionError("a bug")
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exits":
            os._exit(3)
        case "hangs":
            with open(os.environ["DFOPT_TEST_PID"], "w") as file:
                file.write(str(os.getpid()))
            time.sleep(1000)
        case "prints":
            print("not JSON", flush=True)
            os.write(1, b"nor this")
            solve_by_dp(search)
        case "lies":  # the first order that comes to mind is no optimum
            everything = [kind for kind, one in enumerate(search.types) for _ in range(one.count)]
            search.found([everything, *[()] * (search.instance.cpus - 1)])
            search.proved(search.objective, Exhaustive(threshold=search.objective - 1))
        case _:
            solve_by_dp(search)
'''

START = """
from dfopt.solvers import facade

facade.METHODS["dp"] = ("misbehaviour", "solve")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three tiny instances."""
    path = tmp_path / "set"
    path.mkdir()
    write_instance(PLAIN, path / "a.json")
    write_instance(replace(PLAIN, name="plain-2", description="another"), path / "b.json.gz")
    write_instance(TABLE, path / "c.json")
    return path


@pytest.fixture
def entries(folder: Path) -> tuple[Entry, ...]:
    """The instances of that folder."""
    return read_set(folder)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solve and check in this process: others take a second each, and not all tests need them."""

    def performed(seconds: float | None, work: Callable[..., Any], *given: object) -> object:
        del seconds
        return pickle.loads(pickle.dumps(work(*given)))

    monkeypatch.setattr("dfopt.bench.benchmark.performed_alone", performed)


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let ``dp`` misbehave in new processes; the file will hold the id of one that hangs."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "misbehaviour.py").write_text(MISBEHAVIOUR)
    (modules / "sitecustomize.py").write_text(START)
    monkeypatch.setenv("PYTHONPATH", str(modules))
    monkeypatch.setenv("DFOPT_TEST_PID", str(tmp_path / "pid"))
    return tmp_path / "pid"


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> "list[subprocess.Popen[bytes]]":
    """The processes in which instances are solved or checked."""
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **how: Any) -> None:
            super().__init__(*arguments, **how)
            started.append(self)

    monkeypatch.setattr("dfopt.parallel.alone.subprocess.Popen", Noted)
    return started


def wait_for_id(file: Path) -> int:
    """Return the id of the process that hangs, as soon as it does."""
    deadline = time.monotonic() + PATIENCE_S
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < deadline, "nothing hangs"
        time.sleep(0.05)
    return int(file.read_text())


def ends(process_id: int) -> bool:
    """Return whether a process ends soon."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def write_named(folder: Path, *names: str) -> Path:
    """Write an instance of each name to a folder, in that order."""
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        instance = replace(PLAIN, name=name, capacity="unlimited", cpus=3)
        write_instance(instance, folder / f"{number}-{name}.json")
    return folder
