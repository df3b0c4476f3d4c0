"""Windows that quick placements leave open, solved as instances."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import groupby

from dfopt.compare.problem import EMPTY, FREE, Placement, WindowProblem
from dfopt.problem.cache_state import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.problem.result import Result, StopReason
from dfopt.problem.schedule import Schedule
from dfopt.problem.stop import TimeLimit
from dfopt.solvers import parts, solve
from dfopt.solvers.search import Search, SearchOver

ELSEWHERE = "elsewhere"
"""The fragment in a cache that no dispatch of the window can use."""


def is_solvable(problem: WindowProblem) -> bool:
    """Whether an instance can say the same as this problem."""
    mixed = FREE in problem.states and EMPTY in problem.states
    # What an unused CPU holds is written back in the end, which no instance can say.
    held = problem.final and any(state not in (FREE, EMPTY) for state in problem.states)
    return not (any(problem.fixed) or mixed or held)


def load_solvers() -> None:
    """Load what :func:`improved` would load when it needs it first, in the middle of a search."""
    import_module("dfopt.solvers.parts.decision")


def improved(
    problem: WindowProblem, known: Placement, seconds: float, *, thorough: bool
) -> Placement:
    """Return a better placement, a better bound, or what is known.

    Parameters
    ----------
    problem
        A window for which :func:`is_solvable` holds.
    known
        Its best placement so far.
    seconds
        How long to search at most.
    thorough
        Whether to ask the slower solvers too.
    """
    instance = instance_of(problem)
    known = _better(problem, known, *_packed(instance, seconds))
    if known.is_closed or not thorough:
        return known
    result = solved(instance, seconds)
    return _better(problem, known, result.schedule, result.objective, result.lower_bound)


def solved(instance: Instance, seconds: float) -> Result:
    """Return what one thread finds; unlike :func:`~dfopt.solve` it passes an interrupt on."""
    result = solve(instance, stop=TimeLimit(seconds), workers=1)
    if result.stop_reason is StopReason.INTERRUPT:
        raise KeyboardInterrupt
    return result


def _better(
    problem: WindowProblem,
    known: Placement,
    schedule: Schedule | None,
    cost: int | None,
    bound: int | None,
) -> Placement:
    """Return what is known, improved by what a solver found."""
    if schedule is not None and cost is not None and cost < known.cost:
        found = _placement(problem, schedule, cost)
        known = replace(found, lower_bound=known.lower_bound)
    return replace(known, lower_bound=max(known.lower_bound, bound or 0))


def _packed(instance: Instance, seconds: float) -> tuple[Schedule | None, int | None, int]:
    """Return what packing parts finds under g, which mostly is the optimum, in milliseconds."""
    if not isinstance(instance.penalty, PenaltyG):
        return None, None, 0
    search = Search(instance, stop=TimeLimit(seconds), seed=0, workers=1, on_progress=None)
    with suppress(SearchOver):
        parts.pack(search)
        parts.prove(search)
    known = search.end()
    return known.schedule, known.objective, known.lower_bound


def instance_of(problem: WindowProblem) -> Instance:
    """Return the instance whose schedules are the placements of a window."""
    leaves = Leaves.DIRTY if problem.exit else Leaves.CLEAN
    is_uniform = len({cost for costs in problem.entries for cost in costs}) <= 1
    simple = is_uniform and EMPTY not in problem.states and not problem.final
    unit = problem.entry(0, 0) + problem.exit
    return Instance(
        cpus=len(problem.states),
        penalty=(
            PenaltyG(fill=unit, write_back=0)
            if simple
            else PenaltyF(read_line=1, write_back=problem.exit)
        ),
        capacity=problem.capacity,
        objective=Objective.MAX_PENALTY if problem.by_worst else Objective.TOTAL_PENALTY,
        initial=tuple(_cache(state, leaves) for state in problem.states),
        cold_start=EMPTY in problem.states,
        final_write_back=problem.final,
        tasks=tuple(
            task for fragment in range(len(problem.sizes)) for task in _tasks(problem, fragment)
        ),
    )


def _cache(state: int, leaves: Leaves) -> CacheState | None:
    if state in (FREE, EMPTY):
        return None
    return CacheState(df=str(state) if state >= 0 else ELSEWHERE, leaves=leaves)


def _tasks(problem: WindowProblem, fragment: int) -> list[Task]:
    """Return the dispatches of a fragment; those of equal cost as one entry."""
    listed = problem.entries[fragment]
    counts = Counter(listed)
    counts[listed[-1]] += problem.sizes[fragment] - len(listed)
    return [
        Task(
            id=f"{fragment}.{cost}",
            df=str(fragment),
            lines=cost,
            leaves=Leaves.DIRTY if problem.exit else Leaves.CLEAN,
            count=count,
        )
        for cost, count in counts.items()
    ]


def _fragment(task: str) -> int:
    return int(task.partition(".")[0])


def _placement(problem: WindowProblem, schedule: Schedule, cost: int) -> Placement:
    visits = [
        tuple(fragment for fragment, _ in groupby(map(_fragment, cpu.tasks)))
        for cpu in schedule.cpus
    ]
    return Placement(
        visits=tuple(visits),
        spared=tuple(
            bool(seen) and state in (FREE, seen[0])
            for state, seen in zip(problem.states, visits, strict=True)
        ),
        costs=tuple(cpu.cost for cpu in schedule.cpus),
        cost=cost,
        lower_bound=0,
    )
