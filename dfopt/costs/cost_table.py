"""The definition of the switch costs written out as tables over task types."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dfopt.costs.task_types import TaskType
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.switch_costs import finish_cost, start_cost, switch_cost


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
    """

    def __init__(self, instance: Instance, types: Sequence[TaskType]) -> None:
        tasks = [kind.example for kind in types]
        penalty = instance.penalty
        counts = instance.objective is Objective.MAKESPAN
        self.exec = [task.exec if counts else 0 for task in tasks]
        self.switch = [[switch_cost(penalty, before, after) for after in tasks] for before in tasks]
        self.start = [
            [start_cost(instance, cpu, task) for task in tasks] for cpu in range(instance.cpus)
        ]
        self.finish = [finish_cost(instance, task) for task in tasks]

    def order_cost(self, cpu: int, order: Sequence[int]) -> int:
        """Return F(w) of an order of types, without waits."""
        if not order:
            return 0
        cost = self.start[cpu][order[0]] + self.finish[order[-1]]
        cost += sum(self.switch[before][after] for before, after in pairwise(order))
        return cost + sum(self.exec[kind] for kind in order)
