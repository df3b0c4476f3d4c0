"""The objective of the count model: the largest cost of a CPU, or the sum of all costs."""

from __future__ import annotations

from ortools.sat.python import cp_model

from dfopt.problem.instance import Objective
from dfopt.solvers.aggregation import Aggregation
from dfopt.solvers.cp_sat.count_model.constraints import Constraints
from dfopt.solvers.cp_sat.count_model.variables import Variables
from dfopt.solvers.cp_sat.runner import Expression


def cpu_cost(
    variables: Variables,
    constraints: Constraints,
    aggregation: Aggregation,
    cpu: int,
    used: Expression,
) -> Expression:
    """Return arrival + Σ base + Σ entries + Σ exits − what the last task is spared.

    A CPU that is not used pays what an idle one pays.
    """
    classes, form = aggregation.classes, aggregation.form
    start = form.starts[cpu]
    terms: list[Expression] = [start.idle + (start.arrival + start.departure - start.idle) * used]
    if start.departure:
        terms += [-start.departure * v for (_, i), v in variables.first.items() if i == cpu]
    for c, task_class in enumerate(classes):
        terms.append(task_class.base * variables.count[c, cpu])
        terms += [
            token.entry * variables.opens[c, t, cpu] for t, token in enumerate(task_class.tokens)
        ]
    for a in range(len(form.fragments)):
        exits = max(task_class.exit for task_class in classes if task_class.fragment == a)
        flush = min(task_class.end for task_class in classes if task_class.fragment == a)
        if exits:
            terms.append(exits * (constraints.closed(a, cpu) - variables.quiet[a, cpu]))
        if flush < 0:
            terms.append(flush * variables.final_flush[a, cpu])
    return sum(terms)


def add_objective(
    model: cp_model.CpModel,
    variables: Variables,
    constraints: Constraints,
    aggregation: Aggregation,
    bounds: tuple[int, int],
) -> None:
    """Minimise the objective within ``bounds``, both inclusive."""
    instance, form = aggregation.instance, aggregation.form
    value = model.new_int_var(*bounds, "objective")
    costs = []
    for cpu in range(instance.cpus):
        used: Expression = 0
        start = form.starts[cpu]
        if start.arrival or start.departure or start.idle:
            used = is_used = model.new_bool_var(f"used[{cpu}]")
            visits = [variables.visits[a, cpu] for a in range(len(form.fragments))]
            for visit in visits:
                model.add_implication(visit, is_used)
            if start.idle:
                model.add(is_used <= sum(visits))
        costs.append(cpu_cost(variables, constraints, aggregation, cpu, used))
    if instance.objective is Objective.TOTAL_PENALTY:
        # The objective is the sum of the CPUs' costs.
        model.add(value == sum(costs))
    else:
        # The objective is at least the cost of each CPU.
        for cost in costs:
            model.add(value >= cost)
    model.minimize(value)
