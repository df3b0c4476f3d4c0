"""Small random instances from a seed: every kind of instance, again and again, in one process.

The features that make solvers differ (penalty, objective, ends, capacity) take turns, so that a
few hundred instances hold every combination; all else is drawn.
"""

import random
from collections.abc import Iterator
from itertools import cycle, islice, product

from dfopt.problem.cache import CacheState, InitialState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix

KINDS = ("f", "g", "matrix")
FRAGMENTS = ("A", "B", "C")
ABSENT = "Z"
"""A fragment that no task uses."""

FLAGS = (False, True)

Turn = tuple[str, Objective, bool, bool, str | int]
"""Penalty, objective, cold start, final write-back, and capacity: a number is room to spare."""

TURNS: tuple[Turn, ...] = tuple(
    product(KINDS, Objective, FLAGS, FLAGS, ("balanced", "unlimited", 0, 1))
)


def drawn_instances(
    number: int, *, seed: int, most_tasks: int = 6, kinds: tuple[str, ...] = KINDS
) -> Iterator[Instance]:
    """Yield ``number`` feasible instances; of those under makespan, half have waits."""
    source = random.Random(seed)
    turns = [turn for turn in TURNS if turn[0] in kinds]
    source.shuffle(turns)
    for turn in islice(cycle(turns), number):
        yield _drawn(source, most_tasks, turn)


def _drawn(source: random.Random, most_tasks: int, turn: Turn) -> Instance:
    kind, objective, cold_start, final_write_back, room = turn
    cpus = source.randint(1, 3)
    total = source.randint(1, most_tasks)
    timed = objective is Objective.MAKESPAN and source.random() < 0.5
    tasks = _tasks(source, total, timed=timed)
    least = -(-total // cpus)
    return Instance(
        cpus=cpus,
        penalty=_penalty(source, kind, start=cold_start, finish=final_write_back),
        tasks=tuple(tasks),
        capacity=room if isinstance(room, str) else least + room,
        objective=objective,
        initial=_initial(source, kind, cpus) if source.random() < 0.5 else (),
        cold_start=cold_start,
        final_write_back=final_write_back,
    )


def _tasks(source: random.Random, total: int, *, timed: bool) -> list[Task]:
    fragments = FRAGMENTS[: source.randint(1, 3)]
    precedence = timed and source.random() < 0.6
    tasks: list[Task] = []
    left = total
    while left:
        count = source.randint(1, left) if source.random() < 0.2 else None
        tasks.append(
            Task(
                id=f"t{len(tasks)}",
                df=source.choice(fragments),
                type=source.choice("xyz"),
                lines=source.randint(0, 6),
                leaves=source.choice(list(Leaves)),
                exec=source.randint(0, 3),
                release=source.randint(0, 6) if timed and source.random() < 0.4 else 0,
                after=tuple(task.id for task in tasks if precedence and source.random() < 0.3),
                count=count,
            )
        )
        left -= count or 1
    source.shuffle(tasks)  # predecessors need not stand before their successors
    return tasks


def _penalty(source: random.Random, kind: str, *, start: bool, finish: bool) -> Penalty:
    def row() -> tuple[int, ...]:
        return tuple(source.randint(0, 6) for _ in range(3))

    if kind == "f":
        return PenaltyF(read_line=source.randint(0, 3), write_back=source.randint(0, 6))
    if kind == "g":
        return PenaltyG(fill=source.randint(0, 3), write_back=source.randint(0, 3))
    return PenaltyMatrix(
        types=("x", "y", "z"),
        switch=(row(), row(), row()),
        start=row() if start else None,
        finish=row() if finish else None,
    )


def _initial(source: random.Random, kind: str, cpus: int) -> tuple[InitialState, ...]:
    def state() -> InitialState:
        if source.random() < 0.4:
            return source.choice((None, "unknown"))
        if kind == "matrix":
            return CacheState(type=source.choice("xyz"))
        return CacheState(
            df=source.choice((*FRAGMENTS, ABSENT)), leaves=source.choice(list(Leaves))
        )

    # Equal states make CPUs that are alike beside one that is not.
    states = [state(), state()]
    return tuple(source.choice(states) for _ in range(cpus))
