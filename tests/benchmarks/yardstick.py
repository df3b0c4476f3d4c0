"""The yardstick for schedules: best insertion, then annealing for a number of seconds.

It shares the definition of the costs with dfopt, and nothing with its solvers. A move exchanges two
short runs of tasks, or all that follows, of two CPUs or of one; one of both may be empty. Where
tasks wait, a schedule is one order of all tasks with a CPU for each, and a move takes one task
elsewhere. The loops are in yardstick.cpp, with a random generator of their own: they stand for what
one would write in an afternoon in C++.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import weakref
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.ctypeslib import ndpointer
from numpy.typing import NDArray

from dfopt import Instance, Objective, evaluate
from dfopt.costs.task_types import cost_table, task_types

ANNEALINGS = (0.04, 0.44, 0.52)
"""Shares of the time: each annealing begins with the best schedule so far."""

HOT, COLD = 0.2, 2e-4
"""First and last temperature, in average deviations of a switch's cost."""


class Costs(NamedTuple):
    """What counts of an instance, for single tasks, in the order of the parameters of the loops."""

    way: NDArray[np.int32]  # of a switch with the execution after it; row = from, column = to
    first: NDArray[np.int32]  # row = CPU
    last: NDArray[np.int32]
    idle: NDArray[np.int32]
    size: NDArray[np.int64]
    room: int
    is_total: bool
    is_timed: bool
    release: NDArray[np.int64]
    before: NDArray[np.int64]  # the predecessors of task j are before[begin[j]:begin[j + 1]]
    begin: NDArray[np.int64]


def costs_of(instance: Instance) -> tuple[Costs, list[str]]:
    """Return the costs of single tasks, and their names."""
    types = task_types(instance)
    table = cost_table(instance, types)
    kinds = np.array([kind for kind, one in enumerate(types) for _ in one.names])
    names = [name for one in types for name in one.names]
    numbers = {name: number for number, name in enumerate(names)}
    examples = [types[kind].example for kind in kinds]
    before = [[numbers[name] for name in task.after] for task in examples]
    execution = np.array(table.exec, dtype=np.int32)[kinds]
    return Costs(
        way=np.array(table.switch, dtype=np.int32)[np.ix_(kinds, kinds)] + execution,
        first=np.array(table.start, dtype=np.int32).take(kinds, axis=1) + execution,
        last=np.array(table.finish, dtype=np.int32)[kinds],
        idle=np.array(table.idle, dtype=np.int32),
        size=np.array([types[kind].size for kind in kinds], dtype=np.int64),
        room=instance.room,
        is_total=instance.objective is Objective.TOTAL_PENALTY,
        is_timed=instance.is_timed,
        release=np.array([task.release for task in examples], dtype=np.int64),
        before=np.array([one for some in before for one in some], dtype=np.int64),
        begin=np.cumsum([0, *map(len, before)], dtype=np.int64),
    ), names


def machine_compiler() -> list[str] | None:
    """Return the command of the machine's C++ compiler; None if there is none."""
    given = os.environ.get("CXX")
    commands = map(shlex.split, [given] if given else ["c++", "g++"])
    return next((command for command in commands if shutil.which(command[0])), None)


def compiled(compiler: list[str], folder: Path) -> Path:
    """Compile the loops into a folder, and return the library."""
    source, library = Path(__file__).with_suffix(".cpp"), folder / "yardstick.so"
    options = ["-std=c++20", "-O3", "-shared", "-fPIC", "-fvisibility=hidden"]
    subprocess.run([*compiler, *options, str(source), "-o", str(library)], check=True)
    return library


def loaded(library: Path) -> ctypes.CDLL:
    """Return the functions of a library."""
    integer, pointer = ctypes.c_int64, ctypes.c_void_p
    small, large = (ndpointer(kind, flags="C_CONTIGUOUS") for kind in (np.int32, np.int64))
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "create": (
            pointer,
            [
                *(integer, integer, small, small, small, small, large, integer, integer, integer),
                *(large, large, large, large, ctypes.c_uint64),
            ],
        ),
        "destroy": (None, [pointer]),
        "restart": (None, [pointer]),
        "anneal": (None, [pointer, ctypes.c_double]),
        "best": (integer, [pointer]),
        "best_row": (integer, [pointer, integer, small]),
    }
    loops = ctypes.CDLL(str(library))
    for name, (result, parameters) in signatures.items():
        function = loops[f"yardstick_{name}"]
        function.restype, function.argtypes = result, parameters
        setattr(loops, name, function)
    return loops


class Search:
    """A schedule that changes, and the best one so far.

    Raises
    ------
    ValueError
        When the tasks do not fit.
    """

    def __init__(self, loops: ctypes.CDLL, costs: Costs, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(len(costs.size))
        order = order[np.argsort(-costs.size[order], kind="stable")]
        self._loops, self._costs = loops, costs  # whose arrays the loops read
        self._search = loops.create(*reversed(costs.first.shape), *costs, order, seed)
        if not self._search:
            raise ValueError("not all tasks fit where insertion has put the others")
        weakref.finalize(self, loops.destroy, self._search)

    def restart(self) -> None:
        """Go back to the best schedule."""
        self._loops.restart(self._search)

    def anneal(self, temperature: float) -> None:
        """Make moves at a temperature; keep the best schedule."""
        self._loops.anneal(self._search, temperature)

    def best(self) -> int:
        """Return the objective of the best schedule."""
        value: int = self._loops.best(self._search)
        return value

    def best_rows(self) -> Iterator[NDArray[np.int32]]:
        """Yield the tasks of each CPU in their order."""
        cpus, tasks = self._costs.first.shape
        for cpu in range(cpus):
            row = np.empty(tasks, np.int32)
            yield row[: self._loops.best_row(self._search, cpu, row)]


def annealed(
    instance: Instance, seconds: float, *, library: Path, seed: int = 0, enough: int = 0
) -> list[tuple[float, int]]:
    """Return when, in seconds of processor time, which objective was found.

    It ends early with an objective that is known to be ``enough``. The library is what
    :func:`compiled` has made.

    Raises
    ------
    ValueError
        When the tasks do not fit.
    """
    costs, names = costs_of(instance)
    loops = loaded(library)
    began = process_time()
    search = Search(loops, costs, seed)
    curve = [(process_time() - began, search.best())]
    deviation = max(0.1, float(np.abs(costs.way - costs.way.mean(axis=0)).mean()))
    ends = began
    for share in ANNEALINGS:
        begins, ends = ends, ends + share * seconds
        search.restart()
        while (now := process_time()) < ends and curve[-1][1] > enough:
            temperature = HOT * (COLD / HOT) ** ((now - begins) / (ends - begins)) * deviation
            search.anneal(temperature)
            if (found := search.best()) < curve[-1][1]:
                curve.append((process_time() - began, found))
    schedule = evaluate(instance, [[names[task] for task in row] for row in search.best_rows()])
    assert schedule.value(instance.objective) == curve[-1][1]
    return curve
