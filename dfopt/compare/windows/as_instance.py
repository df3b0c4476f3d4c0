"""Windows as instances, for the solvers of dfopt: they search where the methods of windows fail.

An instance can express every window in which nothing evicts. A dispatch that evicts stays on its
CPU, and no instance can demand that of a task.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from dfopt.bounds import cheap_bound
from dfopt.compare.cost_model import TypeCosts
from dfopt.compare.windows.window import (
    EMPTY,
    UNKNOWN,
    Cache,
    DispatchClass,
    WindowProblem,
)
from dfopt.problem.cache_state import CacheState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.result import StopReason
from dfopt.problem.schedule import Schedule
from dfopt.problem.stop import TimeLimit
from dfopt.solvers import parts, solve
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.search import Knowledge, Search, SearchOver
from dfopt.trace.trace import LEAVES

Orders = list[list[int]]
"""For each CPU the classes of its dispatches in order."""


def load_solvers() -> None:
    """Load the solvers now, so that loading them does not use up the time of a search."""
    import dfopt.solvers.parts.exact  # noqa: F401


def packs_parts(instance: Instance) -> bool:
    """Whether packing parts may solve the instance, which takes milliseconds."""
    return isinstance(instance.penalty, PenaltyG)


def packed(instance: Instance, seconds: float) -> Knowledge:
    """Return the result of packing parts under g; mostly it is the optimum."""
    search = Search(instance, stop=TimeLimit(seconds), seed=0, workers=1, on_progress=None)
    with suppress(SearchOver):
        parts.pack(search)
        parts.prove(search)
    return search.end()


def solved(instance: Instance, seconds: float) -> Knowledge:
    """Return the result of one thread; unlike :func:`~dfopt.solve` it passes an interrupt on."""
    result = solve(instance, stop=TimeLimit(seconds), workers=1)
    if result.stop_reason is StopReason.INTERRUPT:
        raise KeyboardInterrupt
    return Knowledge(
        lower_bound=result.lower_bound or 0, objective=result.objective, schedule=result.schedule
    )


def tried_in_full(instance: Instance) -> Knowledge:
    """Return the optimum of a tiny instance."""
    search = Search(instance)
    with suppress(SearchOver):
        solve_exhaustively(search)
    return search.end()


def searched_locally(instance: Instance, effort: float) -> tuple[list[dict[int, int]], int]:
    """Return contents of CPUs and a bound from a local search of fixed length."""
    search = Search(instance, seed=0, workers=1)
    bound = cheap_bound(instance, search.types)
    if bound.certificate is not None:
        search.proved(bound.value, bound.certificate)
    with suppress(SearchOver):
        first_schedule.improve(search, effort=effort)
    return search.contents(), search.lower_bound


def orders_of(schedule: Schedule) -> Orders:
    """Return the orders of a schedule of the instance of a window."""
    return [[int(name.partition("#")[0]) for name in cpu.tasks] for cpu in schedule.cpus]


def uniform_instance(window: WindowProblem) -> Instance:
    """Return the instance of a window whose dispatches all leave their fragments alike.

    Where every change of fragment costs the same, its penalty is g, for which more is known.
    """
    instance = instance_of(window, window.fragments)
    entries = {entry for classes in window.fragments for entry, _, _ in classes}
    if len(entries) > 1 or EMPTY in window.states or window.final:
        return instance
    return replace(instance, penalty=PenaltyG(fill=min(entries) + window.write_back, write_back=0))


def instance_of(window: WindowProblem, fragments: Sequence[Sequence[DispatchClass]]) -> Instance:
    """Return the instance whose tasks are the dispatches of a window, class by class.

    Parameters
    ----------
    window
        One whose costs are those between fragments.
    fragments
        The classes of dispatches of each fragment.
    """
    return Instance(
        cpus=window.cpus,
        # Entry costs have no common factor, so a line costs 1.
        penalty=PenaltyF(read_line=1, write_back=window.write_back),
        capacity=window.capacity,
        objective=_objective(window),
        initial=tuple(
            CacheState(df=str(cache.fragment), leaves=LEAVES[cache.leaves])
            if _holds(cache)
            else _without_content(cache)
            for cache in window.states
        ),
        cold_start=EMPTY in window.states,
        final_write_back=window.final,
        tasks=tuple(
            Task(id=str(number), df=str(fragment), lines=entry, leaves=LEAVES[left], count=count)
            for number, (fragment, (entry, left, count)) in enumerate(
                (fragment, own) for fragment, classes in enumerate(fragments) for own in classes
            )
        ),
    )


def matrix_instance_of(window: WindowProblem, costs: TypeCosts) -> Instance:
    """Return the instance whose tasks are the dispatches of a window under a matrix."""
    types = sorted({*window.types, *(cache.fragment for cache in window.states if _holds(cache))})
    return Instance(
        cpus=window.cpus,
        penalty=PenaltyMatrix(
            types=tuple(map(str, types)),
            switch=tuple(tuple(costs.switch[before][after] for after in types) for before in types),
            start=tuple(costs.start[task_type] for task_type in types)
            if EMPTY in window.states
            else None,
            finish=tuple(costs.finish[task_type] for task_type in types) if window.final else None,
        ),
        capacity=window.capacity,
        objective=_objective(window),
        initial=tuple(
            CacheState(type=str(cache.fragment)) if _holds(cache) else _without_content(cache)
            for cache in window.states
        ),
        cold_start=EMPTY in window.states,
        final_write_back=window.final,
        tasks=tuple(
            Task(id=str(index), type=str(task_type), count=size)
            for index, (task_type, size) in enumerate(zip(window.types, window.sizes, strict=True))
        ),
    )


def _holds(cache: Cache) -> bool:
    """Whether it is known that a cache holds something."""
    return cache not in (UNKNOWN, EMPTY)


def _without_content(cache: Cache) -> Literal["unknown"] | None:
    return "unknown" if cache == UNKNOWN else None


def _objective(window: WindowProblem) -> Objective:
    return Objective.MAX_PENALTY if window.by_worst else Objective.TOTAL_PENALTY
