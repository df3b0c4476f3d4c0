"""Loads the core, and hands it numbers and arrays."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dfopt.errors import DfoptError

LIBRARY = os.environ.get("DFOPT_CORE") or str(Path(__file__).parents[1] / "core" / "libcore.so")
"""The built core. ``DFOPT_CORE`` in the environment names another one, such as one to debug."""

ANY = 2**63 - 1
"""More than any cost."""

MOMENT_S = 0.01
"""Within this time the interpreter has left what ends an object."""

INT, SEED, FLOAT, POINTER = ctypes.c_int64, ctypes.c_uint64, ctypes.c_double, ctypes.c_void_p
"""Types of parameters and results."""

Rows = NDArray[Any]
"""An array whose rows are structures of the core."""


def row(*fields: str, of: type[np.generic] = np.int64) -> np.dtype[Any]:
    """Return the type of a row whose fields are all of one type."""
    return np.dtype([(field, of) for field in fields])


def rows_of(kind: np.dtype[Any], **columns: ArrayLike) -> Rows:
    """Return rows of some type with these columns; fields that are not given are 0."""
    rows = np.zeros(np.broadcast_shapes(*map(np.shape, columns.values())), kind)
    for field, values in columns.items():
        rows[field] = values
    return rows


class _Array(ctypes.Structure):
    """An array as the core knows it, see ``core/base.hpp``."""

    _fields_ = (("data", ctypes.c_void_p), ("rows", ctypes.c_int64), ("row_bytes", ctypes.c_int64))


class ArrayOf:
    """The type of a parameter that is an array.

    Parameters
    ----------
    row
        The type of its rows, or of its numbers. An array of several dimensions is passed on row by
        row, as NumPy has it.
    """

    def __init__(self, row: np.dtype[Any] | type[np.generic]) -> None:
        self._row = np.dtype(row)

    def from_param(self, array: Rows) -> _Array:
        """Return where the data of an array stand."""
        if array.dtype != self._row or not array.flags.c_contiguous:
            raise TypeError(f"the core reads rows of {self._row}, not of {array.dtype}")
        return _Array(array.ctypes.data, array.size, array.itemsize)


INTS, FLOATS, FLAGS = ArrayOf(np.int64), ArrayOf(np.float64), ArrayOf(np.bool_)


class Functions:
    """Functions of the core, loaded when they are first called.

    Parameters
    ----------
    part
        What their names in the core begin with, after ``dfopt_``.
    signatures
        For the rest of each name what the function returns (None for nothing), and what it takes.
    """

    def __init__(self, part: str, **signatures: tuple[Any, ...]) -> None:
        self._part, self._signatures = part, signatures

    def __getattr__(self, name: str) -> Callable[..., Any]:
        result, *parameters = self._signatures[name]
        try:
            function: Any = getattr(_core(), f"dfopt_{self._part}_{name}")
        except AttributeError as error:
            raise _unusable(error) from error
        function.restype, function.argtypes = result, parameters
        setattr(self, name, function)
        return function  # type: ignore[no-any-return]


class Made:
    """An object that the core has made, which ends with this one. Its functions take it as it is.

    Parameters
    ----------
    functions
        ``create`` makes it, ``destroy`` ends it.
    arguments
        For ``create``.
    uses
        What the core goes on to use: arrays and other objects, which end after this one. They must
        not refer to it.
    """

    def __init__(self, functions: Functions, *arguments: object, uses: object = None) -> None:
        pointer = functions.create(*arguments)
        if not pointer:
            raise ValueError("the core reads arrays of other sizes")
        self._as_parameter_ = pointer
        # When the interpreter ends, another thread may still be at work with it.
        weakref.finalize(self, _destroy, functions, pointer, uses).atexit = False


def _destroy(functions: Functions, pointer: int, uses: object) -> None:
    """End an object; only then what it uses is let go, in whatever order garbage is collected."""
    try:
        functions.destroy(pointer)
    except KeyboardInterrupt:  # nobody would see it here, so it comes once more, outside
        threading.Timer(MOMENT_S, os.kill, (os.getpid(), signal.SIGINT)).start()


@cache
def _core() -> ctypes.CDLL:
    """Load the core."""
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise _unusable(error) from error


def _unusable(error: Exception) -> DfoptError:
    """Return what says what to do about a core that is missing, broken or of another version."""
    return DfoptError(
        f"the core cannot be used ({error}): install dfopt anew, or type `make venv` in a checkout"
    )


def checked(result: int) -> int:
    """Return what a function of the core returned, which is -1 where its arrays do not fit."""
    if result < 0:
        raise ValueError("the core reads arrays of other sizes")
    return result
