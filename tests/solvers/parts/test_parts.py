"""Packed parts against the truth, on small instances of every kind and on tight ones."""

import contextlib
from collections import Counter
from collections.abc import Callable

import pytest

from dfopt import Instance, Objective, PenaltyG, Task, TimeLimit, replace, solve
from dfopt.generate import tight, uniform, zipf
from dfopt.problem.cache import CacheState
from dfopt.problem.certificate import Over
from dfopt.solvers.dp import solve_by_dp
from dfopt.solvers.parts import pack, prove
from dfopt.solvers.search import Search, SearchOver
from tests.proofs import over_of
from tests.solvers.configuration.proofs import checked
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import optimum, run

G = PenaltyG(fill=40, write_back=20)
OBJECTIVES = (Objective.MAX_PENALTY, Objective.TOTAL_PENALTY)


def searched(instance: Instance, *steps: Callable[[Search], None]) -> Search:
    """Return a search without a bound to begin with, after these steps."""
    search = Search(instance, stop=TimeLimit(600))
    with contextlib.suppress(SearchOver):
        for step in steps:
            step(search)
    return search


@pytest.mark.slow
def test_small_instances_of_every_kind() -> None:
    ends: Counter[str] = Counter()
    for instance in drawn_instances(700, seed=11, most_tasks=8, kinds=("g",)):
        assert isinstance(instance.penalty, PenaltyG)
        if instance.objective is Objective.MAKESPAN or instance.penalty == PenaltyG(
            fill=0, write_back=0
        ):
            continue
        search, least = searched(instance, pack, prove), optimum(instance)
        assert search.objective is not None
        assert search.lower_bound <= least <= search.objective, instance
        own = any(
            isinstance(state, CacheState) and state.df in {task.df for task in instance.tasks}
            for state in instance.initial
        )
        if search.is_closed:
            ends["closed, own" if own else "closed"] += 1
        else:
            assert own, instance  # only then may the goal be wrong by a visit
            ends["open"] += 1
    assert ends["closed"] >= 200
    assert ends["closed, own"] >= 60
    assert ends["open"] <= ends["closed, own"] / 5


def three_cpus(seed: int, **options: object) -> Instance:
    return replace(
        tight(cpus=3, per_cpu=11, fragments=4 + seed % 6, seed=seed, penalty=G), **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cold_start": True},
        {"capacity": 12},
        {"capacity": "unlimited"},
        {"initial": (None, CacheState(df="elsewhere"), None)},
        {"initial": (CacheState(df="elsewhere"), CacheState(df="elsewhere"), None)},
    ],
)
def test_tight_instances_against_the_dynamic_program(
    objective: Objective, options: dict[str, object]
) -> None:
    for seed in range(6):
        instance = three_cpus(seed, objective=objective, **options)
        search = searched(instance, pack, prove)
        assert search.is_closed, instance
        truth = Search(instance)
        run(solve_by_dp, truth)
        assert search.objective == truth.objective, instance


def test_what_cannot_be_packed_is_proven_so() -> None:
    """With visits of 60, one more than the counting bound says; and by this solver."""
    raised = 0
    for seed in range(30):
        instance = tight(cpus=4, per_cpu=23, fragments=6, seed=seed)
        search = searched(instance, pack, prove)
        assert search.is_closed
        parts = sum(-(-size // 23) for size in Counter(t.df for t in instance.tasks).values())
        counted = 60 * (max(-(-parts // 4), 2) - 1)
        assert search.objective in (counted, counted + 60)
        assert over_of(search.certificate) is Over.GROUPS
        assert checked(instance, search).bound_checked
        raised += search.objective > counted
    assert 5 <= raised <= 25


def test_pack_is_at_most_a_visit_from_the_optimum() -> None:
    for seed in range(10):
        for instance in (
            zipf(tasks=200, cpus=12, fragments=40, penalty=G, seed=seed),
            uniform(tasks=150, cpus=10, fragments=37, penalty=G, seed=seed),
            tight(cpus=9, per_cpu=31, fragments=13, seed=seed),
        ):
            packed = searched(instance, pack)
            closed = searched(instance, pack, prove)
            assert packed.objective is not None
            assert closed.is_closed
            assert packed.objective - closed.lower_bound in (0, 60)


def test_the_same_seed_gives_the_same_schedule() -> None:
    instance = tight(cpus=10, per_cpu=50, fragments=15, seed=3)
    first, second = (solve(instance, seed=5, workers=1) for _ in range(2))
    assert first.schedule == second.schedule


def test_fragments_of_their_own_go_to_their_cpus() -> None:
    """Two CPUs with a fragment each in the cache; exchanged, they would pay for both."""
    instance = Instance(
        cpus=2,
        penalty=G,
        tasks=(Task(id="a", df="A", count=3), Task(id="b", df="B", count=3)),
        initial=(CacheState(df="B"), CacheState(df="A")),
    )
    search = searched(instance, pack)
    assert search.objective == 0


def test_fragments_of_one_size_are_at_home_in_the_end() -> None:
    """Neighbours in size are packed together, but A and B are wanted on different CPUs."""
    instance = Instance(
        cpus=2,
        penalty=G,
        tasks=tuple(Task(id=name, df=name, count=2) for name in "ABCD"),
        initial=(CacheState(df="A"), CacheState(df="B")),
    )
    assert searched(instance, pack).objective in (60, 120)
    assert solve(instance).objective == 60


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("cold_start", [False, True])
@pytest.mark.parametrize(
    ("integers", "are_triples"), [((5, 5, 5, 5, 6, 6), True), ((6, 6, 6, 6, 7, 9), False)]
)
def test_3_partition_is_a_packing(
    integers: tuple[int, ...], are_triples: bool, objective: Objective, cold_start: bool
) -> None:
    """The reduction that shows both objectives strongly NP-hard, with two triples."""
    total = sum(integers)
    instance = Instance(
        cpus=2,
        penalty=PenaltyG(fill=1, write_back=0),
        objective=objective,
        cold_start=cold_start,
        capacity=total // 2,
        tasks=tuple(
            Task(id=f"{df}.{number}", df=str(df))
            for df, size in enumerate(integers)
            for number in range(size)
        ),
    )
    parts = {Objective.MAX_PENALTY: 3, Objective.TOTAL_PENALTY: 6}[objective]
    free = 0 if cold_start else parts // 3  # the first part of each CPU that counts
    found = solve(instance)
    assert found.objective == found.lower_bound
    assert (found.objective <= parts - free) is are_triples
