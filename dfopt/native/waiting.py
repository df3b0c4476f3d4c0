"""Search for schedules of tasks that wait, see ``core/waiting``."""

from __future__ import annotations

from dfopt.native.library import Flags, Integers, NativeObject, Rows, native, row

TASK = row(
    "exec", "release", "state", "size", "head", "tail", "arrival", "fragment", "entry", "addition"
)
STATE = row("finish", "family", "held", "departure", "relief", "gift")
DISPATCH = row("cpu", "task")


class WaitingTasks(NativeObject):
    """An instance with releases or precedence.

    Parameters
    ----------
    tasks, states
        Rows ``TASK`` and ``STATE``.
    switch
        The cost of a switch, row = state, column = task.
    replaces
        Whether one state (row) costs nowhere more than another (column).
    starts
        For each CPU its state.
    before, earlier
        Whether a task (row) waits for another one (column), and whether that one has to be
        dispatched before it.
    room
        The sizes of a CPU's tasks add up to at most this.
    """

    @native()
    def __init__(  # noqa: PLR0913, PLR0917
        self,
        tasks: Rows,
        states: Rows,
        switch: Integers,
        replaces: Flags,
        starts: Integers,
        before: Flags,
        earlier: Flags,
        room: int,
    ) -> None: ...


class ListAnnealing(NativeObject):
    """Simulated annealing over lists of tasks, see ``core/waiting/list_annealing.hpp``.

    Parameters
    ----------
    tasks
        The instance.
    dispatches
        Rows ``DISPATCH`` of all tasks, each after those that it waits for.
    seed
        64 random bits, not 0.
    """

    @native()
    def __init__(self, tasks: WaitingTasks, dispatches: Rows, seed: int) -> None: ...

    @native()
    def walk(self, moves: int, temperature: float) -> int:
        """Try moves; return when the best list so far ends, or a number above all times."""

    @native(DISPATCH)
    def best(self) -> Rows:
        """Return rows ``DISPATCH`` of the best list that a move has led to, or the first one."""


class Layers(NativeObject):
    """Layers of partial schedules, see ``core/waiting/layers.hpp``.

    Parameters
    ----------
    tasks
        The instance.
    width
        At most this number of rows of a layer are kept, those that seem to end first.
    """

    @native()
    def __init__(self, tasks: WaitingTasks, width: int) -> None: ...

    @native()
    def extend(self, pairs: int, below: int) -> bool:
        """Write what can end before a limit, for some pairs of a row and one more task.

        Returns whether some pairs are left.
        """

    @native()
    def has_dropped(self) -> bool:
        """Return whether rows were dropped because there were too many."""

    @native()
    def find_end(self) -> int:
        """Find the row of the last layer that ends first; return when, or a time after all."""

    @native(DISPATCH)
    def dispatches(self) -> Rows:
        """Return rows ``DISPATCH`` that lead to the row that was found."""
