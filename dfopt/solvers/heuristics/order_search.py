"""Local search over the orders themselves, for tables of switch costs and for waiting tasks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from graphlib import TopologicalSorter

from dfopt.costs.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.schedule import DeadlockError, timed_run
from dfopt.solvers.search import Search

Orders = list[list[int]]
"""For each CPU its tasks in order of execution, as type numbers."""

Rank = Callable[[Orders], tuple[int, ...]]
"""The value to minimise: the costs of the CPUs, largest first, or their sum."""

DESCENTS = 20

DEADLOCK = (2**63,)
"""The rank of orders whose tasks wait for each other for ever; worse than every schedule."""


class OrderSearch:
    """Repeated descents by moving single tasks to other positions and by swapping two.

    Parameters
    ----------
    search
        Where improvements are reported.
    effort
        Scales the number of descents.
    """

    def __init__(self, search: Search, effort: float = 1.0) -> None:
        self.search = search
        self.descents = max(1, int(effort * DESCENTS))
        self.random = random.Random(search.seed)
        self.table = search.costs
        self.rank = (
            timed_rank(search) if search.instance.is_timed else untimed_rank(search, self.table)
        )

    def run(self) -> None:
        """Improve constructed schedules, and shaken copies of the best one."""
        best = self._known_orders() if self.search.instance.has_sizes else None
        best_rank: tuple[int, ...] | None = None
        for descent in range(self.descents):
            orders = None
            if best is None or descent % 8 == 0:
                orders = self._inserted(self._sequence(shuffled=descent > 0))
            if orders is None:
                if best is None:
                    continue
                orders = self._shaken(best)
            self._report(orders)
            rank = self._descend(orders)
            if rank is not None and (best_rank is None or rank < best_rank):
                best, best_rank = orders, rank
            self.search.check()

    def _known_orders(self) -> Orders | None:
        """Return the orders of the best schedule so far."""
        if self.search.schedule is None:
            return None
        types = enumerate(self.search.types)
        type_of = {name: number for number, task_type in types for name in task_type.names}
        return [[type_of[name] for name in cpu.tasks] for cpu in self.search.schedule.cpus]

    def _report(self, orders: Orders) -> None:
        rank = self.rank(orders)
        if rank != DEADLOCK and (self.search.objective is None or rank[0] < self.search.objective):
            self.search.found(orders)

    def _sequence(self, *, shuffled: bool) -> list[int]:
        """Return all tasks, predecessors first."""
        types = [
            task_type
            for task_type, equal_tasks in enumerate(self.search.types)
            for _ in equal_tasks.names
        ]
        if shuffled:
            self.random.shuffle(types)
        if not self.search.instance.has_precedence:
            return types
        depth = _depths(self.search.instance)
        return sorted(types, key=lambda task_type: depth[self.search.types[task_type].example.id])

    def _inserted(self, sequence: Sequence[int]) -> Orders | None:
        """Return orders in which each task goes to the CPU that then ends first.

        None if some task finds no room in the end.
        """
        rooms = [self.search.instance.room] * self.search.instance.cpus
        cpus = range(self.search.instance.cpus)
        orders: Orders = [[] for _ in cpus]
        clocks = [0] * len(orders)
        ends: dict[str, int] = {}
        for task_type in sequence:
            self.search.check()
            task = self.search.types[task_type].example
            ready = max([task.release, *(ends[name] for name in task.after)])

            def end_on(cpu: int, task_type: int = task_type, ready: int = ready) -> int:
                order = orders[cpu]
                switch = (
                    self.table.switch[order[-1]][task_type]
                    if order
                    else self.table.start[cpu][task_type]
                )
                return max(clocks[cpu], ready) + switch + self.table.exec[task_type]

            size = self.search.types[task_type].size
            fitting = [candidate for candidate in cpus if rooms[candidate] >= size]
            if not fitting:
                return None
            cpu = min(fitting, key=end_on)
            rooms[cpu] -= size
            clocks[cpu] = end_on(cpu)
            ends[task.id] = max(clocks[cpu], ends.get(task.id, 0))
            orders[cpu].append(task_type)
        return orders

    def _descend(self, orders: Orders) -> tuple[int, ...] | None:
        """Take improving moves until there is none; change ``orders`` and return their rank."""
        rank = self.rank(orders)
        improved = True
        while improved:
            improved = False
            for neighbour in self._neighbours(orders):
                self.search.check()
                neighbour_rank = self.rank(neighbour)
                if neighbour_rank < rank:
                    orders[:], rank = neighbour, neighbour_rank
                    self._report(orders)
                    improved = True
                    break
        return None if rank == DEADLOCK else rank

    def _neighbours(self, orders: Orders) -> Iterator[Orders]:
        rooms = self._rooms(orders)
        size_of = [task_type.size for task_type in self.search.types]
        positions = [
            (cpu, position) for cpu, order in enumerate(orders) for position in range(len(order))
        ]
        self.random.shuffle(positions)
        for cpu, position in positions:
            task_type = orders[cpu][position]
            for other in range(len(orders)):
                if other != cpu and rooms[other] < size_of[task_type]:
                    continue
                without = [order.copy() for order in orders]
                del without[cpu][position]
                for target in range(len(without[other]) + 1):
                    if (other, target) != (cpu, position):
                        moved = [order.copy() for order in without]
                        moved[other].insert(target, task_type)
                        yield moved
            for other, target in positions:
                other_type = orders[other][target]
                growth = size_of[other_type] - size_of[task_type]
                if other != cpu and not -rooms[other] <= growth <= rooms[cpu]:
                    continue
                if (other, target) > (cpu, position) and other_type != task_type:
                    swapped = [order.copy() for order in orders]
                    swapped[cpu][position], swapped[other][target] = other_type, task_type
                    yield swapped

    def _rooms(self, orders: Orders) -> list[int]:
        """Return the room left on each CPU."""
        return [self.search.instance.room - self.search.size_of(order) for order in orders]

    def _shaken(self, orders: Orders) -> Orders:
        shaken = [order.copy() for order in orders]
        positions = [
            (cpu, position) for cpu, order in enumerate(orders) for position in range(len(order))
        ]
        for _ in range(self.random.randint(2, 4)):
            if len(positions) <= 1:
                break
            (cpu, position), (other, target) = self.random.sample(positions, 2)
            shaken[cpu][position], shaken[other][target] = (
                shaken[other][target],
                shaken[cpu][position],
            )
            if min(self._rooms(shaken)) < 0:  # back, where there is too little room
                shaken[cpu][position], shaken[other][target] = (
                    shaken[other][target],
                    shaken[cpu][position],
                )
        return shaken


def untimed_rank(search: Search, table: CostTable) -> Rank:
    """Return a rank of orders by their CPUs' costs alone."""
    total = search.instance.objective is Objective.TOTAL_PENALTY

    def rank(orders: Orders) -> tuple[int, ...]:
        costs = [table.order_cost(cpu, order) for cpu, order in enumerate(orders)]
        return (sum(costs),) if total else (*sorted(costs, reverse=True),)

    return rank


def timed_rank(search: Search) -> Rank:
    """Return a rank of orders by the finish times of the CPUs, waits included."""
    tasks = [task_type.example for task_type in search.types]

    def rank(orders: Orders) -> tuple[int, ...]:
        try:
            _, costs = timed_run(
                search.instance, [[tasks[task_type] for task_type in o] for o in orders]
            )
        except DeadlockError:
            return DEADLOCK
        return (*sorted(costs, reverse=True),)

    return rank


def _depths(instance: Instance) -> dict[str, int]:
    """Return for each entry the length of the longest chain of predecessors."""
    entries = {task.id: task for task in instance.tasks}
    depths: dict[str, int] = {}
    for name in TopologicalSorter({task.id: task.after for task in instance.tasks}).static_order():
        depths[name] = max((depths[before] + 1 for before in entries[name].after), default=0)
    return depths
