"""The best order of one CPU's tasks: F(w) of an order and F*(W) of a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.held_karp import HeldKarp
from dfopt.costs.task_types import TaskType, named_orders, task_types
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix


class BestOrder(Protocol):
    """Knows F* of every set of tasks, given as a mapping from type numbers to counts."""

    def cost(self, cpu: int, content: Mapping[int, int]) -> int:
        """Return F* of ``content`` on ``cpu``."""
        ...

    def order(self, cpu: int, content: Mapping[int, int]) -> list[int]:
        """Return a cheapest order of ``content`` on ``cpu``, as type numbers."""
        ...


def best_order_of_types(instance: Instance, types: Sequence[TaskType]) -> BestOrder:
    """Return an object that computes F* for the penalty of ``instance``."""
    if isinstance(instance.penalty, PenaltyMatrix):
        return HeldKarp(instance, types)
    return ClosedForm(instance, types)


def best_order(instance: Instance, cpu: int, names: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Return F*(W) and an order that attains it.

    Parameters
    ----------
    instance
        The instance that the names belong to; waits for releases or precedence do not count.
    cpu
        The CPU that runs the tasks, for its initial cache state.
    names
        The names of the tasks W.

    Returns
    -------
    cost : int
        The least F(w) over all orders w of W, in the instance's time unit.
    order : tuple of str
        An order of ``names`` with that cost.
    """
    tasks = instance.tasks_by_name()
    types = task_types(instance)
    type_of = {name: index for index, task_type in enumerate(types) for name in task_type.names}
    content = Counter(type_of[name] for name in names)
    rule = best_order_of_types(instance, types)
    order = rule.order(cpu, content)
    chosen: dict[int, list[str]] = {}
    for name in names:
        chosen.setdefault(type_of[name], []).append(name)
    members = [
        TaskType(example=tasks[task_type.names[0]], names=tuple(chosen.get(index, ())))
        for index, task_type in enumerate(types)
    ]
    (named,) = named_orders(members, [order])
    return rule.cost(cpu, content), named
