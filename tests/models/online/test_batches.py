"""Batches: the makespan is at most six times the best one, whatever arrives."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt_models.errors import ModelError
from dfopt_models.online.batches import (
    RATIO,
    makespan_at_least,
    place_in_batches,
    real_loads,
)

tasks_of = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 12)), min_size=1, max_size=40)


@given(tasks_of, st.integers(1, 5), st.integers(0, 10))
def test_each_step_of_the_proof_holds(tasks: list[tuple[int, int]], cpus: int, setup: int) -> None:
    for number in range(1, len(tasks) + 1):
        come = tasks[:number]
        placed = place_in_batches(come, cpus, setup)
        total = sum(time for _, time in come) + setup * len({fragment for fragment, _ in come})
        assert sum(placed.counted) <= 3 * total
        assert all(map(int.__le__, placed.real, placed.counted))
        assert max(placed.counted) <= RATIO * makespan_at_least(come, cpus, setup)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(0, 6),
)
def test_no_placement_falls_below_the_bound(
    tasks: list[tuple[int, int]], cpus: int, setup: int
) -> None:
    best = min(
        max(real_loads(tasks, cpu, cpus, setup)) for cpu in product(range(cpus), repeat=len(tasks))
    )
    assert makespan_at_least(tasks, cpus, setup) <= best
    placed = place_in_batches(tasks, cpus, setup)
    assert best <= max(placed.real) <= RATIO * best


def test_one_batch_holds_what_others_could_run_if_first_setups_are_free() -> None:
    """40 CPUs, a setup of 1,000, and 40 tasks of 20: without the first setups 800 against 20."""
    tasks = [(0, 20)] * 40
    placed = place_in_batches(tasks, 40, 1_000)
    assert sorted(placed.real)[-2:] == [0, 1_800]
    assert makespan_at_least(tasks, 40, 1_000) == 1_020


def test_long_tasks_stand_alone_and_batches_close() -> None:
    tasks = [(0, 6), (0, 6), (1, 12), (0, 1), (0, 9)]
    placed = place_in_batches(tasks, 3, 10)
    # The first two close a batch; the third one is long; the others open a batch anew and close it.
    assert placed.cpu == (0, 0, 1, 2, 2)
    assert placed.counted == (22, 22, 20)
    assert placed.real == placed.counted


def test_no_tasks_take_no_time() -> None:
    assert place_in_batches([], 2, 5).real == (0, 0)
    assert makespan_at_least([], 2, 5) == 0


@pytest.mark.parametrize(
    ("tasks", "cpus", "setup", "place"),
    [([(0, 1)], 0, 1, "cpus"), ([(0, 1)], 1, -1, "setup"), ([(0, -1)], 1, 1, "tasks")],
)
def test_impossible_numbers_are_refused(
    tasks: list[tuple[int, int]], cpus: int, setup: int, place: str
) -> None:
    with pytest.raises(ModelError, match=f"{place}: must be at least"):
        place_in_batches(tasks, cpus, setup)
