"""Compiles hot loops to machine code.

Modules with such loops are imported where they are used, since loading numba takes a while. With
``NUMBA_DISABLE_JIT=1`` the same functions run as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import ParamSpec, TypeVar, cast

from numba import njit

SECONDS_PER_CHECK = 0.02

COMPILER = "dfopt-compiler"
"""How the names of threads begin in which functions are compiled."""

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Return ``function`` compiled when first called; other threads run beside it.

    The machine code is kept on disk, so that only the first process pays for the compiler.
    """
    return cast(Callable[P, R], njit(cache=True, nogil=True)(function))


def load(first_calls: Callable[[], None], check: Callable[[], None]) -> None:
    """Wait for ``first_calls``, which load compiled functions or compile them.

    That takes seconds where nothing is kept on disk yet. Meanwhile ``check`` is called again and
    again; what it raises ends the waiting, and the compiler goes on in its thread. As long as it
    does, numba changes the filters of warnings, which are those of the whole process.
    """
    thread = ThreadPoolExecutor(1, COMPILER)
    try:
        calls = thread.submit(first_calls)
        while not calls.done():
            wait([calls], SECONDS_PER_CHECK)
            check()
        calls.result()
    finally:
        thread.shutdown(wait=False)
