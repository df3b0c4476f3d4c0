"""Bounds from releases and precedence: nothing ends before its chain of predecessors has."""

from __future__ import annotations

from graphlib import TopologicalSorter

from dfopt.bounds.bound import NOTHING, Bound
from dfopt.problem.certificate import Counting
from dfopt.problem.instance import Instance


def critical_path_bound(instance: Instance) -> Bound:
    """Return when the longest chain of releases and execution times ends at the earliest."""
    if not instance.is_timed:
        return NOTHING
    entries = {task.id: task for task in instance.tasks}
    ends: dict[str, int] = {}
    for name in TopologicalSorter({task.id: task.after for task in instance.tasks}).static_order():
        task = entries[name]
        ready = max([task.release, *(ends[before] for before in task.after)])
        ends[name] = ready + task.exec
    value = max(ends.values(), default=0)
    if value == 0:
        return NOTHING
    return Bound(value=value, certificate=Counting(argument="critical-path", threshold=value - 1))
