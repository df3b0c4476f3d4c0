"""What tasks cost in an order of blocks under f and g: each is a run of tasks of one fragment."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix


class TaskCosts(NamedTuple):
    """What a task costs: each, the one that enters or exits, and less, the last of an order."""

    always: int
    entry: int
    exit: int
    spared: int


class Start(NamedTuple):
    """Which fragments enter free on a CPU, and what starting with them, or with others, costs."""

    free: frozenset[str]
    home_cost: int
    away_cost: int


def write_back_of(instance: Instance) -> int:
    """Return T_w where it depends on how tasks leave their fragment (not so under g)."""
    return instance.penalty.write_back if isinstance(instance.penalty, PenaltyF) else 0


def costs_of_tasks(instance: Instance) -> list[TaskCosts]:
    """Return the costs of each entry of ``instance.tasks``."""
    assert not isinstance(instance.penalty, PenaltyMatrix)
    write_back, costs = write_back_of(instance), []
    for task in instance.tasks:
        lost = write_back if task.leaves is Leaves.INVALIDATED else 0
        costs.append(
            TaskCosts(
                always=lost + (task.exec if instance.objective is Objective.MAKESPAN else 0),
                entry=instance.penalty.reading(task.lines or 0),
                exit=write_back if task.leaves is Leaves.DIRTY else 0,
                spared=0 if instance.final_write_back else lost,
            )
        )
    return costs


def starts_of(instance: Instance, fragments: Collection[str]) -> list[Start]:
    """Return how each CPU starts."""
    write_back = write_back_of(instance)
    starts = {}
    for state in set(instance.initial_states):
        home = away = 0
        is_free = state == "unknown" or not instance.cold_start
        free = frozenset(fragments if is_free else ())
        if isinstance(state, CacheState):
            free = frozenset({state.df or ""}.intersection(fragments))
            home = write_back if state.leaves is Leaves.INVALIDATED else 0
            away = write_back if state.leaves is not Leaves.CLEAN else 0
        starts[state] = Start(free, home, away)
    return [starts[state] for state in instance.initial_states]
