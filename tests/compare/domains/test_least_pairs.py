"""The least number of pairs of a fragment and a domain."""

import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.compare.domains import EFFORT, least_pairs
from dfopt.errors import InstanceError
from tests.compare.domains.enumerated_pairs import keeps_to, least_by_trying


@pytest.mark.parametrize(
    ("run_times", "capacities", "least"),
    [
        ([3, 4, 5], [12], 3),
        ([3, 4, 5], [12, 12], 3),  # one domain has time for all
        ([5, 5], [5, 5], 2),
        ([10], [4, 4, 4], 3),  # no domain has time for more than 4
        ([6, 6, 6], [9, 9], 4),  # two of 6 exceed 9, so one of them is divided
        ([4, 3, 3, 2, 2, 2], [8, 8], 6),  # 4 + 2 + 2 and 3 + 3 + 2; 4 + 3 together would fail
        ([7, 5], [8, 2, 2], 4),  # all must be full: 8 takes 7 and 1 of the 5, or 5 and 3 of the 7
        ([0, 4], [4, 4], 2),  # what takes no time still runs somewhere
    ],
)
def test_pairs_by_hand(run_times, capacities, least) -> None:
    found = least_pairs(run_times, capacities)
    assert (found.pairs, found.bound) == (least, least)
    assert keeps_to(found.shares, run_times, capacities)


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw a few fragments and domains with at least as much time as they need."""
    run_times = draw(st.lists(st.integers(0, 8), min_size=1, max_size=4))
    capacities = draw(st.lists(st.integers(0, 8), min_size=1, max_size=3))
    capacities[0] += max(0, sum(run_times) - sum(capacities)) + draw(st.integers(0, 1))
    return run_times, capacities


@given(problems(), st.sampled_from((0.0, EFFORT)))
def test_the_bound_is_the_least_that_trying_finds(problem, effort) -> None:
    run_times, capacities = problem
    least = least_by_trying(run_times, capacities)
    found = least_pairs(run_times, capacities, effort=effort)
    assert keeps_to(found.shares, run_times, capacities)
    assert found.bound <= least <= found.pairs
    if effort:
        assert found.bound == found.pairs


def test_a_known_allotment_is_no_worse_than_the_result() -> None:
    run_times, capacities = [4, 3, 3, 2, 2, 2], [8, 8]
    known = [{0: 4}, {1: 3}, {1: 3}, {0: 2}, {0: 2}, {1: 2}]
    assert not least_pairs(run_times, capacities, effort=0).is_optimal
    assert least_pairs(run_times, capacities, known=known, effort=0).shares == known


def test_an_interrupt_is_an_exception_afterwards() -> None:
    assert least_pairs([6, 6, 6], [9, 9], effort=EFFORT).is_optimal
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_too_little_time_is_refused() -> None:
    with pytest.raises(InstanceError, match="a run time of 9 does not fit into 8"):
        least_pairs([9], [4, 4])
