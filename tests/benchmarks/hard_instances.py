"""Random instances that are hard to end in time: large, distinct numbers in every family."""

from __future__ import annotations

from random import Random

from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix

TASKS = (8, 30, 100, 300, 1_000, 2_000)
CPUS = (1, 2, 4, 8, 16, 32, 64)
FRAGMENTS = (1, 2, 5, 20, 100, 1_000)
MATRIX_TYPES = (2, 6, 20, 60)


def hard_instance(source: Random) -> Instance:
    """Return an instance of a random family and size; hardly any two of its numbers are equal."""
    tasks = source.choice(TASKS)
    cpus = min(tasks, source.choice(CPUS))
    fragments = source.choice(FRAGMENTS)
    largest = source.choice((9, 99_999, 10**9))
    family = source.choice("fgm")
    objective = source.choice(list(Objective))
    is_timed = objective is Objective.MAKESPAN and source.random() < 0.3
    types = tuple(f"type{one}" for one in range(source.choice(MATRIX_TYPES)))
    least = -(-tasks // cpus)

    def draw(number: int) -> Task:
        before = range(max(0, number - 20), number)
        return Task(
            id=f"t{number}",
            df=f"fragment{source.randrange(fragments)}",
            type=source.choice(types),
            lines=source.randint(0, max(9, largest // 50)),
            leaves=source.choice(list(Leaves)),
            exec=source.randint(0, largest),
            release=source.randint(0, 9 * largest) if is_timed and source.random() < 0.3 else 0,
            after=tuple(
                f"t{predecessor}" for predecessor in before if is_timed and source.random() < 0.03
            ),
        )

    return Instance(
        cpus=cpus,
        penalty=_penalty(source, family, types, largest),
        tasks=tuple(draw(number) for number in range(tasks)),
        capacity=source.choice(("balanced", "unlimited", least + 1, 2 * least)),
        objective=objective,
        initial=_initial(source, family, cpus, types) if source.random() < 0.4 else (),
        cold_start=source.random() < 0.5,
        final_write_back=source.random() < 0.5,
    )


def _penalty(source: Random, family: str, types: tuple[str, ...], largest: int) -> Penalty:
    def row() -> tuple[int, ...]:
        return tuple(source.randint(0, largest) for _ in types)

    if family == "f":
        return PenaltyF(read_line=source.randint(1, 99), write_back=source.randint(0, largest))
    if family == "g":
        return PenaltyG(fill=source.randint(1, largest), write_back=source.randint(0, largest))
    return PenaltyMatrix(types=types, switch=tuple(row() for _ in types), start=row(), finish=row())


def _initial(
    source: Random, family: str, cpus: int, types: tuple[str, ...]
) -> tuple[CacheState | None, ...]:
    def state() -> CacheState | None:
        if source.random() < 0.2:
            return None
        if family == "m":
            return CacheState(type=source.choice(types))
        return CacheState(df=f"fragment{source.randrange(4)}", leaves=source.choice(list(Leaves)))

    states = [state() for _ in range(source.choice((1, 2, cpus)))]
    return tuple(source.choice(states) for _ in range(cpus))
