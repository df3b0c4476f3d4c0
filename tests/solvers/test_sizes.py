"""Tasks of different sizes: the truth by enumeration, laws, and first schedules."""

from contextlib import suppress
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import MethodError
from dfopt.problem.certificate import Over, Proof
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import Status, StopReason, TimeLimit, relative_gap
from dfopt.solvers import METHODS, auto, solve
from dfopt.solvers.heuristics.constructive import orders_of
from dfopt.solvers.matrix import choose_supports
from dfopt.solvers.search import Search, SearchOver
from dfopt.solvers.sizes import find_room, packings
from dfopt.solvers.sizes.packings import refill
from dfopt.solvers.sizes.patterns import packed_by_patterns, packed_by_search
from dfopt.solvers.sizes.pieces import bound_by_pieces, can_be_cut
from dfopt.verify import verify
from tests.proofs import over_of
from tests.solvers.drawn import drawn_instances
from tests.solvers.sized import capacity_of, least_objective, sized_instances

FAST = ("auto", "exhaustive", "dp")


def agrees(instance: Instance, method: str) -> Status:
    truth = least_objective(instance)
    result = solve(instance, method=method, workers=1)
    found = verify(instance, result, require_certificate=method == "auto")
    assert found.ok, (found, instance)
    assert result.objective == truth, instance
    assert result.status is (Status.INFEASIBLE if truth is None else Status.OPTIMAL)
    return result.status


@pytest.mark.parametrize("method", FAST)
def test_methods_agree_with_enumeration(method: str) -> None:
    seen = []
    for instance in sized_instances(80, seed=3, most_tasks=5):
        if instance.is_timed and instance.task_count > 4:
            continue
        try:
            seen.append(agrees(instance, method))
        except MethodError:
            assert method == "dp"
    assert seen.count(Status.OPTIMAL) >= 30
    assert seen.count(Status.INFEASIBLE) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in METHODS if name not in FAST])
def test_larger_methods_agree_with_enumeration(method: str) -> None:
    seen = []
    for instance in sized_instances(90, seed=4, most_tasks=6):
        if instance.is_timed and instance.task_count > 4:
            continue
        try:
            seen.append(agrees(instance, method))
        except MethodError:
            assert method == "configuration"
    assert seen.count(Status.OPTIMAL) >= 30


def test_capacity_is_the_documented_one() -> None:
    for instance in sized_instances(200, seed=5):
        if instance.has_sizes:
            assert instance.room * instance.size_unit <= capacity_of(instance)
            assert capacity_of(instance) < (instance.room + 1) * instance.size_unit


