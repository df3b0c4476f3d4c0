"""Annealing of what the CPUs hold, see ``core/contents``."""

from __future__ import annotations

from dfopt.native.library import Integers, NativeObject, Rows, native, row

TASK_TYPE = row("fragment", "base", "entry", "exit", "end", "size")
CPU_START = row("free", "arrival", "departure", "idle")
HELD = row("cpu", "type", "count")

NONE_IS_FREE, ALL_ARE_FREE = -1, -2
"""For ``CPU_START``: no fragment's first visit is free, or whichever comes first."""


class Annealing(NativeObject):
    """Simulated annealing of the contents of CPUs, see ``core/contents/annealing.hpp``.

    Parameters
    ----------
    types
        Rows ``TASK_TYPE``, by fragment and in a fragment by entry costs.
    starts
        A row ``CPU_START`` for each CPU.
    held
        Rows ``HELD``, by CPU and type: what the CPUs hold at first.
    fragments
        The number of fragments.
    room
        The largest size that a CPU may hold.
    has_sizes
        Whether some tasks are larger than others.
    adds_up
        Whether the objective is the sum of the CPUs' costs, not the largest one.
    seed
        64 random bits, not 0.
    """

    @native()
    def __init__(  # noqa: PLR0913
        self,
        types: Rows,
        starts: Rows,
        held: Rows,
        *,
        fragments: int,
        room: int,
        has_sizes: bool,
        adds_up: bool,
        seed: int,
    ) -> None: ...

    @native()
    def walk(self, moves: int, temperature: float, cooling: float, goal: int, known: int) -> int:
        """Try random moves, until the best schedule is within a goal; return its objective.

        Parameters
        ----------
        moves
            At most this number are tried.
        temperature, cooling
            The temperature, by which it is multiplied before each move.
        goal
            The walk aims at one less than the best objective so far, down to the goal.
        known
            Only a schedule that costs less is kept.
        """

    @native(HELD)
    def contents(self, best: bool) -> Rows:
        """Return what the CPUs hold, rows ``HELD``: now, or at its best."""

    @native()
    def costs(self) -> Integers:
        """Return what each CPU costs now."""
