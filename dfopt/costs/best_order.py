"""The best order of one CPU's tasks: F(w) of an order and F*(W) of a set.

Under f and g it has a closed form; under a table of switch costs a dynamic program finds it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.task_types import TaskType, cost_table, task_types
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix


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
    types = task_types(instance)
    type_of = {name: index for index, task_type in enumerate(types) for name in task_type.names}
    members: defaultdict[int, deque[str]] = defaultdict(deque)
    for name in names:
        members[type_of[name]].append(name)
    content = {task_type: len(own) for task_type, own in members.items()}
    is_matrix = isinstance(instance.penalty, PenaltyMatrix)
    rule = HeldKarp(instance, types) if is_matrix else ClosedForm(instance, types)
    order = rule.order(cpu, content)
    return rule.cost(cpu, content), tuple(members[task_type].popleft() for task_type in order)


Layer = dict[tuple[tuple[int, ...], int], tuple[int, tuple[int, ...]]]
"""By what is left and the place of the last type: the least cost, and the order that has it."""


class HeldKarp:
    """F* and the order that attains it, for sets of tasks given as counts of types.

    It needs time and memory in proportion to t²·Π(count + 1) for t types, so it is for contents
    of few types or few tasks. It works for every penalty, from its definition alone.

    Parameters
    ----------
    instance
        Any instance; waits for releases and precedence are not counted.
    types
        Its task types; contents are mappings from their numbers to counts.
    """

    def __init__(self, instance: Instance, types: Sequence[TaskType]) -> None:
        self.table = cost_table(instance, types)

    def cost(self, cpu: int, content: Mapping[int, int]) -> int:
        """Return F* of ``content`` on ``cpu``."""
        return self._solve(cpu, content)[0]

    def order(self, cpu: int, content: Mapping[int, int]) -> list[int]:
        """Return a cheapest order of ``content`` on ``cpu``, as type numbers."""
        return self._solve(cpu, content)[1]

    def _solve(self, cpu: int, content: Mapping[int, int]) -> tuple[int, list[int]]:
        task_types = [task_type for task_type, count in content.items() if count]
        if not task_types:
            return self.table.idle[cpu], []
        counts = tuple(content[task_type] for task_type in task_types)
        base = sum(self.table.exec[task_type] * content[task_type] for task_type in task_types)
        # A state is what is still to run and what ran last; each layer runs one task more.
        layer: Layer = {
            (_without(counts, position), position): (self.table.start[cpu][task_type], (task_type,))
            for position, task_type in enumerate(task_types)
        }
        for _ in range(sum(counts) - 1):
            before, layer = layer, {}
            for (left, last), (cost, order) in before.items():
                for position, count in enumerate(left):
                    if not count:
                        continue
                    state = (_without(left, position), position)
                    task_type = task_types[position]
                    longer = cost + self.table.switch[task_types[last]][task_type]
                    if state not in layer or longer < layer[state][0]:
                        layer[state] = (longer, (*order, task_type))
        best, last = min(
            (cost + self.table.finish[task_types[last]], last)
            for (_, last), (cost, _) in layer.items()
        )
        return base + best, list(layer[(0,) * len(task_types), last][1])


def _without(counts: tuple[int, ...], position: int) -> tuple[int, ...]:
    return (*counts[:position], counts[position] - 1, *counts[position + 1 :])