@given(factor=st.integers(2, 7), seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_one_size_for_all_tasks_is_a_unit(factor: int, seed: int) -> None:
    """Sizes s and capacity s·k mean the same as sizes 1 and capacity k."""
    (instance,) = drawn_instances(1, seed=seed)
    capacity = instance.capacity
    scaled = replace(
        instance,
        tasks=tuple(replace(task, size=factor) for task in instance.tasks),
        capacity=capacity if isinstance(capacity, str) else capacity * factor + factor - 1,
    )
    assert not scaled.has_sizes
    assert scaled.tasks_per_cpu == instance.tasks_per_cpu
    assert solve(scaled, workers=1).objective == solve(instance, workers=1).objective


@given(factor=st.integers(2, 7), seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_a_factor_on_all_sizes_changes_nothing(factor: int, seed: int) -> None:
    (instance,) = sized_instances(1, seed=seed, most_tasks=5)
    capacity = instance.capacity
    scaled = replace(
        instance,
        tasks=tuple(replace(task, size=task.size * factor) for task in instance.tasks),
        capacity=capacity if isinstance(capacity, str) else capacity * factor,
    )
    before, after = solve(instance, workers=1), solve(scaled, workers=1)
    assert (before.status, before.objective) == (after.status, after.objective)


@given(seed=st.integers(0, 10_000), source=st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_order_of_tasks_does_not_matter(seed: int, source: st.DataObject) -> None:
    (instance,) = sized_instances(1, seed=seed, most_tasks=5)
    tasks = list(instance.tasks)
    source.shuffle(tasks)
    before, after = solve(instance, workers=1), solve(replace(instance, tasks=tuple(tasks)))
    assert (before.status, before.objective) == (after.status, after.objective)


def test_sizes_do_not_count_where_everything_fits_on_a_cpu() -> None:
    tasks = (Task(id="a", df="A", size=3, count=2), Task(id="b", df="B", size=1))
    for capacity in ("unlimited", 7, 9):
        instance = Instance(
            cpus=2, penalty=PenaltyG(fill=1, write_back=0), tasks=tasks, capacity=capacity
        )
        assert not instance.has_sizes
        assert instance.room == 3


def test_fragments_stay_whole_where_they_fit() -> None:
    tasks = tuple(
        Task(id=f"{df}{number}", df=df, size=size)
        for df, sizes in (("A", (4, 3, 3)), ("B", (6, 4)), ("C", (5, 5)))
        for number, size in enumerate(sizes)
    )
    instance = Instance(
        cpus=3,
        capacity=10,
        penalty=PenaltyG(fill=1, write_back=0),
        cold_start=True,
        objective=Objective.TOTAL_PENALTY,
        tasks=tasks,
    )
    search = Search(instance)
    filled = islice(packings(search), 1, None)  # best fit comes first
    fragments = (
        [{search.types[number].example.df for number in held} for held in packing]
        for packing in filled
    )
    assert any(all(len(held) == 1 for held in packing) for packing in fragments)
    result = solve(instance, workers=1)
    assert (result.status, result.objective) == (Status.OPTIMAL, 3)


def test_auto_agrees_where_it_may_not_enumerate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "TINY", 0)
    seen = []
    for instance in sized_instances(60, seed=8, most_tasks=5, kinds=("f", "g")):
        if not instance.is_timed:
            seen.append(agrees(instance, "auto"))
    assert seen.count(Status.OPTIMAL) >= 30


def test_pieces_cost_no_more_than_tasks() -> None:
    bounds = []
    for instance in sized_instances(200, seed=9, most_tasks=6, kinds=("g",)):
        truth = least_objective(instance) if can_be_cut(instance) else None
        if truth is None:
            continue
        search = Search(instance)
        with suppress(SearchOver):
            bound_by_pieces(search, proves=True)
        assert search.lower_bound <= truth
        bounds.append(search.lower_bound == truth)
    assert sum(bounds) >= len(bounds) // 2 >= 15


def test_supports_bound_tasks_with_sizes() -> None:
    bounds = []
    for instance in sized_instances(300, seed=13, most_tasks=5, kinds=("matrix",)):
        if not instance.has_sizes or instance.is_timed:
            continue
        truth = least_objective(instance)
        if truth is None:
            continue
        search = Search(instance)
        with suppress(SearchOver):
            find_room(search)
            choose_supports(search)
        assert search.lower_bound <= truth
        result = solve(instance, workers=1)
        assert result.objective == truth
        assert verify(instance, result, require_certificate=True).ok
        claim = replace(
            result,
            status=Status.FEASIBLE,
            stop_reason=StopReason.GIVEN,
            lower_bound=search.lower_bound,
            gap=relative_gap(truth, search.lower_bound),
            certificate=search.certificate,
            history=(),
        )
        assert verify(instance, claim, require_certificate=True).ok
        bounds.append(search.lower_bound == truth)
    assert sum(bounds) >= len(bounds) // 3 >= 30


def test_fillings_are_schedules_and_only_get_better() -> None:
    filled = 0
    for instance in sized_instances(60, seed=10, most_tasks=7, kinds=("f", "g")):
        if not instance.has_sizes or instance.is_timed:
            continue
        search = Search(instance)
        with suppress(SearchOver):
            for packing in packings(search, 6):
                search.found(orders_of(search, packing))  # refuses what is no schedule
                filled += 1
            refill(search)
        if search.schedule is not None:
            result = solve(instance, workers=1)
            assert result.objective is not None
            assert search.objective is not None
            assert result.objective <= search.objective
    assert filled >= 40


def test_patterns_pack_or_prove() -> None:
    outcomes = []
    for instance in sized_instances(200, seed=11, most_tasks=7, kinds=("g",)):
        if not instance.has_sizes or instance.missing_capacity:
            continue
        search = Search(instance)
        packed = packed_by_patterns(search)
        refuted = isinstance(packed, Proof)
        if isinstance(packed, list):
            search.found(orders_of(search, packed))
        fits = isinstance(packed_by_search(Search(instance)), list)
        assert fits >= isinstance(packed, list)
        assert fits <= (not refuted)
        outcomes.append((refuted, isinstance(packed, list), fits))
    assert outcomes.count((True, False, False)) >= 3
    assert outcomes.count((False, True, True)) >= 30


def triplets(bins: int) -> Instance:
    """Return an instance that fills its CPUs exactly, by three tasks each."""
    sizes = [size for number in range(bins) for size in (30 + number, 33 - number, 37)]
    return Instance(
        cpus=bins,
        capacity=100,
        penalty=PenaltyG(fill=1, write_back=0),
        tasks=tuple(
            Task(id=str(number), df=str(number % 4), size=size) for number, size in enumerate(sizes)
        ),
    )


def test_what_does_not_fit_is_proven() -> None:
    """One CPU less than three tasks of more than a quarter each need, though the sum would fit."""
    tasks = (Task(id="a", df="A", size=26, count=13),)
    tasks += (Task(id="b", df="B", size=1, count=10),)
    instance = Instance(cpus=4, capacity=100, penalty=PenaltyG(fill=1, write_back=0), tasks=tasks)
    assert not instance.missing_capacity
    result = solve(instance, workers=1)
    assert result.status is Status.INFEASIBLE
    assert over_of(result.certificate) is Over.SIZES
    assert verify(instance, result, require_certificate=True).ok


def test_a_search_for_room_ends_in_time() -> None:
    result = solve(triplets(8), stop=TimeLimit(0), workers=1)
    assert result.status in (Status.UNKNOWN, Status.FEASIBLE)
