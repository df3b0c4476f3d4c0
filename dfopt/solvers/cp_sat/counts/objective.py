"""What the count model minimises: each CPU's cost and their largest or their sum."""

from __future__ import annotations

from collections.abc import Sequence

from ortools.sat.python import cp_model

from dfopt.instance import Instance, Objective
from dfopt.ordering import ClosedForm
from dfopt.solvers.cp_sat.counts.classes import TaskClass
from dfopt.solvers.cp_sat.counts.constraints import Constraints
from dfopt.solvers.cp_sat.counts.variables import Variables


def cpu_cost(
    variables: Variables,
    constraints: Constraints,
    form: ClosedForm,
    classes: Sequence[TaskClass],
    cpu: int,
    used: cp_model.IntVar | int,
) -> cp_model.LinearExprT:
    """Return arrival + Σ base + Σ entries + Σ exits − what the last task is spared."""
    start = form.starts[cpu]
    terms: list[cp_model.LinearExprT] = [(start.arrival + start.departure) * used]
    if start.departure:
        terms += [-start.departure * v for (_, i), v in variables.first.items() if i == cpu]
    for c, one in enumerate(classes):
        terms.append(one.base * variables.count[c, cpu])
        terms += [
            token.entry * variables.opens[c, t, cpu] for t, token in enumerate(one.tokens)
        ]
    for a in range(len(form.fragments)):
        exits = max(one.exit for one in classes if one.fragment == a)
        flush = min(one.end for one in classes if one.fragment == a)
        if exits:
            terms.append(exits * (constraints.closed(a, cpu) - variables.quiet[a, cpu]))
        if flush < 0:
            terms.append(flush * variables.final_flush[a, cpu])
    return sum(terms)


def add_objective(
    model: cp_model.CpModel,
    variables: Variables,
    constraints: Constraints,
    instance: Instance,
    form: ClosedForm,
    classes: Sequence[TaskClass],
    bounds: tuple[int, int],
) -> cp_model.IntVar:
    """Minimise the objective within ``bounds`` (inclusive) and return its variable."""
    value = model.new_int_var(*bounds, "objective")
    costs = []
    for cpu in range(instance.cpus):
        used: cp_model.IntVar | int = 0
        if form.starts[cpu].arrival or form.starts[cpu].departure:
            used = model.new_bool_var(f"used[{cpu}]")
            for a in range(len(form.fragments)):
                model.add_implication(variables.visits[a, cpu], used)
        costs.append(cpu_cost(variables, constraints, form, classes, cpu, used))
    if instance.objective is Objective.TOTAL_PENALTY:
        model.add(value == sum(costs))
    else:
        for cost in costs:
            model.add(value >= cost)
    model.minimize(value)
    return value
