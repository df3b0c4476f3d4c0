"""Search for schedules of tasks that wait, see ``core/waiting``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dfopt.native.library import (
    FLAGS,
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

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

TASK = row(
    "exec", "release", "state", "size", "head", "tail", "arrival", "fragment", "entry", "addition"
)
STATE = row("finish", "family", "held", "departure", "relief", "gift")
STEP = row("parent", "task", "cpu", of=np.int32)

_instance = Functions(
    "waiting",
    create=(
        POINTER, ArrayOf(TASK), ArrayOf(STATE), INTS, FLAGS, INTS, FLAGS, FLAGS, INT
    ),
    destroy=(None, POINTER),
)  # fmt: skip
_annealing = Functions(
    "waiting_annealing",
    create=(POINTER, POINTER, INTS, INTS, SEED),
    destroy=(None, POINTER),
    walk=(INT, POINTER, INT, FLOAT),
    best=(INT, POINTER, INTS, INTS),
)
_layers = Functions(
    "waiting_layers",
    create=(POINTER, POINTER, INT),
    destroy=(None, POINTER),
    extend=(INT, POINTER, INT, INT),
    has_dropped=(INT, POINTER),
    advance=(INT, POINTER),
    find_end=(INT, POINTER),
    dispatches=(INT, POINTER, ArrayOf(STEP)),
)


class WaitingTasks(Made):
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
    ) -> None:
        arrays = tasks, states, switch, replaces, starts, before, earlier
        super().__init__(_instance, *arrays, room, uses=arrays)
        self.count = len(tasks)


class ListAnnealing(Made):
    """Simulated annealing over lists of tasks, see ``core/waiting/list_annealing.hpp``.

    Parameters
    ----------
    tasks
        The instance.
    order
        All tasks, each after those that it waits for.
    cpus
        For each task.
    seed
        64 random bits, not 0.
    """

    def __init__(self, tasks: WaitingTasks, order: Integers, cpus: Integers, seed: int) -> None:
        super().__init__(_annealing, tasks, order, cpus, seed, uses=tasks)
        self._count = tasks.count

    def walk(self, moves: int, temperature: float) -> int:
        """Try moves; return when the best list so far ends, or a number above all times."""
        return int(_annealing.walk(self, moves, temperature))

    def best(self) -> tuple[Integers, Integers]:
        """Return the best list that a move has led to, or the first one: its order and CPUs."""
        order, cpus = np.empty((2, self._count), np.int64)
        checked(_annealing.best(self, order, cpus))
        return order, cpus


class Layers(Made):
    """Layers of partial schedules, see ``core/waiting/layers.hpp``.

    Parameters
    ----------
    tasks
        The instance.
    width
        At most this number of rows of a layer are kept, those that seem to end first.
    """

    def __init__(self, tasks: WaitingTasks, width: int) -> None:
        super().__init__(_layers, tasks, width, uses=tasks)
        self._count = tasks.count

    def extend(self, pairs: int, below: int) -> bool:
        """Write what can end before a limit, for some pairs of a row and one more task.

        Returns whether some pairs are left.
        """
        return bool(_layers.extend(self, pairs, below))

    @property
    def has_dropped(self) -> bool:
        """Whether rows were dropped because there were too many."""
        return bool(_layers.has_dropped(self))

    def advance(self) -> int:
        """Go on with the layer that has been written; return the number of its rows."""
        return int(_layers.advance(self))

    def first_end(self) -> int:
        """Return when the row of the last layer ends that ends first."""
        return int(_layers.find_end(self))

    def dispatches(self) -> Rows:
        """Return the rows ``STEP`` that lead to the row that ends first."""
        steps = np.empty(self._count, STEP)
        checked(_layers.dispatches(self, steps))
        return steps
