"""Windows under a matrix that flows leave open, solved as instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from dfopt.compare.exact import solved
from dfopt.compare.matrix import TypeSchedule
from dfopt.compare.type_costs import TypeCosts
from dfopt.compare.type_flow import TypeWindow
from dfopt.compare.walks import Walk, walk_cost
from dfopt.problem.cache_state import CacheState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix


def is_solvable(window: TypeWindow) -> bool:
    """Whether an instance can say the same as this window."""
    # What an unused CPU ran before is paid for in the end, which no instance can say.
    return not (window.final and any(state >= 0 for state in window.states))


def improved(
    window: TypeWindow, costs: TypeCosts, known: TypeSchedule, seconds: float
) -> TypeSchedule:
    """Return a better schedule, a better bound, or what is known.

    Parameters
    ----------
    window
        One for which :func:`is_solvable` holds.
    costs
        The matrix.
    known
        Its best schedule so far.
    seconds
        How long to search at most.
    """
    result = solved(instance_of(window, costs), seconds)
    cost = result.objective
    if result.schedule is not None and cost is not None and cost < known.cost:
        walks = tuple(
            _walk(window, costs, state, [_type(task) for task in cpu.tasks])
            for state, cpu in zip(window.states, result.schedule.cpus, strict=True)
        )
        known = replace(known, walks=walks, cost=cost)
    return replace(known, lower_bound=max(known.lower_bound, result.lower_bound or 0))


def instance_of(window: TypeWindow, costs: TypeCosts) -> Instance:
    """Return the instance whose schedules are those of a window.

    What a CPU begins with is a type of its own there, which no task has: so some may be free and
    others empty.
    """
    states = tuple(dict.fromkeys(window.states))
    names = (*map(str, window.types), *(f"before {state}" for state in states))
    nothing = (0,) * len(states)
    return Instance(
        cpus=len(window.states),
        penalty=PenaltyMatrix(
            types=names,
            switch=(
                *(
                    (*(costs.switch[one][other] for other in window.types), *nothing)
                    for one in window.types
                ),
                *(
                    (*(costs.begin(state, one) for one in window.types), *nothing)
                    for state in states
                ),
            ),
            finish=(*(costs.finish[one] for one in window.types), *nothing)
            if window.final
            else None,
        ),
        capacity=window.capacity,
        objective=Objective.MAX_PENALTY if window.by_worst else Objective.TOTAL_PENALTY,
        initial=tuple(CacheState(type=f"before {state}") for state in window.states),
        final_write_back=window.final,
        tasks=tuple(
            Task(id=str(one), type=str(one), count=size)
            for one, size in zip(window.types, window.sizes, strict=True)
        ),
    )


def _type(task: str) -> int:
    return int(task.partition("#")[0])


def _walk(window: TypeWindow, costs: TypeCosts, state: int, order: Sequence[int]) -> Walk:
    walk = Walk(state=state)
    if order:
        walk = Walk(
            state=state,
            first=order[0],
            last=order[-1],
            load=len(order),
            arcs=Counter(pairwise(order)),
            types=set(order),
        )
    walk.cost = walk_cost(window, costs, walk)
    return walk
