"""Loads the core, and hands it numbers and arrays."""

from __future__ import annotations

import ctypes
import inspect
import os
import signal
import threading
import weakref
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dfopt.errors import DfoptError

LIBRARY = os.environ.get("DFOPT_CORE") or str(Path(__file__).parents[1] / "core" / "libcore.so")
"""The built core. ``DFOPT_CORE`` in the environment names another one, such as one to debug."""

ANY = 2**63 - 1
"""More than any cost."""

MOMENT_S = 0.01
"""Within this time the interpreter has left what ends an object."""

Rows = NDArray[Any]
"""An array whose rows are structures of the core."""

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def row(*fields: str, of: type[np.generic] = np.int64) -> np.dtype[Any]:
    """Return the type of a row whose fields are all of one type."""
    return np.dtype([(field, of) for field in fields])


def rows_of(kind: np.dtype[Any], **columns: ArrayLike) -> Rows:
    """Return rows of some type with these columns; fields that are not given are 0."""
    rows = np.zeros(np.broadcast_shapes(*map(np.shape, columns.values())), kind)
    for field, values in columns.items():
        rows[field] = values
    return rows


def by_cpu(rows: Rows, cpus: int) -> list[list[int]]:
    """Return for each CPU the second fields of its rows, whose first one is the CPU."""
    numbers: list[list[int]] = [[] for _ in range(cpus)]
    for cpu, number, *_ in rows.tolist():
        numbers[cpu].append(number)
    return numbers


class _Array(ctypes.Structure):
    """An array as the core knows it, see ``core/calls.hpp``. All its dimensions count as one."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("number", ctypes.c_int64),
        ("bytes_each", ctypes.c_int64),
        ("kind", ctypes.c_char),
    )

    @classmethod
    def from_param(cls, array: Rows) -> _Array:
        """Return where the data of an array stand."""
        if not array.flags.c_contiguous:
            raise TypeError("the core reads arrays row by row")
        return cls(array.ctypes.data, array.size, array.itemsize, array.dtype.kind.encode())

    def copied(self) -> Rows:
        """Return the rows as an array; structures have no fields yet."""
        kind = f"{self.kind.decode()}{self.bytes_each}"
        return np.frombuffer(ctypes.string_at(self.data, self.number * self.bytes_each), kind)


class _Function(ctypes.Structure):
    """A function of the core, and the kinds of what it returns and takes."""

    _fields_ = (("begin", ctypes.c_void_p), ("kinds", ctypes.c_char_p))


KINDS = {"a": _Array, "b": ctypes.c_int64, "f": ctypes.c_double, "i": ctypes.c_int64}
"""What is passed to the core, by the names that it has there; objects are numbers, too."""


@cache
def _function(name: str) -> Callable[..., Any]:
    """Load a function of the core."""
    try:
        found = _Function.in_dll(_core(), f"dfopt_{name}")
    except ValueError as error:
        raise _unusable(error) from error
    result, *parameters = found.kinds.decode()
    function = ctypes.CFUNCTYPE(KINDS[result], *map(KINDS.__getitem__, parameters))(found.begin)
    takes_arrays = "a" in parameters
    if result == "i" and not takes_arrays:
        return function  # there is nothing to look at, and some calls are short
    conversions: dict[str, Callable[[Any], Any]] = {"a": _Array.copied, "b": bool}
    converted = conversions.get(result, int)

    def call(*given: object) -> Any:
        returned = function(*given)
        if takes_arrays and returned == -1:
            raise ValueError("the core reads arrays of other rows or sizes")
        return converted(returned)

    return call


class NativeObject:
    """An object that the core has made, which ends with this one. Its functions take it as it is.

    Parameters
    ----------
    given
        What its constructor there takes. Arrays and other objects among them end after this one;
        they must not refer to it.
    """

    def __init__(self, *given: object) -> None:
        name = type(self).__name__
        pointer = _function(f"{name}_create")(*given)
        self._as_parameter_ = pointer
        # When the interpreter ends, another thread may still be at work with it.
        weakref.finalize(
            self, _destroy, _function(f"{name}_destroy"), pointer, given
        ).atexit = False


def native(
    rows: np.dtype[Any] | None = None,
) -> Callable[[Callable[Given, Returned]], Callable[Given, Returned]]:
    """Let the core do what a function, or a method of a class :class:`NativeObject`, says.

    In the core its name is ``dfopt_function`` or ``dfopt_Class_method``; a constructor makes the
    object.

    Parameters
    ----------
    rows
        The type of the rows that it returns, if these are structures.
    """

    def declared(method: Callable[Given, Returned]) -> Callable[Given, Returned]:
        name = method.__qualname__.replace(".", "_")
        makes = method.__name__ == "__init__"

        @wraps(method)
        def call(*given: Any, **named: Any) -> Any:
            if named:
                given = tuple(inspect.signature(method).bind(*given, **named).arguments.values())
            returned: Any = (NativeObject.__init__ if makes else _function(name))(*given)
            return returned if rows is None else returned.view(rows)

        return call

    return declared


def _destroy(destroy: Callable[[int], object], pointer: int, _given: object) -> None:
    """End an object; only then what it uses is let go, in whatever order garbage is collected."""
    try:
        destroy(pointer)
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
