"""Local search prices what it does exactly, forgets no task, and comes out the same each time."""

import threading
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.generate import uniform, zipf
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.problem.result import Progress, StopReason
from dfopt.problem.schedule import evaluate
from dfopt.solvers.heuristics.local_search import Background, LocalSearch, walk_slowly
from dfopt.solvers.search import Search, SearchOver
from tests.patience import PATIENCE_S
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import optimum
from tests.solvers.threads import beside
from tests.strategies import instances

F = PenaltyF(read_line=1, write_back=20)
MEDIUM = zipf(tasks=60, cpus=5, fragments=15, seed=1, penalty=F)
THREE_AT_THE_ENDS = Instance(
    cpus=1,
    penalty=F,
    initial=(CacheState(df="df0", leaves=Leaves.DIRTY),),
    tasks=(
        Task(id="p", df="df0", lines=60),
        Task(id="o", df="df0", lines=1),
        Task(id="l", df="df0", lines=50, leaves=Leaves.INVALIDATED),
        Task(id="B", df="B", lines=1),
    ),
)
"""The split fragment's last block needs two tasks, and its first block a third one: the most
expensive one to open a block with, which is looked at last."""


def check(local: LocalSearch) -> None:
    """Hold everything that is kept up to date against what it is worked out from."""
    search = local.search
    form = search.form
    contents = local.contents()
    taken: Counter[int] = Counter()
    for content in contents:
        taken.update(content)
        assert all(count > 0 for count in content.values())
        assert sum(content.values()) <= search.instance.tasks_per_cpu
    assert taken == {kind: one.count for kind, one in enumerate(search.types)}
    costs = [form.cost(cpu, content) for cpu, content in enumerate(contents)]
    assert local._annealing.costs().tolist() == costs
    adds_up = search.instance.objective is Objective.TOTAL_PENALTY
    assert local.objective == (sum(costs) if adds_up else max(costs))


def check_schedule(search: Search) -> None:
    assert search.schedule is not None
    orders = [cpu.tasks for cpu in search.schedule.cpus]
    assert search.schedule == evaluate(search.instance, orders)
    assert search.objective == search.schedule.value(search.instance.objective)


def dealt(search: Search) -> list[dict[int, int]]:
    """Deal the tasks to the CPUs one after the other."""
    contents: list[Counter[int]] = [Counter() for _ in range(search.instance.cpus)]
    kinds = [kind for kind, one in enumerate(search.types) for _ in one.names]
    for number, kind in enumerate(kinds):
        contents[number % len(contents)][kind] += 1
    return [dict(content) for content in contents]


def ordered(search: Search, contents: list[dict[int, int]]) -> list[list[int]]:
    form = search.form
    return [form.order(cpu, content) for cpu, content in enumerate(contents)]


@pytest.mark.slow
@given(
    instances(kinds=("f", "g"), min_tasks=1, max_tasks=12, max_cpus=4),
    st.lists(st.integers(1, 60), min_size=1, max_size=8),
    st.integers(0, 2**70),
)
@example(THREE_AT_THE_ENDS, [1], 0)
@settings(deadline=None, max_examples=300)
def test_costs_are_those_of_the_closed_form(
    instance: Instance, walks: Sequence[int], seed: int
) -> None:
    search = Search(instance)
    # Without any schedule it would construct one, which may cost nothing and end the search.
    search.found(ordered(search, dealt(search)))
    local = LocalSearch(search, seed)
    for moves in walks:
        try:
            local.run(None, moves)
        except SearchOver:
            assert search.objective == 0
        check(local)
        check_schedule(search)
        assert search.objective is not None
        assert search.objective <= local.objective


def test_costs_near_the_largest_total() -> None:
    instance = replace(MEDIUM, penalty=PenaltyF(read_line=2**50, write_back=2**52), cold_start=True)
    local = LocalSearch(Search(instance))
    local.run(None, 5000)
    check(local)


def test_small_instances_are_mostly_solved() -> None:
    attained = number = 0
    for instance in drawn_instances(150, seed=21, kinds=("f", "g")):
        if instance.is_timed:
            continue
        search = Search(instance)
        least = optimum(instance)
        try:
            local = LocalSearch(search)
            met = local.run(least, 2000) or local.run(least, 2000)
            assert met == (search.objective == least)
        except SearchOver:
            assert search.objective == least == 0
        check_schedule(search)
        assert search.objective is not None
        assert search.objective >= least
        attained += search.objective == least
        number += 1
    assert number > 50
    assert attained >= 0.98 * number


