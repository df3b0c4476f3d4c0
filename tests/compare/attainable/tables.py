"""Tables of dispatches by their columns; what is left out is as simple as can be."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dfopt import replace
from dfopt.compare.dispatches import NONE, TRANSPARENT, Cuts, Dispatches
from dfopt.trace.trace import UNMANAGED

ALWAYS = np.iinfo(np.int64).max
NEVER = np.iinfo(np.int64).min
COSTS = ("entry", "exit", "always", "first", "last")
TYPES = {
    "row": np.intp,
    "task": np.int32,
    "fragment": np.int32,
    "cpu": np.int32,
    "previous": np.intp,
    "waker": np.intp,
    "continues": np.bool_,
    "known": np.bool_,
}
"""Of columns that are not of 64-bit integers."""


def table(
    *,
    cpus: int = 1,
    matrix: Any = None,
    cuts: Sequence[tuple[int, int]] = (),
    around: Dispatches | None = None,
    **columns: Any,
) -> Dispatches:
    """Return dispatches with these columns, at least ``start``; ``cuts`` are (CPU, time) of each.

    By default each is ready when it starts, belongs to a task of its own, and costs nothing.
    """
    start = np.array(columns["start"], np.int64)
    count = len(start)
    defaults = {
        "row": np.arange(count),
        "task": np.arange(count),
        "recorded": start,
        "ready_from": start,
        "ready_by": start,
        "previous_end": NEVER,
        "latest": ALWAYS,
        "previous": NONE,
        "waker": NONE,
        "known": True,
    }
    zeros = ("fragment", "cpu", "length", *COSTS, "waker_offset", "continues")
    given = {**dict.fromkeys(zeros, 0), **defaults, **columns}
    cut_cpu, cut_time = np.array(sorted(cuts, key=lambda cut: cut[1]), np.int64).reshape(-1, 2).T
    return Dispatches(
        cpus=cpus,
        cpu_number=tuple(range(cpus)),
        matrix=np.array(matrix if matrix is not None else np.zeros((0, 0)), np.int64),
        cuts=Cuts(cpu=cut_cpu.astype(np.int32), time=cut_time),
        around=around,
        **{
            name: np.array(np.broadcast_to(values, count), TYPES.get(name, np.int64))
            for name, values in given.items()
        },
    )


def fixed(blocks: Sequence[tuple[int, int, int, bool]], **columns: Any) -> Dispatches:
    """Return what is fixed: (CPU, start, end, whether it evicts) of each."""
    cpu, start, end, evicts = np.array(sorted(blocks), np.int64).reshape(-1, 4).T
    fragment = np.where(evicts, UNMANAGED, TRANSPARENT)
    others = {"row": NONE, "cpu": cpu, "fragment": fragment, **columns}
    return table(start=start, length=end - start, **others)


def dearer(dispatches: Dispatches, factor: int) -> Dispatches:
    """Return the same with all costs multiplied."""
    around = dispatches.around
    return replace(
        dispatches,
        **{name: getattr(dispatches, name) * factor for name in (*COSTS, "matrix")},
        around=None if around is None else dearer(around, factor),
    )


def re_recorded(dispatches: Dispatches, start: np.ndarray) -> Dispatches:
    """Return the same, recorded at other times."""
    return replace(dispatches, start=start, recorded=start)
