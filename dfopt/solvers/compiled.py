"""Compiles hot loops to machine code.

Modules with such loops are imported where they are used, since loading numba takes a while. With
``NUMBA_DISABLE_JIT=1`` the same functions run as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Return ``function`` compiled when first called; other threads run beside it.

    The machine code is kept on disk, so that only the first process pays for the compiler.
    """
    return cast(Callable[P, R], njit(cache=True, nogil=True)(function))
