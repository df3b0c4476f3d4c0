"""When each criterion ends a search, and that it says why."""

import pytest

from dfopt.errors import DfoptError
from dfopt.problem.result import FirstOf, GapLimit, Progress, StopReason, TimeLimit


def at(time_s: float = 1.0, lower_bound: int = 0, objective: int | None = None) -> Progress:
    return Progress(time_s=time_s, lower_bound=lower_bound, objective=objective)


def test_a_time_limit_ends_when_its_time_has_passed() -> None:
    assert TimeLimit(2)(at(1.99)) is None
    assert TimeLimit(2)(at(2.0)) is StopReason.TIME_LIMIT
    assert TimeLimit(0)(at(0.0)) is StopReason.TIME_LIMIT


@pytest.mark.parametrize(
    ("lower_bound", "objective", "ends"),
    [(9, 10, True), (8, 10, False), (0, None, False), (0, 0, True), (0, 1, False), (10, 10, True)],
)
def test_a_gap_limit_ends_at_its_gap(
    lower_bound: int, objective: int | None, *, ends: bool
) -> None:
    reason = GapLimit(0.1)(at(lower_bound=lower_bound, objective=objective))
    assert reason is (StopReason.GAP_LIMIT if ends else None)


def test_no_schedule_has_no_gap_even_where_all_gaps_are_allowed() -> None:
    assert GapLimit(1)(at(objective=None)) is None
    assert GapLimit(1)(at(objective=5)) is StopReason.GAP_LIMIT


@pytest.mark.parametrize("seconds", [-1, -0.001, float("nan")])
def test_impossible_time_limits_are_refused(seconds: float) -> None:
    with pytest.raises(DfoptError, match="time limit: must be at least 0 seconds"):
        TimeLimit(seconds)


@pytest.mark.parametrize("gap", [-0.1, 1.1, float("nan")])
def test_impossible_gap_limits_are_refused(gap: float) -> None:
    with pytest.raises(DfoptError, match="gap limit: must be between 0 and 1"):
        GapLimit(gap)


def test_the_first_of_several_criteria_gives_the_reason() -> None:
    both = FirstOf(TimeLimit(2), GapLimit(0.5))
    assert both(at(1, 1, 10)) is None
    assert both(at(1, 5, 10)) is StopReason.GAP_LIMIT
    assert both(at(2, 1, 10)) is StopReason.TIME_LIMIT
    assert both(at(2, 5, 10)) is StopReason.TIME_LIMIT
    assert FirstOf(GapLimit(0.5), TimeLimit(2))(at(2, 5, 10)) is StopReason.GAP_LIMIT


def test_no_criterion_never_ends_a_search() -> None:
    assert FirstOf()(at(1e9, 1, 1)) is None
