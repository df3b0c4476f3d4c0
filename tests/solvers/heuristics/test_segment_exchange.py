"""Exchanges of segments keep schedules real, and find good ones."""

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings

from dfopt import replace
from dfopt.native.library import by_cpu
from dfopt.problem.cache import CacheState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.heuristics.segment_exchange import SegmentExchange
from dfopt.solvers.search import Search, SearchOver
from dfopt.solvers.sizes import find_room
from tests.solvers.optimum import badly_started
from tests.strategies import instances


@given(instances(kinds=("matrix",), min_tasks=1))
@settings(deadline=None, max_examples=30)
def test_schedules_are_real(instance: Instance) -> None:
    if instance.is_timed:
        return
    search, exact = badly_started(instance), Search(instance)
    with suppress(SearchOver):
        SegmentExchange(search).walk(2_000)
    with suppress(SearchOver):
        solve_exhaustively(exact)
    # `found` refuses what is no schedule, and evaluates it by definition.
    assert search.objective is not None
    assert exact.objective is not None
    assert exact.objective <= search.objective


def drawn(seed: int, objective: Objective, *, tasks: int, room: int) -> Instance:
    source = random.Random(seed)
    names = tuple("abcdef")

    def row() -> tuple[int, ...]:
        return tuple(source.randint(0, 40) for _ in names)

    return Instance(
        cpus=5,
        penalty=PenaltyMatrix(
            types=names, switch=tuple(row() for _ in names), start=row(), finish=row()
        ),
        objective=objective,
        tasks=tuple(
            Task(id=f"t{number}", type=source.choice(names), exec=source.randint(0, 3))
            for number in range(tasks)
        ),
        capacity=-(-tasks // 5) + room,
        initial=tuple(source.choice((None, "unknown", CacheState(type="a"))) for _ in range(5)),
        cold_start=True,
        final_write_back=True,
    )


def test_sizes_keep_to_the_room() -> None:
    plain = drawn(1, Objective.TOTAL_PENALTY, tasks=60, room=3)
    tasks = tuple(replace(task, size=1 + int(task.id[1:]) % 4) for task in plain.tasks)
    total = sum(task.size * task.multiplicity for task in tasks)
    instance = replace(plain, tasks=tasks, capacity=total // 5 + 3)
    search = Search(instance)
    with suppress(SearchOver):
        find_room(search)
        before = search.objective
        SegmentExchange(search).run()  # reports are refused where there is no room
        assert before is not None
        assert search.objective is not None
        assert search.objective < before


@pytest.mark.parametrize("objective", list(Objective))
@pytest.mark.parametrize("room", [0, 3, 60])
def test_costs_are_kept_exactly(objective: Objective, room: int) -> None:
    instance = drawn(room, objective, tasks=60, room=room)
    search = badly_started(instance)
    before = search.objective
    assert before is not None
    walk = SegmentExchange(search).begin()
    value = walk.walk(50_000, 5.0)
    orders = by_cpu(walk.best(), instance.cpus)
    assert sum(map(len, orders)) == 60
    assert max(map(len, orders)) <= instance.tasks_per_cpu
    assert value < before
    search.found(orders)
    assert search.objective == value


def test_the_same_seed_gives_the_same_schedule() -> None:
    def objective() -> tuple[int | None, object]:
        search = badly_started(drawn(4, Objective.MAX_PENALTY, tasks=40, room=0))
        SegmentExchange(search).walk(300_000)
        return search.objective, search.schedule

    assert objective() == objective()
