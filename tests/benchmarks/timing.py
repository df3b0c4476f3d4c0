"""Clocks: how long a call or a whole process takes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")


def timed(function: Callable[[], Value]) -> tuple[float, Value]:
    """Return the seconds that a call takes, and what it returns."""
    started = time.perf_counter()
    value = function()
    return time.perf_counter() - started, value


def process_seconds(
    commands: Mapping[str, Sequence[str | Path]], runs: int
) -> dict[str, list[float]]:
    """Return the seconds that each command takes from its start to its end, ascending.

    The commands take turns, so that a noisy spell of the machine falls on all of them alike.
    """
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            seconds[name].append(time.perf_counter() - started)
    return {name: sorted(taken) for name, taken in seconds.items()}
