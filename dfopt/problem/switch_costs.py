"""The switch penalties f, g and matrix: what it costs a CPU to go from one task to the next.

This is the definition that everything else is measured against; nothing here is clever.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dfopt.problem.cache_state import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix


def switch_cost(penalty: Penalty, before: Task | CacheState, after: Task) -> int:
    """Return the cost of switching a CPU from one task to the next, f(v_i, v_j) of [1]_.

    Parameters
    ----------
    penalty
        The penalty function and its parameters.
    before
        The task that ran last, or the state that the cache was found in.
    after
        The task that runs next.

    Returns
    -------
    int
        Time, in the instance's unit.

    Notes
    -----
    Under f, with l the lines that ``after`` reads: within a fragment T_w if ``before``
    invalidated it, else 0; between fragments l·t_r, plus T_w if ``before`` did not leave its
    fragment clean. Under g: T_r + T_w between fragments, 0 within one.

    References
    ----------
    .. [1] S. S. Pinter and M. Zalmanovici, "Data Sharing Conscious Scheduling for
       Multi-threaded Applications on SMP Machines", Euro-Par 2006, section 3.
    """
    match penalty:
        case PenaltyF(write_back=write_back):
            if before.df == after.df:
                return write_back if before.leaves is Leaves.INVALIDATED else 0
            return reading_cost(penalty, after) + (
                0 if before.leaves is Leaves.CLEAN else write_back
            )
        case PenaltyG():
            return 0 if before.df == after.df else reading_cost(penalty, after)
        case PenaltyMatrix(switch=switch):
            return switch[penalty.number_of(before.type)][penalty.number_of(after.type)]


def reading_cost(penalty: PenaltyF | PenaltyG, task: Task) -> int:
    """Return the cost of a task that finds another fragment, or none, in a clean cache."""
    if isinstance(penalty, PenaltyG):
        return penalty.fill + penalty.write_back
    return (task.lines or 0) * penalty.read_line


def start_cost(instance: Instance, cpu: int, first: Task) -> int:
    """Return the cost of the first task of a CPU, from what its cache holds at the start."""
    penalty = instance.penalty
    state = instance.initial[cpu] if instance.initial else None
    if isinstance(state, CacheState):
        return switch_cost(penalty, state, first)
    if state == "unknown" or not instance.cold_start:
        return 0
    if isinstance(penalty, PenaltyMatrix):
        return penalty.start[penalty.number_of(first.type)] if penalty.start else 0
    return reading_cost(penalty, first)


def finish_cost(instance: Instance, last: Task | CacheState) -> int:
    """Return the cost that remains after the last task of a CPU, or after its initial state."""
    penalty = instance.penalty
    if not instance.final_write_back:
        return 0
    match penalty:
        case PenaltyF(write_back=write_back):
            return 0 if last.leaves is Leaves.CLEAN else write_back
        case PenaltyG():
            return 0
        case PenaltyMatrix(finish=finish):
            return finish[penalty.number_of(last.type)] if finish else 0


def idle_cost(instance: Instance, cpu: int) -> int:
    """Return F(∅), the cost of a CPU that runs nothing: that of its cache's final write-back."""
    state = instance.initial[cpu] if instance.initial else None
    return finish_cost(instance, state) if isinstance(state, CacheState) else 0


def order_cost(instance: Instance, cpu: int, order: Sequence[Task]) -> int:
    """Return F(w), the cost of running ``order`` on ``cpu`` without waiting.

    Execution times are part of it under the objective ``makespan``.
    """
    if not order:
        return idle_cost(instance, cpu)
    cost = start_cost(instance, cpu, order[0]) + finish_cost(instance, order[-1])
    for before, after in pairwise(order):
        cost += switch_cost(instance.penalty, before, after)
    if instance.objective is Objective.MAKESPAN:
        cost += sum(task.exec for task in order)
    return cost
