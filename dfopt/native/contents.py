"""Annealing of what the CPUs hold, see ``core/contents``."""

from __future__ import annotations

import numpy as np

from dfopt.native.library import (
    FLOAT,
    INT,
    INTS,
    POINTER,
    SEED,
    ArrayOf,
    Functions,
    Made,
    Rows,
    checked,
    row,
)

TASK_TYPE = row("fragment", "base", "entry", "exit", "end", "size")
CPU_START = row("free", "arrival", "departure", "idle")
HELD = row("type", "count", of=np.int32)

NONE_IS_FREE, ALL_ARE_FREE = -1, -2
"""For ``CPU_START``: no fragment's first visit is free, or whichever comes first."""

_core = Functions(
    "annealing",
    create=(POINTER, ArrayOf(TASK_TYPE), ArrayOf(CPU_START), INT, INT, INT, INT, SEED),
    destroy=(None, POINTER),
    fill=(INT, POINTER, INT, ArrayOf(HELD)),
    aim=(None, POINTER, INT, INT),
    even_out=(None, POINTER, INT, INT, INT),
    walk=(INT, POINTER, INT, FLOAT, FLOAT, INT),
    best=(INT, POINTER),
    is_sound=(INT, POINTER),
    costs=(INT, POINTER, INTS),
    contents=(INT, POINTER, INT, ArrayOf(HELD), INTS),
)


class Annealing(Made):
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

    def __init__(  # noqa: PLR0913
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
        super().__init__(_core, types, starts, fragments, room, has_sizes, adds_up, seed)
        self._tasks, self._cpus = tasks, len(starts)

    def fill(self, cpu: int, held: Rows) -> None:
        """Give an empty CPU its tasks: rows ``HELD``, by type."""
        checked(_core.fill(self, cpu, held))

    def aim(self, goal: int, known: int) -> None:
        """Aim at one less than the best objective so far, down to ``goal``.

        Only a schedule that costs less than ``known`` is news.
        """
        _core.aim(self, goal, known)

    def even_out(self, target: int, total: int, known: int) -> None:
        """Aim at costs of the CPUs within ``target`` and a sum within ``total``."""
        _core.even_out(self, target, total, known)

    def walk(self, moves: int, temperature: float, cooling: float, goal: int) -> bool:
        """Try random moves; return whether the best schedule is within the goal."""
        return bool(_core.walk(self, moves, temperature, cooling, goal))

    @property
    def best(self) -> int:
        """The best objective so far."""
        return int(_core.best(self))

    @property
    def is_sound(self) -> bool:
        """Whether all that the walk keeps up to date is what it would be if it were made anew."""
        return bool(_core.is_sound(self))

    def costs(self) -> list[int]:
        """Return what each CPU costs now."""
        costs = np.empty(self._cpus, np.int64)
        checked(_core.costs(self, costs))
        return costs.tolist()

    def contents(self, *, best: bool) -> list[Rows]:
        """Return for each CPU the types that it holds, rows ``HELD``: now, or at its best."""
        held = np.empty(self._tasks, HELD)
        lengths = np.empty(self._cpus, np.int64)
        checked(_core.contents(self, best, held, lengths))
        return np.split(held, np.cumsum(lengths))[:-1]
