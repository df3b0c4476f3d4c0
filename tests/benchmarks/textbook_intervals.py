"""The textbook model of CP-SAT for setups, releases and precedence: circuits and intervals."""

from __future__ import annotations

from ortools.sat.python import cp_model

from dfopt.costs.cost_table import CostTable
from dfopt.costs.task_types import task_types
from dfopt.problem.instance import Instance


def solve_by_textbook(
    instance: Instance, limit_s: float, *, workers: int, seed: int
) -> tuple[int | None, int]:
    """Return makespan (None without a schedule) and lower bound of an instance without copies."""
    types = task_types(instance)
    table = CostTable(instance, types)
    tasks, cpus = range(len(types)), range(instance.cpus)
    numbers = {task_type.example.id: number for number, task_type in enumerate(types)}
    horizon = max(task_type.example.release for task_type in types) + sum(table.exec)
    horizon += len(types) * max(map(max, [*table.switch, *table.start])) + max(table.finish)
    model = cp_model.CpModel()
    begin = [model.new_int_var(types[j].example.release, horizon, "") for j in tasks]
    execution = [model.new_int_var(0, horizon, "") for _ in tasks]
    end = [execution[j] + table.exec[j] for j in tasks]
    makespan = model.new_int_var(0, horizon, "")
    runs = [[model.new_bool_var("") for _ in cpus] for _ in tasks]
    for j in tasks:
        model.add_exactly_one(runs[j])
        model.add(makespan >= end[j])
        for name in types[j].example.after:
            model.add(begin[j] >= end[numbers[name]])
    for cpu in cpus:
        idle = model.new_bool_var("")
        model.add(makespan >= table.idle[cpu]).only_enforce_if(idle)
        arcs: list[cp_model.ArcT] = [(0, 0, idle)]
        for j in tasks:
            first, last = model.new_bool_var(""), model.new_bool_var("")
            arcs += [(j + 1, j + 1, ~runs[j][cpu]), (0, j + 1, first), (j + 1, 0, last)]
            model.add(execution[j] >= begin[j] + table.start[cpu][j]).only_enforce_if(first)
            model.add(makespan >= end[j] + table.finish[j]).only_enforce_if(last)
            for k in tasks:
                if j != k:
                    arc = model.new_bool_var("")
                    arcs.append((j + 1, k + 1, arc))
                    model.add(begin[k] >= end[j]).only_enforce_if(arc)
                    model.add(execution[k] >= begin[k] + table.switch[j][k]).only_enforce_if(arc)
        model.add_circuit(arcs)
        model.add_no_overlap(
            model.new_optional_fixed_size_interval_var(
                execution[j], table.exec[j], runs[j][cpu], ""
            )
            for j in tasks
        )
        model.add(sum(runs[j][cpu] for j in tasks) <= instance.tasks_per_cpu)
    model.minimize(makespan)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit_s
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    bound = -int(-solver.best_objective_bound // 1)
    return (int(solver.objective_value) if found else None), bound
