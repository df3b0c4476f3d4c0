"""Instances of every form: penalty, objective, sizes, capacity, warm caches, waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import dist
from random import Random

from dfopt import (
    CacheState,
    Instance,
    Leaves,
    Objective,
    PenaltyF,
    PenaltyG,
    PenaltyMatrix,
    Task,
    replace,
)
from dfopt.generate import matrix, zipf
from tests.benchmarks.timed_instances import with_waits

CPUS = {30: 4, 100: 8, 500: 25, 2000: 64}
"""By the number of tasks."""

LONGEST_EXEC = 40
LARGEST_SIZE = 10
FEW_TYPES = 6
SIDE = 100
MAX, TOTAL, MAKESPAN = Objective.MAX_PENALTY, Objective.TOTAL_PENALTY, Objective.MAKESPAN
Draw = Callable[[int, int], Instance]
"""From the number of tasks and the seed."""


def fragments(
    tasks: int,
    seed: int,
    *,
    penalty: PenaltyF | PenaltyG,
    objective: Objective,
    size: int = 1,
) -> Instance:
    """Return tasks of a fifth as many fragments, a few of which have most of the tasks."""
    return zipf(
        tasks=tasks,
        cpus=CPUS[tasks],
        fragments=tasks // 5,
        penalty=penalty,
        objective=objective,
        exec=LONGEST_EXEC if objective is MAKESPAN else 0,
        size=size,
        seed=seed,
    )


def few_types(tasks: int, seed: int, *, objective: Objective) -> Instance:
    """Return tasks of few types with costs of any kind."""
    return matrix(
        tasks=tasks,
        cpus=CPUS[tasks],
        types=FEW_TYPES,
        objective=objective,
        exec=LONGEST_EXEC if objective is MAKESPAN else 0,
        seed=seed,
    )


def own_types(
    tasks: int, seed: int, *, objective: Objective, is_plane: bool = True, size: int = 1
) -> Instance:
    """Return tasks that are a type each: places in a plane, or costs drawn one by one."""
    source = Random(f"{tasks} {seed}")
    names = tuple(f"type{number}" for number in range(tasks))
    places = [(source.uniform(0, SIDE), source.uniform(0, SIDE)) for _ in names]
    switch = tuple(
        tuple(round(dist(one, other)) if is_plane else source.randint(1, SIDE) for other in places)
        for one in places
    )
    longest = LONGEST_EXEC if objective is MAKESPAN else 0
    return Instance(
        cpus=CPUS[tasks],
        penalty=PenaltyMatrix(types=names, switch=switch),
        objective=objective,
        tasks=tuple(
            Task(
                id=f"t{number}",
                type=name,
                exec=source.randint(min(1, longest), longest),
                size=source.randint(1, size),
            )
            for number, name in enumerate(names)
        ),
    )


def roomy(instance: Instance) -> Instance:
    """Return the instance with a tenth more capacity than an even share."""
    return replace(instance, capacity=-(-11 * instance.total_size // (10 * instance.cpus)))


def warm(instance: Instance) -> Instance:
    """Return the instance with caches that hold something, and a write-back at the end."""
    source = Random(0)
    drawn = [source.choice(instance.tasks) for _ in range(instance.cpus)]
    states = tuple(
        CacheState(type=task.type)
        if isinstance(instance.penalty, PenaltyMatrix)
        else CacheState(df=task.df, leaves=source.choice(list(Leaves)))
        for task in drawn
    )
    return replace(instance, initial=states, cold_start=True, final_write_back=True)


F, G = PenaltyF(read_line=1, write_back=20), PenaltyG(fill=40, write_back=20)
FORMS: Mapping[str, Draw] = {
    "f-max": partial(fragments, penalty=F, objective=MAX),
    "f-total": partial(fragments, penalty=F, objective=TOTAL),
    "f-makespan": partial(fragments, penalty=F, objective=MAKESPAN),
    "f-sizes": lambda tasks, seed: roomy(
        fragments(tasks, seed, penalty=F, objective=MAX, size=LARGEST_SIZE)
    ),
    "f-warm": lambda tasks, seed: warm(fragments(tasks, seed, penalty=F, objective=MAX)),
    "f-releases": lambda tasks, seed: with_waits(
        fragments(tasks, seed, penalty=F, objective=MAKESPAN), "releases", Random(seed)
    ),
    "f-precedence": lambda tasks, seed: with_waits(
        fragments(tasks, seed, penalty=F, objective=MAKESPAN), "both", Random(seed)
    ),
    "g-max": partial(fragments, penalty=G, objective=MAX),
    "g-total": partial(fragments, penalty=G, objective=TOTAL),
    "g-makespan": partial(fragments, penalty=G, objective=MAKESPAN),
    "few-max": partial(few_types, objective=MAX),
    "few-total": partial(few_types, objective=TOTAL),
    "few-makespan": partial(few_types, objective=MAKESPAN),
    "plane-max": partial(own_types, objective=MAX),
    "plane-total": partial(own_types, objective=TOTAL),
    "plane-makespan": partial(own_types, objective=MAKESPAN),
    "plane-unlimited": lambda tasks, seed: replace(
        own_types(tasks, seed, objective=MAKESPAN), capacity="unlimited"
    ),
    "plane-sizes": lambda tasks, seed: roomy(
        own_types(tasks, seed, objective=MAX, size=LARGEST_SIZE)
    ),
    "plane-warm": lambda tasks, seed: warm(own_types(tasks, seed, objective=MAX)),
    "plane-releases": lambda tasks, seed: with_waits(
        own_types(tasks, seed, objective=MAKESPAN), "releases", Random(seed)
    ),
    "plane-precedence": lambda tasks, seed: with_waits(
        own_types(tasks, seed, objective=MAKESPAN), "both", Random(seed)
    ),
    "random-max": partial(own_types, objective=MAX, is_plane=False),
    "random-total": partial(own_types, objective=TOTAL, is_plane=False),
    "random-makespan": partial(own_types, objective=MAKESPAN, is_plane=False),
}
