"""The core in C++ that lies in ``dfopt/core``, and how arrays get there.

Its functions keep the interpreter's lock released while they run. Each call takes at most some tens
of milliseconds, so that Python looks at the clock between two of them.
"""

from __future__ import annotations

import ctypes
import weakref
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfopt.errors import DfoptError

LIBRARY = Path(__file__).with_name("core") / "libcore.so"

Rows = NDArray[Any]
"""An array whose rows are structures of the core."""


def _row(*fields: str, of: type[np.generic] = np.int64) -> np.dtype[Any]:
    return np.dtype([(field, of) for field in fields])


TASK_TYPE = _row("fragment", "base", "entry", "exit", "end", "size")
CPU_START = _row("free", "arrival", "departure", "idle")
HELD = _row("type", "count", of=np.int32)
NONE_IS_FREE, ALL_ARE_FREE = -1, -2

ANY = 2**63 - 1
"""More than any cost."""


class _Array(ctypes.Structure):
    """An array as the core knows it, see ``core/base.hpp``."""

    _fields_ = (("data", ctypes.c_void_p), ("rows", ctypes.c_int64), ("row_bytes", ctypes.c_int64))


class _ArrayOf:
    """The type of a parameter that is an array with rows of this kind."""

    def __init__(self, row: np.dtype[Any]) -> None:
        self._row = row

    def from_param(self, array: Rows) -> _Array:
        """Return where the data of an array stand."""
        if array.dtype != self._row or array.ndim != 1 or not array.flags.c_contiguous:
            raise TypeError(f"the core reads a column of {self._row}, not {array.dtype}")
        return _Array(array.ctypes.data, len(array), array.itemsize)


_INT, _FLOAT, _POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
_INTS = _ArrayOf(np.dtype(np.int64))

_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "annealing_create": (
        _POINTER,
        *(_ArrayOf(TASK_TYPE), _ArrayOf(CPU_START), _INT, _INT, _INT, _INT, ctypes.c_uint64),
    ),
    "annealing_destroy": (None, _POINTER),
    "annealing_fill": (_INT, _POINTER, _INT, _ArrayOf(HELD)),
    "annealing_aim": (None, _POINTER, _INT, _INT),
    "annealing_even_out": (None, _POINTER, _INT, _INT, _INT),
    "annealing_walk": (_INT, _POINTER, _INT, _FLOAT, _FLOAT, _INT),
    "annealing_best": (_INT, _POINTER),
    "annealing_contents": (_INT, _POINTER, _INT, _ArrayOf(HELD), _INTS),
}
"""What the functions of the core return and take."""


@cache
def _core() -> ctypes.CDLL:
    """Load the core; raise an error that says what to do where it is missing."""
    try:
        core = ctypes.CDLL(str(LIBRARY))
    except OSError as error:
        raise DfoptError(
            f"{LIBRARY} cannot be loaded ({error}): install dfopt anew, or run core/build.py"
        ) from error
    for name, (result, *parameters) in _FUNCTIONS.items():
        function = getattr(core, f"dfopt_{name}")
        function.restype = result
        function.argtypes = parameters
    return core


def _checked(status: int) -> int:
    """Return what a function of the core returned, which says by -1 that arrays do not fit."""
    if status < 0:
        raise ValueError("the core reads arrays of other sizes")
    return status


class Annealing:
    """Simulated annealing of the contents of CPUs, see ``core/contents/annealing.hpp``.

    Parameters
    ----------
    types
        Rows ``TASK_TYPE``, by fragment and in a fragment by entry costs.
    starts
        A row ``CPU_START`` for each CPU.
    fragments
        The number of fragments.
    tasks
        The number of all tasks.
    room
        The largest size that a CPU may hold.
    has_sizes
        Whether some tasks are larger than others.
    adds_up
        Whether the objective is the sum of the CPUs' costs, not the largest one.
    seed
        64 random bits, not 0.
    """

    def __init__(
        self,
        types: Rows,
        starts: Rows,
        *,
        fragments: int,
        tasks: int,
        room: int,
        has_sizes: bool,
        adds_up: bool,
        seed: int,
    ) -> None:
        self._core = _core()
        self._pointer = self._core.dfopt_annealing_create(
            types, starts, fragments, room, has_sizes, adds_up, seed
        )
        if not self._pointer:
            raise ValueError("the core reads arrays of other sizes")
        weakref.finalize(self, self._core.dfopt_annealing_destroy, self._pointer)
        self._tasks, self._cpus = tasks, len(starts)

    def fill(self, cpu: int, held: Rows) -> None:
        """Give an empty CPU its tasks: rows ``HELD``, by type."""
        _checked(self._core.dfopt_annealing_fill(self._pointer, cpu, held))

    def aim(self, goal: int, known: int) -> None:
        """Aim at one less than the best objective so far, down to ``goal``.

        Only a schedule that costs less than ``known`` is news.
        """
        self._core.dfopt_annealing_aim(self._pointer, goal, known)

    def even_out(self, target: int, total: int, known: int) -> None:
        """Aim at costs of the CPUs within ``target`` and a sum within ``total``."""
        self._core.dfopt_annealing_even_out(self._pointer, target, total, known)

    def walk(self, moves: int, temperature: float, cooling: float, goal: int) -> bool:
        """Try random moves; return whether the best schedule is within the goal."""
        return bool(
            self._core.dfopt_annealing_walk(self._pointer, moves, temperature, cooling, goal)
        )

    @property
    def best(self) -> int:
        """The best objective so far."""
        return int(self._core.dfopt_annealing_best(self._pointer))

    def contents(self, *, best: bool) -> list[Rows]:
        """Return for each CPU the types that it holds, rows ``HELD``: now, or at its best."""
        held = np.empty(self._tasks, HELD)
        lengths = np.empty(self._cpus, np.int64)
        _checked(self._core.dfopt_annealing_contents(self._pointer, best, held, lengths))
        return np.split(held, np.cumsum(lengths))[:-1]
