"""The content of a cache: a fragment, and the state that a task left it in."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from dfopt.structs import Checked


class Leaves(StrEnum):
    """The state in which a task leaves its data fragment in the cache."""

    CLEAN = "clean"
    DIRTY = "dirty"
    INVALIDATED = "invalidated"


class CacheState(Checked):
    """The content of a CPU's cache before its first task.

    Parameters
    ----------
    df
        The data fragment in the cache (penalties f and g).
    leaves
        The state it was left in (penalty f).
    type
        The type of the task that ran last (matrix penalty).
    """

    df: str | None = None
    leaves: Leaves = Leaves.CLEAN
    type: str | None = None


InitialState = CacheState | Literal["unknown"] | None
"""The content of a CPU's cache before its first task, as far as it is known.

``None`` is an empty cache. ``"unknown"`` says that nothing is known: then the first task pays
nothing for its switch, whatever it is, and a CPU that runs nothing pays nothing.
"""
