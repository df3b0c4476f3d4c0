"""The rows of a frontier: what each costs, how long things wait in it, and what is left out."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import CompareProgress, CostModel, PermittedWait, compare_trace
from dfopt.compare.attainable import frontier_of as module
from dfopt.compare.attainable.check import check_schedule
from dfopt.compare.attainable.frontier import Scheduling, WaitingFrontier
from dfopt.compare.attainable.frontier_of import (
    cheapest_within,
    chosen_patience,
    frontier_of,
)
from dfopt.compare.attainable.schedule_traces import save_frontier
from dfopt.compare.dispatches import Dispatches, movable_dispatches
from dfopt.compare.paid import cost_of
from dfopt.errors import DfoptError
from dfopt.problem.instance import Objective
from dfopt.time_units import exact_time
from dfopt.trace import Trace, read_trace
from dfopt.trace.service import percentile
from tests.trace.woken import SLEEPS, woken_trace, woken_traces

COUNTING = CostModel()

IN_TURN = woken_trace(
    (0, 0, 10, "a", SLEEPS, "p"),
    (0, 10, 20, "b", SLEEPS, "q"),
    (0, 20, 30, "c", SLEEPS, "p"),
    (0, 30, 40, "d", SLEEPS, "q"),
    wakeups=[(0, None, "a"), (0, None, "b"), (0, None, "c"), (5, None, "d")],
)
"""Four that are ready early; the fragments alternate, so that there are three changes."""


def rows_of(frontier: WaitingFrontier) -> dict[Scheduling, int]:
    return {row.scheduling: row.cost for row in frontier.rows}


def test_each_limit_has_its_row() -> None:
    frontier = frontier_of(IN_TURN, COUNTING, waits=[15, 30])
    assert [(row.scheduling, row.wait) for row in frontier.rows] == [
        (Scheduling.RECORDED, None),
        (Scheduling.SAME_TIMELINE, None),
        (Scheduling.LEAST_RECENTLY_USED, None),
        (Scheduling.NOBODY_LATER, 0),
        (Scheduling.LONGEST_WAIT, 15),
        (Scheduling.LONGEST_WAIT, 30),
        (Scheduling.SAME_MEAN_WAIT, None),
        (Scheduling.PATIENCE, None),
    ]
    recorded = frontier.rows[0]
    assert (recorded.cost, recorded.total_wait, recorded.p99_wait) == (3, 0 + 10 + 20 + 25, 25)
    assert frontier.is_complete
    assert frontier.left_out is None


def test_zero_is_the_row_that_is_there_anyway() -> None:
    frontier = frontier_of(IN_TURN, COUNTING, waits=[0])
    assert [row.wait for row in frontier.rows].count(0) == 1


def test_the_patience_that_is_shown_is_the_cheapest_that_waits_no_longer() -> None:
    frontier = frontier_of(IN_TURN, COUNTING)
    recorded, chosen = frontier.rows[0], frontier.rows[-1]
    assert chosen in frontier.patience
    good = [
        row.cost
        for row in frontier.patience
        if row.total_wait <= recorded.total_wait and row.p99_wait <= recorded.p99_wait
    ]
    assert chosen.cost == min(good)


def test_the_patience_that_is_shown_waits_little_if_none_is_good() -> None:
    frontier = frontier_of(IN_TURN, COUNTING)
    recorded = frontier.rows[0]
    hurried = replace(recorded, p99_wait=-1)
    (chosen,) = chosen_patience(hurried, frontier.patience)
    assert chosen == frontier.rows[-1]  # the mean alone is no longer than recorded
    (chosen,) = chosen_patience(replace(hurried, total_wait=-1), frontier.patience)
    assert chosen.total_wait == min(row.total_wait for row in frontier.patience)
    assert chosen_patience(recorded, ()) == ()


@given(trace=woken_traces(plain=True), effort=st.sampled_from([0.01, 1.0]))
@settings(max_examples=15, deadline=None)
def test_costs_lie_between_bounds_and_what_was_recorded(trace: Trace, effort: float) -> None:
    try:
        movable_dispatches(trace, COUNTING)
    except DfoptError:
        return  # too many wake-ups are unknown
    frontier = frontier_of(trace, COUNTING, waits=[1, 3], effort=effort)
    recorded = frontier.rows[0]
    for row in frontier.rows[1:]:
        assert isinstance(row.schedule, Dispatches)
        assert not check_schedule(row.schedule, module.NO_LIMIT)
        if row.bound is not None:
            assert row.bound <= row.bound_with_lengths <= row.cost <= recorded.cost
    limited = [row.cost for row in frontier.rows if row.wait is not None]
    assert limited == sorted(limited, reverse=True)
    budget = next(row for row in frontier.rows if row.scheduling is Scheduling.SAME_MEAN_WAIT)
    assert budget.total_wait <= recorded.total_wait
    assert budget.p99_wait <= recorded.p99_wait


@pytest.mark.parametrize(("count", "rank"), [(1, 0), (99, 98), (100, 98), (101, 99), (200, 197)])
def test_the_99th_percentile_is_the_nearest_rank(count: int, rank: int) -> None:
    assert percentile(np.arange(count), 99) == rank


def test_without_wakeups_there_is_the_same_timeline() -> None:
    trace = woken_trace((0, 0, 10, "a", SLEEPS, "p"), (1, 5, 15, "b", SLEEPS, "q"))
    frontier = frontier_of(trace, COUNTING)
    assert [*rows_of(frontier)] == [
        Scheduling.RECORDED, Scheduling.SAME_TIMELINE, Scheduling.LEAST_RECENTLY_USED,
    ]  # fmt: skip
    assert {(row.mean_wait, row.p99_wait) for row in frontier.rows} == {(None, None)}
    assert "no wake-ups" in frontier.left_out
    assert frontier.is_complete


def test_what_runs_twice_at_once_is_said() -> None:
    trace = woken_trace(
        (0, 0, 10, "a", SLEEPS, "p"), (1, 5, 15, "a", SLEEPS, "q"), wakeups=[(0, None, "a")]
    )
    frontier = frontier_of(trace, COUNTING)
    assert "task a runs on CPU 0 until 10, but starts at 5 on CPU 1" in frontier.left_out
    assert Scheduling.SAME_TIMELINE in rows_of(frontier)


def test_the_most_expensive_cpu_has_no_frontier() -> None:
    frontier = frontier_of(IN_TURN, CostModel(objective=Objective.MAX_PENALTY))
    assert frontier.rows == ()
    assert "total-penalty" in frontier.left_out


def test_a_trace_without_fragments_is_refused() -> None:
    with pytest.raises(DfoptError, match="no dispatch has a fragment"):
        frontier_of(woken_trace((0, 0, 10, "a", SLEEPS, None)), COUNTING)


def test_progress_is_told_part_by_part() -> None:
    told: list[CompareProgress] = []
    frontier_of(IN_TURN, COUNTING, waits=[15], on_progress=told.append)
    done = [progress.done for progress in told]
    assert sorted({*done}) == [*range(told[0].total + 1)]
    assert done == sorted(done)
    at_work = [progress.at_work for progress in told]
    assert at_work[:3] == ["same timeline", "least recently used", "patience 0s"]
    assert "schedule, nobody later" in at_work
    assert "bound, longest wait 15ns" in at_work
    assert at_work[-1] is None


@pytest.mark.parametrize(
    "part", ["same timeline", "least recently used", "schedule, same mean wait"]
)
def test_an_interrupt_keeps_the_rows_that_are_done(part: str) -> None:
    def stop(progress: CompareProgress) -> None:
        if progress.at_work == part:
            raise KeyboardInterrupt

    whole = rows_of(frontier_of(IN_TURN, COUNTING))
    frontier = frontier_of(IN_TURN, COUNTING, on_progress=stop)
    assert not frontier.is_complete
    found = rows_of(frontier)
    assert found.items() <= whole.items()
    assert len(found) < len(whole)
    assert (Scheduling.SAME_TIMELINE in found) == (part != "same timeline")
    assert (Scheduling.NOBODY_LATER in found) == (part == "schedule, same mean wait")


def test_an_interrupted_comparison_has_no_windows() -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    found = compare_trace(IN_TURN, waits=[PermittedWait(length=10, unit="ns")], on_progress=stop)
    assert (found.windows, found.is_complete) == ((), False)
    assert found.frontier is not None
    assert [row.cost for row in found.frontier.rows][:1] == [3]
    assert compare_trace(IN_TURN, waits=None).frontier is None
    assert compare_trace(IN_TURN, windows=(), workers=1).frontier == frontier_of(IN_TURN, COUNTING)


def test_schedules_are_saved_as_traces(tmp_path: Path) -> None:
    frontier = frontier_of(IN_TURN, COUNTING, waits=[20])
    save_frontier(tmp_path, frontier, IN_TURN, COUNTING)
    names = {path.name for path in tmp_path.glob("*.jsonl")}
    assert {
        "same-timeline.jsonl", "least-recently-used.jsonl", "nobody-later.jsonl",
        "longest-wait-20ns.jsonl", "same-mean-wait.jsonl",
    } < names  # fmt: skip
    for row in frontier.rows:
        if row.wait == 20:
            saved = read_trace(tmp_path / "longest-wait-20ns.jsonl")
            assert compare_trace(saved, windows=(), waits=None).realised.total == row.cost
            assert saved.header.policy == "longest wait 20ns"
    save_frontier(tmp_path, WaitingFrontier(rows=()), IN_TURN, COUNTING)


@pytest.mark.parametrize(
    ("length", "unit", "text"),
    [
        (0, "ns", "0s"),
        (1500, "ns", "1500ns"),
        (3_000_000, "ns", "3ms"),
        (2000, "us", "2ms"),
        (7, "cycles", "7cycles"),
        (7, None, "7"),
    ],
)
def test_times_in_names_of_files_are_exact(length: int, unit: str | None, text: str) -> None:
    assert exact_time(length, unit) == text


def test_the_cheapest_schedule_that_keeps_to_a_limit_counts() -> None:
    frontier = frontier_of(IN_TURN, COUNTING)
    schedules = {row.scheduling: row.schedule for row in frontier.rows if row.schedule is not None}
    dear, cheap = schedules[Scheduling.RECORDED], schedules[Scheduling.SAME_MEAN_WAIT]
    assert cost_of(cheap) < cost_of(dear)
    late = replace(cheap, start=cheap.start + 1000)
    unlimited, nobody_later = module.WaitingLimit(), module.WaitingLimit(each=0)
    assert cheapest_within(unlimited, [dear, cheap]) is cheap
    assert cheapest_within(nobody_later, [late, dear]) is dear
    assert cheapest_within(nobody_later, [late]) is None


def figures(frontier: WaitingFrontier) -> list[tuple[object, ...]]:
    return [
        (row.scheduling, row.wait, row.cost, row.bound, row.bound_with_lengths, row.total_wait)
        for row in (*frontier.rows, *frontier.patience)
    ]


@pytest.mark.slow
def test_threads_find_what_one_finds() -> None:
    here = frontier_of(IN_TURN, COUNTING, waits=[20], workers=1)
    assert figures(frontier_of(IN_TURN, COUNTING, waits=[20], workers=2)) == figures(here)
