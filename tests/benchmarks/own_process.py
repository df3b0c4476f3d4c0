"""A call in a fresh process, and the most memory that this process ever held."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")


def in_own_process(
    function: Callable[..., Value], *arguments: object
) -> tuple[Value, float | None]:
    """Return the value of a call, and the process's peak memory in GiB where it is known.

    Function, arguments and value must be picklable.
    """
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measured, function, *arguments).result()


def _measured(function: Callable[..., Value], *arguments: object) -> tuple[Value, float | None]:
    value = function(*arguments)
    return value, _peak_gib()


def _peak_gib() -> float | None:
    # getrusage would not do: its maximum survives exec, so that it counts the parent's memory.
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    lines = status.read_text(encoding="ascii").splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak) / 2**20
