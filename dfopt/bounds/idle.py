"""A bound from CPUs that are left over: those that run nothing pay for their initial states."""

from __future__ import annotations

from dfopt.bounds.bound import NOTHING, Bound
from dfopt.problem.certificate import Counting
from dfopt.problem.instance import Instance, Objective


def idle_bound(instance: Instance) -> Bound:
    """Return a bound from the costs of idle CPUs, where there are more CPUs than tasks."""
    idle = max(0, instance.cpus - instance.task_count)
    if not idle or not instance.initial or not instance.final_write_back:
        return NOTHING
    # At best the tasks run where an idle CPU would pay most.
    costs = sorted(instance.cache(cpu).finish() for cpu in range(instance.cpus))[:idle]
    value = sum(costs) if instance.objective is Objective.TOTAL_PENALTY else costs[-1]
    if not value:
        return NOTHING
    return Bound(value=value, certificate=Counting(argument="idle-cpus", threshold=value - 1))
