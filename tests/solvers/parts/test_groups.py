"""The theorem of the groups: whatever has few enough fragments and tasks can be packed."""

from collections import Counter
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.solvers.parts.groups import fill, wrap


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    """Draw sizes of fragments, limits of CPUs in ascending order, and a capacity."""
    limit, plain, longer = (draw(st.integers(least, 4)) for least in (1, 1, 0))
    limits = [limit] * plain + [limit + 1] * longer
    places = sum(limits) - len(limits) + 1
    number = draw(st.integers(1, places))
    capacity = draw(st.integers(-(-number // len(limits)), 12))
    # As often as not there is no slack at all.
    tasks = len(limits) * capacity
    if draw(st.booleans()):
        tasks = draw(st.integers(number, tasks))
    cuts = draw(
        st.lists(
            st.integers(1, max(1, tasks - 1)), min_size=number - 1, max_size=number - 1, unique=True
        )
    )
    ends = [0, *sorted(cuts), tasks]
    return [end - start for start, end in pairwise(ends)], limits, capacity


@settings(max_examples=500)
@given(groups())
def test_a_group_can_always_be_filled(group: tuple[list[int], list[int], int]) -> None:
    sizes, limits, capacity = group
    contents = fill([(size, name) for name, size in enumerate(sizes)], limits, capacity)
    placed: Counter[int] = Counter()
    for parts in contents:
        assert all(number > 0 for number in parts.values())
        assert sum(parts.values()) <= capacity
        placed.update(parts)
    assert placed == dict(enumerate(sizes))
    for length, limit in zip(sorted(map(len, contents)), limits[-len(contents) :], strict=True):
        assert length <= limit


@given(st.lists(st.integers(1, 20), min_size=1, max_size=8), st.integers(1, 12))
def test_wrapping_cuts_no_more_often_than_cpus_end(sizes: list[int], capacity: int) -> None:
    contents = wrap([(size, name) for name, size in enumerate(sizes)], capacity)
    assert len(contents) == -(-sum(sizes) // capacity)
    assert sum(map(len, contents)) <= len(sizes) + len(contents) - 1
    placed: Counter[int] = Counter()
    for parts in contents:
        assert 0 < sum(parts.values()) <= capacity
        placed.update(parts)
    assert placed == dict(enumerate(sizes))
