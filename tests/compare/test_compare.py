"""Whole comparisons of short traces, against all schedules there are."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import (
    WHOLE,
    CompareProgress,
    CostModel,
    Window,
    compare_trace,
    parse_window,
)
from dfopt.compare.dispatches import dispatches_of
from dfopt.compare.windows import WindowCosts, WindowJob
from dfopt.compare.written_times import window_starts
from dfopt.costs.visit_bounds import NOTHING
from dfopt.errors import DfoptError, InstanceError, MethodError
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.trace import Gaps, Trace
from dfopt.trace.trace import LOST_EVENTS
from tests.compare.drawn import labelled_traces, models, windows
from tests.compare.naive import costs_by_row, least_cost, least_in_turn, windows_of
from tests.compare.quick import compared
from tests.trace.traces import trace_from_rows


@pytest.mark.slow
@given(labelled_traces(most=6), models(), windows)
@settings(max_examples=150)
def test_bounds_lie_below_every_schedule(trace: Trace, model: CostModel, window: Window) -> None:
    (result,) = compared(trace, model, window).windows
    worst = model.objective is Objective.MAX_PENALTY
    one_by_one = windows_of(trace, model, window, by_worst=worst and result.count == 1)
    assert result.count == len(one_by_one)
    least = sum(map(least_cost, one_by_one))
    if worst and result.count > 1:
        # No CPU pays less than an even share, and none less than in its most expensive window.
        least = -(-least // trace.cpus)
    assert result.bound <= least
    assert result.bound <= result.rolling
    assert result.bound <= result.realised
    if result.closed == result.count:
        assert result.bound == least


@given(labelled_traces(most=5, gaps=False), models())
@settings(max_examples=60)
def test_worst_cpu_of_several_windows(trace: Trace, model: CostModel) -> None:
    """No schedule of all windows in turn beats the bound on its worst CPU."""
    model = replace(model, objective=Objective.MAX_PENALTY, unmanaged="transparent")
    (result,) = compared(trace, model, parse_window("3")).windows
    alone = windows_of(trace, model, parse_window("3"), by_worst=True)
    # The worst CPU of the most expensive window costs at most as much as the worst of all.
    assert max(map(least_cost, alone)) <= result.rolling
    assert result.bound <= min(result.rolling, result.realised)


@pytest.mark.slow
@given(
    labelled_traces(most=6),
    models(objective=Objective.TOTAL_PENALTY),
    windows,
    st.sampled_from(["observed", "balanced", "unlimited"]),
)
@settings(max_examples=150, deadline=None)
def test_no_schedule_of_windows_in_turn_beats_the_bound_and_rolling_is_one(
    trace: Trace, model: CostModel, window: Window, capacity: str
) -> None:
    model = replace(model, capacity=capacity)
    (result,) = compared(trace, model, window).windows
    least = least_in_turn(trace, model, window)
    assert result.bound <= least <= result.rolling
    if result.count == 1 and result.closed:
        assert result.bound == least


@pytest.mark.slow
@given(labelled_traces(most=7), models(), windows)
@settings(max_examples=60)
def test_states_that_differ_cost_what_the_definition_says(
    trace: Trace, model: CostModel, window: Window
) -> None:
    model = replace(model, penalty=PenaltyF(read_line=1, write_back=3))
    (result,) = compared(trace, model, window).windows
    worst = model.objective is Objective.MAX_PENALTY
    by_cpu = [0] * trace.cpus
    for row, cost in costs_by_row(trace, model).items():
        by_cpu[trace.cpu[row]] += cost
    assert result.realised == (max(by_cpu) if worst else sum(by_cpu))
    assert result.bound <= min(result.realised, result.rolling)


BUSY = trace_from_rows(
    [
        (step % 3, step // 3, step // 3 + 1, f"t{step % 5}", "ABCDE"[step * step % 5], None, None)
        for step in range(60)
    ],
    cpus=3,
)


def test_lengths_of_windows_are_compared_one_by_one() -> None:
    lengths = [parse_window(text) for text in ("5", "20", "2ns", "whole")]
    seen: list[CompareProgress] = []
    found = compare_trace(BUSY, windows=lengths, workers=1, on_progress=seen.append, waits=None)
    assert [window.window for window in found.windows] == ["5", "20", "2ns", "whole"]
    assert found.is_complete
    assert seen[-1].done == seen[-1].total
    assert all(before.done < after.done for before, after in pairwise(seen))


def test_no_length_of_window_compares_nothing() -> None:
    found = compare_trace(BUSY, windows=(), waits=None)
    assert found.windows == ()
    assert found.realised.switches == sum(cpu.switches for cpu in found.cpus)


def test_an_interrupt_leaves_the_lengths_that_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    perform = WindowJob.perform
    asked = 0

    def interrupted(job: WindowJob) -> WindowCosts:
        nonlocal asked
        asked += 1
        if asked == 5:
            raise KeyboardInterrupt
        return perform(job)

    monkeypatch.setattr(WindowJob, "perform", interrupted)
    found = compare_trace(BUSY, windows=[parse_window("5"), WHOLE], workers=1, waits=None)
    assert not found.is_complete
    assert [window.window for window in found.windows] == ["5"]
    assert found.realised == compare_trace(BUSY, waits=None).realised


def test_an_interrupt_of_a_solver_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    model = CostModel(penalty=PenaltyF(read_line=1, write_back=5))
    trace = replace(BUSY, lines=np.arange(len(BUSY)) % 4)
    monkeypatch.setattr("dfopt.solvers.auto.solve_automatically", interrupted)
    # Nothing attains this bound, so that solvers are asked.
    monkeypatch.setattr("dfopt.compare.windows.cheap_bound", lambda *_: NOTHING)
    found = compare_trace(trace, model, windows=[parse_window("20")], workers=1, waits=None)
    assert not found.is_complete
    assert found.windows == ()


def test_capacity_that_is_too_small_is_refused_before_any_work() -> None:
    with pytest.raises(MethodError, match="no room for a window of 60; raise the capacity"):
        compare_trace(BUSY, CostModel(capacity=19), windows=[parse_window("5"), WHOLE], waits=None)
    (result,) = compare_trace(BUSY, CostModel(capacity=20), waits=None).windows
    assert result.bound == result.balanced


def test_what_evicts_may_leave_its_fragment_differently() -> None:
    trace = trace_from_rows(
        [
            (0, 0, 1, "t", "A", 1, Leaves.CLEAN),
            (0, 1, 2, "x", None, 2, Leaves.DIRTY),
            (0, 2, 3, "t", "A", 3, Leaves.INVALIDATED),
        ],
        cpus=1,
    )
    model = CostModel(penalty=PenaltyF(read_line=1, write_back=5), unmanaged="evict")
    (result,) = compared(trace, model, WHOLE).windows
    # The trace reads 2 and 3, and writes the dirty one back. The best order is A, A, x: it writes
    # back after the second A, and reads 2. Or x, A, A: it writes x back, and reads 1.
    assert result.realised == 2 + 5 + 3
    assert (result.bound, result.rolling, result.closed) == (1 + 5, 1 + 5, 1)


@pytest.mark.parametrize("unmanaged", ["transparent", "evict"])
def test_windows_in_which_everything_evicts(unmanaged) -> None:
    rows = [
        (0, 0, 1, "t", "A", None, None),
        *((0, n, n + 1, "x", None, None, None) for n in (5, 9)),
    ]
    trace = trace_from_rows([*rows, (0, 20, 21, "t", "A", None, None)], cpus=1)
    (result,) = compared(trace, CostModel(unmanaged=unmanaged), parse_window("4ns")).windows
    if unmanaged == "evict":
        # Every window has one dispatch, and its first costs nothing.
        assert (result.count, result.realised, result.bound, result.rolling) == (4, 3, 0, 3)
    else:
        assert (result.count, result.realised, result.bound, result.rolling) == (2, 0, 0, 0)


def test_one_dispatch_and_more_cpus() -> None:
    trace = trace_from_rows([(3, 0, 1, "t", "A", None, None)], cpus=64)
    found = compare_trace(trace, waits=None)
    assert [
        (window.realised, window.bound, window.rolling, window.ratio) for window in found.windows
    ] == [(0, 0, 0, 1.0)]
    assert [cpu.managed for cpu in found.cpus] == [int(cpu == 3) for cpu in range(64)]


def test_cold_caches_beside_a_gap() -> None:
    # Nothing is known about CPU 0, so that it may begin with anything; CPU 1 begins empty.
    trace = trace_from_rows(
        [(0, 10, 11, "t", "A", 2, None), (1, 10, 11, "u", "B", 2, None)],
        gaps=[(0, 0, 10, LOST_EVENTS)],
    )
    for write_back, leaves in ((0, None), (5, np.array([0, 1], np.int8))):
        model = CostModel(penalty=PenaltyF(read_line=1, write_back=write_back), cold_start=True)
        (result,) = compared(replace(trace, leaves=leaves), model, WHOLE).windows
        assert (result.realised, result.rolling) == (2, 2)
        assert result.bound <= 2
        if leaves is None:
            assert result.bound == 2


def test_unused_caches_are_written_back_in_the_end() -> None:
    # In the last window one CPU does everything, and the other holds what it must write back.
    rows = [(0, 0, 1, "t", "A"), (1, 0, 1, "u", "B"), (0, 9, 10, "t", "A"), (0, 10, 11, "t", "A")]
    for states, cost in ((["dirty"] * 4, 10), (["dirty", "dirty", "clean", "clean"], 5)):
        trace = trace_from_rows([(*row, 1, state) for row, state in zip(rows, states, strict=True)])
        model = CostModel(penalty=PenaltyF(read_line=1, write_back=5), final_write_back=True)
        (result,) = compared(trace, model, parse_window("5ns")).windows
        assert (result.realised, result.rolling) == (cost, cost)


@pytest.mark.parametrize("leaves", ["dirty", "invalidated"])
def test_nobody_knows_in_the_end_what_a_cpu_held_before_a_gap(leaves: str) -> None:
    rows = [(0, 0, 1, "t", "A", 1, leaves), (1, 9, 10, "u", "B", 1, leaves)]
    costs = CostModel(penalty=PenaltyF(read_line=1, write_back=5), final_write_back=True)
    types = PenaltyMatrix(types=("A", "B"), switch=((0, 0), (0, 0)), finish=(5, 5))
    for model in (costs, replace(costs, penalty=types)):
        for cpu, end, cost in ((0, 5, 5), (1, 5, 10), (0, 12, 10)):
            trace = trace_from_rows(rows, gaps=[(cpu, 2, end, LOST_EVENTS)])
            (result,) = compared(trace, model, WHOLE).windows
            assert result.realised == cost
            assert result.bound <= min(cost, result.rolling)


def test_costs_near_the_limit_are_exact() -> None:
    cost = 2**57
    rows = [(0, n, n + 1, "t", "AB"[n % 2], None, None) for n in range(8)]
    model = CostModel(penalty=PenaltyG(fill=cost, write_back=0))
    (result,) = compared(trace_from_rows(rows, cpus=1), model, WHOLE).windows
    assert (result.realised, result.bound, result.rolling) == (7 * cost, cost, cost)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"capacity": 0}, InstanceError),
        ({"capacity": "plenty"}, InstanceError),
        ({"objective": "least-penalty"}, InstanceError),
        ({"objective": "makespan"}, MethodError),
        ({"objective": Objective.MAKESPAN}, MethodError),
        (
            {"penalty": PenaltyMatrix(types=("a",), switch=((0,),)), "unmanaged": "evict"},
            MethodError,
        ),
        ({"lines": -1}, InstanceError),
        ({"leaves": "dusty"}, InstanceError),
        ({"unmanaged": "Evict"}, DfoptError),
        ({"broken_chains": "mend"}, DfoptError),
    ],
)
def test_impossible_models(wrong, error) -> None:
    with pytest.raises(error):
        CostModel(**wrong)


def test_words_stand_for_an_objective_and_for_a_state() -> None:
    model = CostModel(objective="max-penalty", leaves="dirty")
    assert model == CostModel(objective=Objective.MAX_PENALTY, leaves=Leaves.DIRTY)
    assert isinstance(model.objective, Objective)


def test_gaps_are_ordered_by_their_end() -> None:
    gaps = Gaps(
        cpu=np.array([0, 1], np.int32),
        start=np.array([0, 1], np.int64),
        end=np.array([9, 4], np.int64),
        reason=np.array([0, 0], np.int32),
        reasons=(LOST_EVENTS,),
    )
    trace = trace_from_rows(
        [(0, 9, 10, "t", "A", None, None), (1, 5, 6, "u", "B", None, None)][::-1]
    )
    dispatches = dispatches_of(replace(trace, gaps=gaps), CostModel())
    assert dispatches.cuts.time.tolist() == [4, 9]
    assert window_starts(dispatches, WHOLE).tolist() == [0, 1]


def test_what_python_shows_first_is_the_main_table_of_the_command() -> None:
    found = compare_trace(BUSY, windows=(), workers=1)
    first, title, *rows = repr(found).splitlines()
    assert first.endswith(f"{found.realised.total:,} switches paid")
    assert title == "What was attainable, costs in switches"
    (recorded,) = (row.split() for row in rows if row.startswith("recorded"))
    assert recorded[:2] == ["recorded", str(found.realised.total)]
    assert len(repr(compare_trace(BUSY, windows=(), waits=None)).splitlines()) == 1
