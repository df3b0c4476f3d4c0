"""The circuit model: one circuit a CPU through its tasks, for tables of switch costs.

It fits every penalty, and serves as the naive model that others are measured against.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

from ortools.sat.python import cp_model

from dfopt.solvers.cp_sat.runner import Expression, Model
from dfopt.solvers.search import Search

DEPOT = 0


class CircuitModel(Model):
    """One optional node per task and CPU; the depot stands for both ends of the order.

    Parameters
    ----------
    search
        The instance, and the schedule that serves as a hint.
    bounds
        The least and the largest objective that are of interest.
    """

    def __init__(self, search: Search, bounds: tuple[int, int]) -> None:
        super().__init__(search)
        self.tasks = [
            task_type
            for task_type, equal_tasks in enumerate(search.types)
            for _ in equal_tasks.names
        ]
        self.table = search.costs
        self.cpus = range(search.instance.cpus)
        # Variables.
        self.runs = {
            (task, cpu): self.boolean("runs", task, cpu)
            for task in range(len(self.tasks))
            for cpu in self.cpus
        }
        # [i, before, after]; a task's node is its number plus one, the depot is 0.
        self.arcs: dict[tuple[int, int, int], cp_model.IntVar] = {}
        for cpu in self.cpus:
            self._add_circuit(cpu)
        # Constraints.
        self._every_task_runs()
        self._capacity()
        self._equal_tasks_are_ordered()
        self._identical_cpus_are_ordered()
        # Objective.
        self.costs = [self._cost(cpu) for cpu in self.cpus]
        self._add_objective(bounds)
        self._add_hint()

    def orders(self, value: Callable[[cp_model.IntVar], int]) -> list[list[int]]:
        """Return the schedule that an assignment stands for, as orders of type numbers."""
        orders = []
        for cpu in self.cpus:
            following = {
                before: after
                for (i, before, after), arc in self.arcs.items()
                if i == cpu and before != after and value(arc)
            }
            order, node = [], following.get(DEPOT, DEPOT)
            while node != DEPOT:
                order.append(self.tasks[node - 1])
                node = following[node]
            orders.append(order)
        return orders

    def _add_circuit(self, cpu: int) -> None:
        nodes = range(len(self.tasks) + 1)
        arcs = []
        for before in nodes:
            for after in nodes:
                if before == after != DEPOT:
                    # The circuit passes by a task iff the task runs on another CPU.
                    literal = ~self.runs[before - 1, cpu]
                else:
                    literal = self.boolean("arc", cpu, before, after)
                    self.arcs[cpu, before, after] = literal
                arcs.append((before, after, literal))
        # The chosen arcs form one circuit through the depot and the tasks that the CPU runs.
        self.model.add_circuit(arcs)
        for task in range(len(self.tasks)):
            # The depot's loop is chosen only if the CPU runs no task.
            self.model.add_implication(self.runs[task, cpu], ~self.arcs[cpu, DEPOT, DEPOT])

    def _every_task_runs(self) -> None:
        # Select exactly one CPU for each task.
        for task in range(len(self.tasks)):
            self.model.add_exactly_one(self.runs[task, cpu] for cpu in self.cpus)

    def _capacity(self) -> None:
        # The tasks of a CPU fit into its room: they are at most k, where none is larger.
        instance, types = self.search.instance, self.search.types
        for cpu in self.cpus:
            size = sum(
                types[task_type].size * self.runs[task, cpu]
                for task, task_type in enumerate(self.tasks)
            )
            self.model.add(size <= instance.room)

    def _equal_tasks_are_ordered(self) -> None:
        """Of equal tasks the earlier one runs on the earlier CPU."""
        equal = defaultdict(list)
        for task, task_type in enumerate(self.tasks):
            equal[task_type].append(task)
        for tasks in equal.values():
            for earlier, later in pairwise(tasks):
                self.model.add(
                    sum(cpu * self.runs[earlier, cpu] for cpu in self.cpus)
                    <= sum(cpu * self.runs[later, cpu] for cpu in self.cpus)
                )

    def _identical_cpus_are_ordered(self) -> None:
        """Of CPUs that are alike, the earlier one holds at least as many tasks."""
        groups = self.search.cpu_groups
        for cpu in self.cpus[1:]:
            if groups[cpu] == groups[cpu - 1]:
                self.model.add(self._load(cpu - 1) >= self._load(cpu))

    def _load(self, cpu: int) -> Expression:
        return sum(self.runs[task, cpu] for task in range(len(self.tasks)))

    def arc_cost(self, cpu: int, before: int, after: int) -> int:
        """Return the cost of an arc, execution times left out."""
        if before == after == DEPOT:
            return self.table.idle[cpu]
        if before == DEPOT:
            return self.table.start[cpu][self.tasks[after - 1]]
        if after == DEPOT:
            return self.table.finish[self.tasks[before - 1]]
        return self.table.switch[self.tasks[before - 1]][self.tasks[after - 1]]

    def _cost(self, cpu: int) -> Expression:
        switches = sum(
            self.arc_cost(cpu, before, after) * arc
            for (i, before, after), arc in self.arcs.items()
            if i == cpu
        )
        executions = sum(
            self.table.exec[task_type] * self.runs[task, cpu]
            for task, task_type in enumerate(self.tasks)
        )
        return switches + executions

    def _add_objective(self, bounds: tuple[int, int]) -> None:
        self.minimise(self.costs, bounds)

    def _add_hint(self) -> None:
        nodes: defaultdict[int, list[int]] = defaultdict(list)
        for task in reversed(range(len(self.tasks))):
            nodes[self.tasks[task]].append(task + 1)
        for cpu, order in enumerate(self.known_orders()):
            path = [nodes[task_type].pop() for task_type in order]
            for task in range(len(self.tasks)):
                self.model.add_hint(self.runs[task, cpu], task + 1 in path)
            used = set(pairwise([DEPOT, *path, DEPOT]))
            for (i, before, after), arc in self.arcs.items():
                if i == cpu:
                    self.model.add_hint(arc, (before, after) in used)


class IntervalModel(CircuitModel):
    """Circuits whose arcs also order the tasks in time.

    A task's interval begins with the switch to it, which waits until the task is ready, and
    ends with its execution. The cost of a CPU is when it has finished.
    """

    def _add_objective(self, bounds: tuple[int, int]) -> None:
        tasks = range(len(self.tasks))
        releases = [self.search.types[task_type].example.release for task_type in self.tasks]
        horizon = max(bounds[1], *releases)
        self.start = [
            self.model.new_int_var(releases[task], horizon, f"start[{task}]") for task in tasks
        ]
        self.end = [self.model.new_int_var(0, horizon, f"end[{task}]") for task in tasks]
        self._intervals_on_each_cpu()
        self._precedence()
        value = self.model.new_int_var(*bounds, "objective")
        for (_, before, after), arc in self.arcs.items():
            if before != DEPOT and after == DEPOT:
                # The CPU has finished after its last task and what comes behind that.
                finish = self.table.finish[self.tasks[before - 1]]
                self.model.add(value >= self.end[before - 1] + finish).only_enforce_if(arc)
        for cost in self.costs:
            # A CPU takes at least the time of its tasks and switches, without any waits.
            self.model.add(value >= cost)
        self.model.minimize(value)

    def _intervals_on_each_cpu(self) -> None:
        incoming: dict[int, list[tuple[int, cp_model.IntVar]]] = defaultdict(list)
        for (cpu, before, after), arc in self.arcs.items():
            if after == DEPOT:
                continue
            incoming[after - 1].append((self.arc_cost(cpu, before, after), arc))
            if before != DEPOT:
                # A task starts after the one before it on its CPU has ended.
                self.model.add(self.start[after - 1] >= self.end[before - 1]).only_enforce_if(arc)
        for task, task_type in enumerate(self.tasks):
            # An interval holds the switch to its task, by the chosen arc, and the execution.
            size = self.table.exec[task_type] + sum(cost * arc for cost, arc in incoming[task])
            self.model.add(self.end[task] == self.start[task] + size)
        for cpu in self.cpus:
            # The executions on a CPU do not overlap. The circuit implies that; said once more, it
            # lets the solver reason about time early.
            self.model.add_no_overlap(
                self.model.new_optional_fixed_size_interval_var(
                    self._latest_part(task),
                    self.table.exec[task_type],
                    self.runs[task, cpu],
                    f"interval[{task},{cpu}]",
                )
                for task, task_type in enumerate(self.tasks)
            )

    def _latest_part(self, task: int) -> Expression:
        """Return when the execution itself begins."""
        return self.end[task] - self.table.exec[self.tasks[task]]

    def _precedence(self) -> None:
        nodes = defaultdict(list)
        for task, task_type in enumerate(self.tasks):
            nodes[self.search.types[task_type].example.id].append(task)
        pairs = [
            (before, task)
            for task, task_type in enumerate(self.tasks)
            for name in self.search.types[task_type].example.after
            for before in nodes[name]
        ]
        # A task starts after all its predecessors have ended.
        for before, after in pairs:
            self.model.add(self.start[after] >= self.end[before])
        if pairs and not all(self.table.exec[task_type] for task_type in self.tasks):
            self._no_cycles_in_an_instant(pairs)

    def _no_cycles_in_an_instant(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Rank the tasks: where some take no time, times alone would let them wait in a ring."""
        rank = [
            self.model.new_int_var(0, len(self.tasks) - 1, f"rank[{task}]")
            for task in range(len(self.tasks))
        ]
        # A predecessor, and a task that runs before on the same CPU, have lower ranks.
        for before, after in pairs:
            self.model.add(rank[after] > rank[before])
        for (_, before, after), arc in self.arcs.items():
            if DEPOT not in (before, after):
                self.model.add(rank[after - 1] > rank[before - 1]).only_enforce_if(arc)

    def _equal_tasks_are_ordered(self) -> None:
        """Leave equal tasks alone: the circuits already say which of them runs when."""
