"""The costs between tasks as tables, for those who look them up often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dfopt.problem.cache import OTHER, Cache, DataUse, InitialState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class CostTable:
    """What :meth:`Cache.enter` and :meth:`Cache.finish` say of some tasks of an instance.

    Parameters
    ----------
    instance, tasks
        Any instance and some of its tasks.

    Attributes
    ----------
    exec : list of int
        Execution time of each task; zeros where the objective does not count it.
    switch : list of list of int
        Cost of a switch, row = from, column = to.
    start : list of list of int
        Cost of the first task, row = CPU, column = task.
    finish : list of int
        Cost after the last task.
    idle : list of int
        Cost of each CPU that runs nothing.
    """

    def __init__(self, instance: Instance, tasks: Sequence[Task]) -> None:
        counts = instance.objective is Objective.MAKESPAN
        self.exec = [task.exec if counts else 0 for task in tasks]
        uses = [instance.use(task) for task in tasks]
        cache = instance.cache(0)
        penalty = instance.penalty
        if isinstance(penalty, PenaltyMatrix):
            types = [penalty.number_of(task.type) for task in tasks]
            rows = {row: [penalty.switch[row][column] for column in types] for row in set(types)}
            self.switch = [rows[row] for row in types]
        else:
            self.switch = _switch_table(cache, uses)
        self.finish = [cache.hold(use).finish() for use in uses]
        # CPUs that start alike share a row.
        starts = costs_of_starts(instance, tasks)
        self.start = [starts[state][0] for state in instance.initial_states]
        self.idle = [starts[state][1] for state in instance.initial_states]

    def between(self) -> npt.NDArray[np.int64]:
        """Return the costs between neighbours, the execution time of the second one included.

        Rows are the tasks, then the beginnings of the CPUs; columns are the tasks, then the end
        of a CPU. What a CPU pays is a sum over neighbours, from its beginning to its end.
        """
        import numpy as np

        tasks, cpus = len(self.switch), len(self.start)
        costs = np.zeros((tasks + 1 + cpus, tasks + 1), dtype=np.int64)
        for row, switch in enumerate(self.switch):
            costs[row, :tasks] = switch
        costs[tasks + 1 :, :tasks] = self.start
        costs[:, :tasks] += np.array(self.exec, dtype=np.int64)
        costs[:tasks, tasks], costs[tasks + 1 :, tasks] = self.finish, self.idle
        return costs


def costs_of_starts(
    instance: Instance, tasks: Sequence[Task]
) -> dict[InitialState, tuple[list[int], int]]:
    """Return by what a cache holds at the start: the costs of first tasks, and of none at all."""
    cache = instance.cache(0)
    uses = [instance.use(task) for task in tasks]
    return {
        state: ([cache.hold(held).enter(use) for use in uses], cache.hold(held).finish())
        for state in dict.fromkeys(instance.initial_states)
        for held in (instance.use(state),)
    }


def _switch_table(cache: Cache, uses: Sequence[DataUse]) -> list[list[int]]:
    """Return the cost of a switch under f or g, row = from, column = to; equal rows are one list.

    Most pairs of tasks are of different fragments. A task then costs the same after all tasks that
    leave their fragment in one state, so that these costs are worked out once for each state.
    """
    members: dict[object, list[int]] = {}
    for column, use in enumerate(uses):
        members.setdefault(use.fragment, []).append(column)
    away = {
        leaves: [cache.hold(DataUse(OTHER, leaves)).enter(after) for after in uses]
        for leaves in {use.leaves for use in uses}
    }
    rows = {}
    for content, before in {use[:2]: use for use in uses}.items():
        row = rows[content] = away[before.leaves].copy()
        for column in members[before.fragment]:
            row[column] = cache.hold(before).enter(uses[column])
    return [rows[use[:2]] for use in uses]
