"""The best order of one CPU's tasks by Held and Karp's program, for sets of few tasks."""

from collections.abc import Mapping, Sequence

from dfopt.costs.task_types import TaskType, cost_table
from dfopt.problem.instance import Instance

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
