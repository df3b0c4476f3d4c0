"""The order of one CPU's tasks as a tour through nodes.

The nodes are the start of the order, the types of its tasks, and its end. An arc between two nodes
stands for tasks that follow each other. A tour visits a node once for each of its tasks. If some
tasks wait for others, each task is a node of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dfopt.costs.task_types import TaskType, cost_table
from dfopt.solvers.matrix import by_type_of_matrix
from dfopt.solvers.search import Search
from dfopt.structs import Record

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

START = 0
"""The node before the first task; the node after the last one has the largest number."""


class TourProblem(Record):
    """The tasks of one CPU, which has to run them all.

    Parameters
    ----------
    names
        The names of the types of the matrix, or of the tasks where some wait for others: those of
        the nodes 1, 2, ….
    members
        For each of these nodes, the number of a task type of the search for each task.
    visits
        How often a tour visits each node.
    cost
        Cost of each arc, row = from, column = to.
    most
        How often a tour can use each arc.
    precedes
        Whether all visits of the node in the row come before those of the node in the column.
    base
        What every tour costs beside its arcs: the execution times.
    """

    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    visits: Integers
    cost: Integers
    most: Integers
    precedes: Flags
    base: int

    @property
    def end(self) -> int:
        """The last node."""
        return len(self.visits) - 1

    def cost_of(self, tour: Sequence[int]) -> int:
        """Return what the arcs of a tour cost together, which names all nodes on its way."""
        return int(self.cost[list(tour[:-1]), list(tour[1:])].sum())

    def order(self, tour: Sequence[int]) -> list[int]:
        """Return the numbers of the task types on a tour."""
        left = [iter(numbers) for numbers in self.members]
        return [next(left[node - 1]) for node in tour[1:-1]]

    def tour(self, order: Sequence[int]) -> list[int]:
        """Return the tour of an order of task types."""
        nodes: dict[int, list[int]] = defaultdict(list)
        for node, numbers in enumerate(self.members, 1):
            for number in numbers:
                nodes[number].append(node)
        left = {number: iter(members) for number, members in nodes.items()}
        return [START, *(next(left[number]) for number in order), self.end]


def tour_problem(search: Search) -> TourProblem:
    """Return the instance of a search with one CPU, a matrix and no releases in this form."""
    instance = search.instance
    types: Sequence[TaskType]
    if instance.has_precedence:
        members = [
            [number]
            for number, task_type in enumerate(search.types)
            for _ in range(task_type.count)
        ]
        types = [search.types[number] for (number,) in members]
        names = [name for task_type in search.types for name in task_type.names]
    else:
        types, members = by_type_of_matrix(search.types)
        names = [str(task_type.example.type) for task_type in types]
    table = cost_table(instance, types)
    size = len(types) + 2
    end = size - 1
    visits = np.array([1, *(len(numbers) for numbers in members), 1], dtype=np.int64)
    cost = np.zeros((size, size), dtype=np.int64)
    cost[1:end, 1:end] = table.switch
    cost[START, 1:end] = table.start[0]
    cost[1:end, end] = table.finish
    precedes = _order_of_nodes(types)
    most = np.minimum(visits[:, None], visits[None, :])
    most[np.diag_indices(size)] = visits - 1
    most[precedes] = 1
    # No arc leads against the order, or where another node has to come between.
    between = (precedes.astype(np.int64) @ precedes.astype(np.int64)) > 0
    most[precedes.T | between] = 0
    working = sum(
        exec_time * task_type.count
        for exec_time, task_type in zip(search.costs.exec, search.types, strict=True)
    )
    return TourProblem(
        names=tuple(names),
        members=tuple(map(tuple, members)),
        visits=visits,
        cost=cost,
        most=most,
        precedes=precedes,
        base=working,
    )


def _order_of_nodes(types: Sequence[TaskType]) -> Flags:
    """Return which nodes come before which, ends and consequences included.

    Copies of a task are alike, so that they can run in the order of their names.
    """
    nodes: dict[str, list[int]] = defaultdict(list)
    for node, task_type in enumerate(types, 1):
        nodes[task_type.example.id].append(node)
    size = len(types) + 2
    precedes = np.zeros((size, size), dtype=np.bool_)
    precedes[START, 1:] = precedes[:-1, -1] = True
    for node, task_type in enumerate(types, 1):
        for name in task_type.example.after:
            precedes[nodes[name], node] = True
    for copies in nodes.values():
        precedes[copies[:-1], copies[1:]] = True
    for node in range(1, size - 1):  # Warshall's transitive closure
        precedes |= precedes[:, node, None] & precedes[None, node, :]
    return precedes
