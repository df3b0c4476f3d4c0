"""Look-ahead of K tasks: no policy falls below the theorem, and one follows the law."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.compare import CostModel
from dfopt.compare.dispatches import dispatches_of
from dfopt_models.errors import ModelError
from dfopt_models.online.look_ahead import (
    changes_at_least,
    expected_distinct,
    look_ahead_law,
    mean_distinct,
    round_robin,
    serve_fullest,
)
from tests.compare.attainable.hackbench import hackbench


def least_changes(sequence: Sequence[int], cpus: int, look_ahead: int) -> int:
    """Return the least changes of all policies, by trying all of them."""

    @cache
    def least(waiting: tuple[int, ...], arrived: int, holds: tuple[int, ...]) -> int:
        missing = min(look_ahead - len(waiting), len(sequence) - arrived)
        waiting = (*waiting, *sequence[arrived : arrived + missing])
        arrived += missing
        if not waiting:
            return 0
        found = []
        for fragment in set(waiting):
            rest = list(waiting)
            rest.remove(fragment)
            if fragment in holds:  # nothing is gained by running it elsewhere
                found.append(least(tuple(rest), arrived, holds))
                continue
            for cpu, before in enumerate(holds):
                after = tuple(sorted((*holds[:cpu], fragment, *holds[cpu + 1 :])))
                found.append((before >= 0) + least(tuple(rest), arrived, after))
        return min(found)

    return least((), 0, (-1,) * cpus)


@given(st.integers(1, 13), st.integers(1, 6), st.integers(1, 2), st.integers(1, 3))
def test_no_policy_falls_below_the_theorem(
    tasks: int, fragments: int, cpus: int, look_ahead: int
) -> None:
    sequence = round_robin(tasks, fragments)
    least = least_changes(sequence, cpus, look_ahead)
    assert changes_at_least(tasks, fragments, cpus, look_ahead) <= least
    assert least <= serve_fullest(sequence, cpus, look_ahead)


@pytest.mark.parametrize(("look_ahead", "least"), [(2, 4), (3, 3)])
def test_the_theorem_says_something_of_few_tasks(look_ahead: int, least: int) -> None:
    tasks, fragments = 6 * look_ahead, 2 * look_ahead
    assert changes_at_least(tasks, fragments, 1, look_ahead) >= least
    assert least_changes(round_robin(tasks, fragments), 1, look_ahead) >= least


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(1, 3), st.integers(1, 9))
def test_more_look_ahead_than_tasks_is_enough(
    sequence: list[int], cpus: int, look_ahead: int
) -> None:
    different = len(set(sequence))
    everything = serve_fullest(sequence, cpus, len(sequence))
    assert everything == max(0, different - cpus)
    changes = serve_fullest(sequence, cpus, look_ahead)
    assert everything <= changes <= len(sequence)


LAW = {
    (32, 2, 32): (3_102, 3_000, 990),
    (32, 2, 64): (1_534, 1_500, 495),
    (32, 2, 128): (772, 750, 240),
    (32, 2, 256): (394, 375, 120),
    (64, 4, 64): (3_120, 3_000, 957),
    (64, 4, 256): (788, 750, 232),
}
"""For fragments, CPUs and look-ahead: changes of 6,400 tasks, the law, the theorem."""


@pytest.mark.parametrize("numbers", LAW)
def test_the_policy_follows_the_law(numbers: tuple[int, int, int]) -> None:
    fragments, cpus, look_ahead = numbers
    changes = serve_fullest(round_robin(6_400, fragments), cpus, look_ahead)
    law = look_ahead_law(6_400, fragments, cpus, look_ahead)
    assert (changes, law, changes_at_least(6_400, fragments, cpus, look_ahead)) == LAW[numbers]
    assert law <= changes <= 1.06 * law


@pytest.mark.parametrize(
    ("length", "mean", "independent"), [(5, 1.33, 2.56), (20, 1.63, 3.77), (100, 2.19, 4.00)]
)
def test_recorded_groups_come_in_runs(length: int, mean: float, independent: float) -> None:
    sequence = dispatches_of(hackbench(4), CostModel()).fragment.tolist()
    assert mean_distinct(sequence, length) == pytest.approx(mean, abs=0.005)
    expected = expected_distinct(Counter(sequence).values(), length)
    assert expected == pytest.approx(independent, abs=0.005)


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(ModelError, match="look_ahead: must be at least 1"):
        changes_at_least(5, 2, 1, 0)
    with pytest.raises(ModelError, match="cpus: must be at least 1"):
        serve_fullest([1], 0, 1)
