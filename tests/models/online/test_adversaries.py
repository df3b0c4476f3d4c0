"""The trace on which every online rule pays as much as can be."""

import pytest

from dfopt.compare import compare_trace, parse_window
from dfopt.errors import InstanceError
from dfopt_models.online.adversaries import round_robin_trace
from dfopt_models.online.look_ahead import changes_at_least


def test_without_look_ahead_the_rule_pays_as_many_times_as_there_are_cpus() -> None:
    found = compare_trace(
        round_robin_trace(dispatches=600, fragments=5, cpus=4), windows=[], waits=None
    )
    assert found.realised.total == 596
    assert found.order_kept is not None
    assert (found.order_kept.online, found.order_kept.best) == (596, 149)


def test_rolling_schedules_lie_between_the_theorem_and_a_visit_a_window() -> None:
    trace = round_robin_trace(dispatches=480, fragments=8, cpus=2)
    windows = [parse_window(length) for length in ("8", "16", "40")]
    for window in compare_trace(trace, windows=windows, waits=None).windows:
        length = int(window.window)
        assert changes_at_least(480, 8, 2, length) <= window.rolling <= 8 * -(-480 // length)


@pytest.mark.parametrize(
    ("numbers", "place"),
    [((0, 2, 1), "dispatches"), ((5, 1, 2), "fragments"), ((10**8, 2, 1), "dispatches")],
)
def test_impossible_numbers_are_refused(numbers: tuple[int, int, int], place: str) -> None:
    dispatches, fragments, cpus = numbers
    with pytest.raises(InstanceError, match=f"^{place}: "):
        round_robin_trace(dispatches=dispatches, fragments=fragments, cpus=cpus)
