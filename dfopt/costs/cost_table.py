"""The definition of the switch costs written out as tables over task types."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from dfopt.costs.task_types import TaskType
from dfopt.problem.cache_state import CacheState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyMatrix
from dfopt.problem.switch_costs import finish_cost, idle_cost, start_cost, switch_cost

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class CostTable:
    """Costs between task types, for solvers that look them up often.

    Parameters
    ----------
    instance, types
        Any instance and its task types.

    Attributes
    ----------
    exec : list of int
        Execution time of each type; zeros where the objective does not count it.
    switch : list of list of int
        Cost of a switch, row = from, column = to.
    start : list of list of int
        Cost of the first task, row = CPU, column = type.
    finish : list of int
        Cost after the last task.
    idle : list of int
        Cost of each CPU that runs nothing.
    """

    def __init__(self, instance: Instance, types: Sequence[TaskType]) -> None:
        tasks = [task_type.example for task_type in types]
        counts = instance.objective is Objective.MAKESPAN
        self.exec = [task.exec if counts else 0 for task in tasks]
        self.switch = _switch_table(instance.penalty, tasks)
        # CPUs that start alike share a row.
        examples = {state: cpu for cpu, state in enumerate(instance.initial_states)}
        starts = {
            state: [start_cost(instance, cpu, task) for task in tasks]
            for state, cpu in examples.items()
        }
        idle = {state: idle_cost(instance, cpu) for state, cpu in examples.items()}
        self.start = [starts[state] for state in instance.initial_states]
        self.finish = [finish_cost(instance, task) for task in tasks]
        self.idle = [idle[state] for state in instance.initial_states]

    def between(self) -> npt.NDArray[np.int64]:
        """Return the costs between neighbours, the execution time of the second one included.

        Rows are the types, then the beginnings of the CPUs; columns are the types, then the end
        of a CPU. What a CPU pays is a sum over neighbours, from its beginning to its end.
        """
        import numpy as np

        types, cpus = len(self.switch), len(self.start)
        costs = np.zeros((types + 1 + cpus, types + 1), dtype=np.int64)
        for row, switch in enumerate(self.switch):
            costs[row, :types] = switch
        costs[types + 1 :, :types] = self.start
        costs[:, :types] += np.array(self.exec, dtype=np.int64)
        costs[:types, types], costs[types + 1 :, types] = self.finish, self.idle
        return costs

    def order_cost(self, cpu: int, order: Sequence[int]) -> int:
        """Return F(w) of an order of types, without waits."""
        if not order:
            return self.idle[cpu]
        cost = self.start[cpu][order[0]] + self.finish[order[-1]]
        cost += sum(self.switch[before][after] for before, after in pairwise(order))
        return cost + sum(self.exec[task_type] for task_type in order)


def _switch_table(penalty: Penalty, tasks: Sequence[Task]) -> list[list[int]]:
    """Return the cost of a switch, row = from, column = to; equal rows are one list.

    Most pairs of tasks are of different fragments. Under f and g a task then costs the same
    after all tasks that leave their fragment in one state, so that these costs are worked out
    once for each state.
    """
    rows: dict[object, list[int]] = {}
    if isinstance(penalty, PenaltyMatrix):
        columns = [penalty.number_of(task.type) for task in tasks]
        for task, number in zip(tasks, columns, strict=True):
            if task.type not in rows:
                rows[task.type] = [penalty.switch[number][column] for column in columns]
        return [rows[task.type] for task in tasks]
    members: dict[str | None, list[int]] = {}
    for index, task in enumerate(tasks):
        members.setdefault(task.df, []).append(index)
    elsewhere = max((name for name in members if name is not None), default="") + "'"
    away = {
        leaves: [
            switch_cost(penalty, CacheState(df=elsewhere, leaves=leaves), after) for after in tasks
        ]
        for leaves in {task.leaves for task in tasks}
    }
    for task in tasks:
        if (task.df, task.leaves) not in rows:
            row = away[task.leaves].copy()
            for index in members[task.df]:
                row[index] = switch_cost(penalty, task, tasks[index])
            rows[task.df, task.leaves] = row
    return [rows[task.df, task.leaves] for task in tasks]
