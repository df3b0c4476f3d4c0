"""The beam search: its schedules keep all rules, and most of tiny ones cost the least."""

import pytest

from dfopt.compare.attainable.beam import BeamSettings, beam_search
from dfopt.compare.attainable.check import check_schedule, checked_cost
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from tests.compare.attainable.drawn import random_case
from tests.compare.attainable.enumeration import cheapest_schedule


@pytest.mark.slow
def test_most_schedules_of_few_dispatches_cost_the_least() -> None:
    """Some searches see nearly nothing of what comes, so that they need their guide."""
    optimal = 0
    for seed in range(300):
        arrivals, limit = random_case(seed, most=7)
        settings = BeamSettings(width=4, safe=1, ahead=seed % 3) if seed % 2 else BeamSettings()
        schedule = beam_search(arrivals, limit, settings=settings)
        assert schedule is not None
        assert check_schedule(arrivals, schedule, limit) == []
        found = cheapest_schedule(arrivals, limit)
        assert found is not None
        cost = checked_cost(arrivals, schedule)
        assert cost >= found[0]
        optimal += cost == found[0]
    assert optimal >= 270


def test_a_schedule_within_a_smaller_limit_is_a_guide_for_a_larger_one() -> None:
    for seed in range(20):
        arrivals, _ = random_case(seed, most=12)
        first = beam_search(arrivals, WaitingLimit(each=0))
        assert first is not None
        second = beam_search(arrivals, WaitingLimit(each=10), guide=first)
        assert second is not None
        assert check_schedule(arrivals, second, WaitingLimit(each=10)) == []


def test_no_dispatches_and_calls_to_check() -> None:
    arrivals, limit = random_case(1, most=12)
    calls: list[int] = []
    assert beam_search(arrivals, limit, check=lambda: calls.append(1)) is not None
    assert calls
