"""Sizes that fill a room are found if there are any, and are what was asked for."""

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from dfopt.solvers.parts.groups import neighbours, some_of

pools = st.lists(st.integers(1, 12), min_size=1, max_size=7)
limits = st.tuples(st.integers(0, 30), st.integers(0, 3)).map(lambda one: (one[0], sum(one)))


def there_are(pool: list[int], number: int, least: int, most: int) -> bool:
    return any(least <= sum(some) <= most for some in combinations(pool, number))


def check(chosen: list[int], pool: list[int], least: int, most: int) -> None:
    assert least <= sum(chosen) <= most
    assert Counter(chosen) <= Counter(pool)


@given(pools, limits)
def test_any_number_of_sizes(pool: list[int], between: tuple[int, int]) -> None:
    chosen = some_of(pool, *between)
    assert (chosen is not None) == any(
        there_are(pool, number, *between) for number in range(len(pool) + 1)
    )
    if chosen is not None:
        check(chosen, pool, *between)


@given(pools.map(sorted), st.integers(1, 7), limits)
def test_neighbours_are_what_was_asked_for(
    pool: list[int], number: int, between: tuple[int, int]
) -> None:
    if len(pool) < number:
        return
    chosen = neighbours(pool, number, *between)
    if chosen is not None:
        assert len(chosen) == number
        check(chosen, pool, *between)


def test_neighbours_are_exchanged_for_others() -> None:
    assert sorted(neighbours([1, 2, 3, 5, 9], 2, 12, 12) or []) == [3, 9]
    assert neighbours([1, 2, 3, 5, 9], 2, 13, 13) is None
    assert neighbours([5, 6, 7], 2, 1, 10) is None
