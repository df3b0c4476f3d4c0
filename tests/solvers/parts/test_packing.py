"""Matchings are largest, and serve earlier applicants first."""

from itertools import combinations, permutations

from hypothesis import given
from hypothesis import strategies as st

from dfopt.solvers.parts.packing import matched

wishes = st.lists(st.lists(st.integers(0, 4), max_size=3), max_size=5)


def can_all_be_served(some: tuple[int, ...], wished: list[list[int]]) -> bool:
    return any(
        all(thing in wished[one] for one, thing in zip(some, things, strict=False))
        for things in permutations(range(5), len(some))
    )


@given(wishes)
def test_the_first_who_can_be_served_together_are_served(wished: list[list[int]]) -> None:
    served = matched(wished)
    assert all(thing in wished[one] for one, thing in served.items())
    assert len(set(served.values())) == len(served)
    together: tuple[int, ...] = ()
    for one in range(len(wished)):
        if can_all_be_served((*together, one), wished):
            together = (*together, one)
    assert tuple(sorted(served)) == together
    more = combinations(range(len(wished)), len(served) + 1)
    assert not any(can_all_be_served(some, wished) for some in more)