@pytest.mark.parametrize(
    "instance",
    [
        MEDIUM,
        replace(MEDIUM, capacity="unlimited"),
        replace(MEDIUM, objective=Objective.TOTAL_PENALTY),
        uniform(tasks=60, cpus=5, fragments=15, seed=1, penalty=PenaltyG(fill=4, write_back=2)),
        zipf(tasks=60, cpus=5, fragments=15, seed=1, objective=Objective.MAKESPAN, exec=9),
    ],
    ids=["max", "unlimited", "total", "g", "makespan"],
)
def test_it_improves_a_schedule_and_comes_out_the_same_each_time(instance: Instance) -> None:
    searches = [Search(instance) for _ in range(2)]
    for search in searches:
        search.found(ordered(search, dealt(search)))
    first = searches[0].objective
    locals_ = [LocalSearch(search, seed=7) for search in searches]
    for local in locals_:
        local.run(None, 20_000)
        check(local)
    assert locals_[0].contents() == locals_[1].contents()
    assert searches[0].schedule == searches[1].schedule
    steps = [[step.objective for step in search.history] for search in searches]
    assert steps[0] == steps[1]
    assert searches[0].objective is not None
    assert first is not None
    assert searches[0].objective < 0.9 * first


def test_moves_are_the_same_on_every_machine() -> None:
    """Each compiler has to round alike, and no library may decide about random numbers."""
    answers = []
    for objective, penalty in product(Objective, (F, PenaltyG(fill=4, write_back=2))):
        instance = zipf(tasks=60, cpus=5, fragments=15, seed=2, objective=objective, exec=9)
        local = LocalSearch(Search(replace(instance, penalty=penalty)), seed=5)
        local.run(None, 20_000)
        held = [sorted(content.items()) for content in local.contents()]
        answers.append(zlib.crc32(str(held).encode()))
    assert answers == [
        *(2806070272, 302452404, 2155434225, 3944614702, 3712219940, 700397450),
    ]


def test_seeds_lead_to_different_schedules() -> None:
    found = set()
    for seed in range(3):
        local = LocalSearch(Search(MEDIUM), seed)
        local.run(None, 2000)
        found.add(str(local.contents()))
    assert len(found) == 3


def test_a_met_target_ends_the_walk_at_once() -> None:
    search = Search(MEDIUM)
    local = LocalSearch(search)
    target = local.objective - 1
    assert local.run(target, 10**12)
    check(local)
    check_schedule(search)
    assert search.objective == local.objective <= target
    assert local.run(target, 10**12)


def test_a_target_out_of_reach_is_not_met() -> None:
    search = Search(MEDIUM)
    local = LocalSearch(search)
    assert not local.run(0, 5000)
    check(local)
    check_schedule(search)


def test_a_slow_walk_ends_at_its_target() -> None:
    instance = zipf(tasks=20, cpus=3, fragments=5, seed=1)
    search = Search(instance)
    LocalSearch(search)
    first = search.objective
    assert first is not None
    walk_slowly(search, first - 1)
    assert search.objective is not None
    assert search.objective < first
    found = search.history
    walk_slowly(search, search.objective)
    assert search.history == found


def test_it_goes_on_from_a_given_schedule() -> None:
    search = Search(MEDIUM)
    local = LocalSearch(search)
    local.run(None, 100_000)
    contents, best = search.contents(), search.objective
    local.start_from(dealt(search))
    assert best is not None
    assert local.objective > best
    local.start_from(contents)
    assert local.objective == best
    assert LocalSearch(search).objective == best
    assert local.contents() == contents


def test_one_cpu_has_no_moves() -> None:
    search = Search(THREE_AT_THE_ENDS)
    assert LocalSearch(search).run(2, 10**12)
    assert search.objective == 2


def test_the_limit_is_kept() -> None:
    is_running, asked = False, 0

    def limit(progress: Progress) -> StopReason | None:
        nonlocal asked
        asked += is_running
        return StopReason.TIME_LIMIT if asked == 5 else None

    search = Search(MEDIUM, stop=limit)
    local = LocalSearch(search)
    is_running = True
    with pytest.raises(SearchOver):
        local.run(None, 10**12)
    assert asked == 5
    check_schedule(search)


@pytest.mark.slow
@pytest.mark.parametrize(
    "instance",
    [
        MEDIUM,
        zipf(tasks=20_000, cpus=64, fragments=1000, seed=1, penalty=PenaltyG(fill=4, write_back=2)),
        zipf(tasks=2_000, cpus=4, fragments=100, seed=1, penalty=F),
    ],
    ids=["medium", "many tasks", "long rows"],
)
def test_leaving_the_block_ends_it(instance: Instance) -> None:
    before, is_walking = beside(), threading.Event()

    def watch(progress: Progress) -> None:
        if threading.current_thread() not in {threading.main_thread(), *before}:
            is_walking.set()

    search = Search(instance, stop=watch)
    local = LocalSearch(search)
    with Background(local, 10**12):
        assert is_walking.wait(PATIENCE_S)
        began = time.monotonic()
    assert time.monotonic() - began < PATIENCE_S  # all its moves take days
    check(local)
    check_schedule(search)
    assert beside() <= before


def test_an_error_beside_another_solver_comes_to_light(monkeypatch: pytest.MonkeyPatch) -> None:
    local = LocalSearch(Search(MEDIUM))
    is_found = threading.Event()

    def broken(*_: object) -> None:
        is_found.set()
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(local.search, "found", broken)
    with pytest.raises(ZeroDivisionError, match="broken"), Background(local, 1000):
        assert is_found.wait(PATIENCE_S)
