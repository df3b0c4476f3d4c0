"""The count model as a whole: built, hinted, and read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ortools.sat.python import cp_model

from dfopt.solvers.aggregation import Aggregation, contents_of
from dfopt.solvers.cp_sat.count_model.constraints import Constraints
from dfopt.solvers.cp_sat.count_model.objective import add_objective
from dfopt.solvers.cp_sat.count_model.variables import create_variables
from dfopt.solvers.search import Search


class CountModel:
    """The count model of one instance.

    Parameters
    ----------
    search
        The instance, and the schedule that serves as a hint.
    bounds
        The least and the largest objective that are of interest.
    """

    def __init__(self, search: Search, bounds: tuple[int, int]) -> None:
        self.search = search
        self.aggregation = Aggregation.of(search)
        self.model = cp_model.CpModel()
        self.variables = create_variables(self.model, self.aggregation)
        constraints = Constraints(self.model, self.variables, self.aggregation)
        constraints.add_all()
        add_objective(self.model, self.variables, constraints, self.aggregation, bounds)
        self._add_hint()

    def orders(self, value: Callable[[cp_model.IntVar], int]) -> list[list[int]]:
        """Return the schedule that an assignment stands for, as orders of type numbers."""
        counts: list[dict[int, int]] = [{} for _ in range(self.search.instance.cpus)]
        openers: list[dict[int, list[int]]] = [{} for _ in counts]
        for (c, cpu), variable in self.variables.count.items():
            if held := value(variable):
                counts[cpu][c] = held
        for (c, t, cpu), variable in self.variables.opens.items():
            if value(variable):
                openers[cpu].setdefault(c, []).append(self.aggregation.classes[c].tokens[t].entry)
        contents = contents_of(self.aggregation, counts, openers)
        return [self.aggregation.form.order(cpu, content) for cpu, content in enumerate(contents)]

    def _add_hint(self) -> None:
        """Hint at the best schedule so far, its CPUs in the order that the model asks for."""
        schedule = self.search.schedule
        if schedule is None:
            return
        type_of = {
            name: task_type
            for task_type, equal_tasks in enumerate(self.search.types)
            for name in equal_tasks.names
        }
        class_of = {
            task_type: c
            for c, task_class in enumerate(self.aggregation.classes)
            for task_type in task_class.task_types
        }
        contents = [Counter(class_of[type_of[name]] for name in cpu.tasks) for cpu in schedule.cpus]
        groups = self.search.cpu_groups
        by_load = sorted(range(len(contents)), key=lambda cpu: -contents[cpu].total())
        for group in set(groups):
            cpus = [cpu for cpu, cpu_group in enumerate(groups) if cpu_group == group]
            fullest = [cpu for cpu in by_load if groups[cpu] == group]
            for cpu, source in zip(cpus, fullest, strict=True):
                visited = {self.aggregation.classes[c].fragment for c in contents[source]}
                for c in range(len(self.aggregation.classes)):
                    self.model.add_hint(self.variables.count[c, cpu], contents[source][c])
                for a in range(len(self.aggregation.form.fragments)):
                    self.model.add_hint(self.variables.visits[a, cpu], a in visited)
