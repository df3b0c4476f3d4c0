"""The circuit model with time: releases and precedence under makespan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ortools.sat.python import cp_model

from dfopt.solvers.cp_sat.circuit_model import DEPOT, CircuitModel
from dfopt.solvers.cp_sat.runner import Expression


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
