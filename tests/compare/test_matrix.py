"""Traces under a matrix: what was paid, what bounds it, and the rolling schedule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace, solve
from dfopt.compare import CostModel, Window, compare_trace, parse_window
from dfopt.compare.comparison_parts import Cause
from dfopt.compare.cost_model import type_costs
from dfopt.compare.to_instance import trace_instance
from dfopt.errors import InstanceError, MethodError
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.matrix import bound_by_flow
from dfopt.solvers.search import Search
from dfopt.trace import Trace, TraceHeader
from dfopt.trace.from_schedule import trace_from_schedule
from dfopt.trace.trace import LOST_EVENTS
from tests.compare.drawn import labelled_traces, windows
from tests.compare.naive import costs_by_row, least_in_turn
from tests.compare.quick import compared
from tests.strategies import FRAGMENTS
from tests.trace.traces import trace_from_rows

WEB = PenaltyMatrix(
    types=("HTTP", "PHP-short", "PHP-long"),
    switch=((1, 6, 9), (4, 2, 8), (7, 5, 3)),
    start=(10, 20, 30),
    finish=(100, 200, 300),
)
"""Costs of which each sum names its parts."""

ROWS = [
    (0, 0, 1, "a", "HTTP", None, None),
    (1, 0, 1, "b", "PHP-long", None, None),
    (0, 1, 2, "a", "HTTP", None, None),
    (1, 2, 3, "c", "PHP-short", None, None),
    (0, 3, 4, "x", None, None, None),
    (0, 4, 5, "b", "PHP-long", None, None),
    (0, 5, 6, "a", "HTTP", None, None),
]
"""CPU 0: HTTP HTTP long HTTP, between them one that does not count; CPU 1: long short."""

TRACE = trace_from_rows(ROWS, header=TraceHeader(time_unit="us", penalty=WEB))


@st.composite
def matrices(draw: st.DrawFn) -> PenaltyMatrix:
    size = len(FRAGMENTS)
    row = st.tuples(*(st.integers(0, draw(st.sampled_from((1, 9)))) for _ in range(size)))
    return PenaltyMatrix(
        types=FRAGMENTS,
        switch=tuple(draw(row) for _ in FRAGMENTS),
        start=draw(st.none() | row),
        finish=draw(st.none() | row),
    )


def models(**fixed: object) -> st.SearchStrategy[CostModel]:
    given: dict[str, object] = {
        "penalty": matrices(),
        "objective": st.sampled_from((Objective.TOTAL_PENALTY, Objective.MAX_PENALTY)),
        "cold_start": st.booleans(),
        "final_write_back": st.booleans(),
        "broken_chains": st.sampled_from(("bridge", "cut")),
        "capacity": st.sampled_from(("observed", "balanced", "unlimited")),
    }
    given.update((name, st.just(value)) for name, value in fixed.items())
    return st.builds(CostModel, **given)  # type: ignore[arg-type]


def test_a_trace_by_hand() -> None:
    model = CostModel(penalty=WEB, cold_start=True, final_write_back=True)
    found = compared(TRACE, model, parse_window("whole"))
    # CPU 0: 10 + 1 + 9 + 7 + 100; CPU 1: 30 + 5 + 200.
    assert [cpu.cost for cpu in found.cpus] == [127, 235]
    assert {cause: cost for cause, cost in found.causes.items() if cost} == {
        # The first HTTP, and both firsts on CPU 1.
        Cause.FIRST_LOAD: 10 + 30 + 5,
        Cause.SAME_TYPE: 1,
        # The long one ran on CPU 1 last, and so did its task.
        Cause.MIGRATION: 9,
        Cause.REVISITED: 7,
        Cause.WRITE_BACK: 300,
    }
    assert found.realised.switches == 3
    # There is room for 4 on a CPU, so that both run something, and end with HTTP: HTTP HTTP, and
    # short long long HTTP.
    (whole,) = found.windows
    assert whole.closed == whole.count == 1
    assert whole.bound == (10 + 1 + 100) + (20 + 8 + 3 + 7 + 100)
    assert whole.rolling == whole.bound
    assert found.cost_unit == "us"


def test_without_ends_only_switches_cost() -> None:
    found = compared(TRACE, CostModel(penalty=WEB), parse_window("whole"))
    assert found.realised.total == 1 + 9 + 7 + 5
    # short HTTP HTTP HTTP and long long, both from a free start.
    assert [(window.bound, window.rolling) for window in found.windows] == [(4 + 1 + 1 + 3, 9)]


def test_nothing_is_paid_across_a_gap() -> None:
    gap = trace_from_rows(
        [(0, 0, 1, "a", "HTTP", None, None), (0, 9, 10, "a", "PHP-long", None, None)],
        gaps=[(0, 1, 9, LOST_EVENTS)],
        cpus=1,
    )
    found = compared(gap, CostModel(penalty=WEB, cold_start=True), parse_window("whole"))
    assert found.realised.total == 10
    assert [(window.count, window.bound, window.rolling) for window in found.windows] == [
        (2, 10, 10)
    ]


@pytest.mark.slow
@given(labelled_traces(most=7, mixed=False), models(capacity="observed"), windows)
@settings(max_examples=100, deadline=None)
def test_what_is_paid_and_what_bounds_it(trace: Trace, model: CostModel, window: Window) -> None:
    found = compared(trace, model, window)
    rows = costs_by_row(trace, model)
    by_cpu = [0] * trace.cpus
    for row, cost in rows.items():
        by_cpu[trace.cpu[row]] += cost
    assert [cpu.cost for cpu in found.cpus] == by_cpu
    assert sum(found.causes.values()) == found.realised.total == sum(by_cpu)
    assert sum(fragment.cost for fragment in found.fragments) == sum(by_cpu)
    (result,) = found.windows
    assert result.bound <= min(result.realised, result.rolling)
    assert result.ratio is None or result.ratio >= 1
    assert result.bound <= result.balanced


@given(labelled_traces(most=6, mixed=False, gaps=False), models())
@settings(max_examples=40, deadline=None)
def test_the_whole_trace_against_its_instance(trace: Trace, model: CostModel) -> None:
    (result,) = compared(trace, model, parse_window("whole")).windows
    best = solve(trace_instance(trace, model))
    assert best.objective is not None
    assert result.bound <= best.objective <= result.rolling
    if result.closed:
        assert result.bound == best.objective
        assert result.rolling == best.objective


@pytest.mark.slow
@given(
    labelled_traces(most=9, mixed=False),
    models(),
    windows,
    st.integers(1, 10**6),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_factors_and_numbers_of_cpus_do_not_matter(trace, model, window, factor, source) -> None:
    model = replace(model, objective=Objective.TOTAL_PENALTY)
    penalty = model.penalty

    def scaled(row):
        return None if row is None else tuple(factor * cost for cost in row)

    times = replace(
        penalty,
        switch=tuple(map(scaled, penalty.switch)),
        start=scaled(penalty.start),
        finish=scaled(penalty.finish),
    )
    new = list(range(trace.cpus))
    source.shuffle(new)
    places = np.array(new, np.int32)
    moved = replace(
        trace, cpu=places[trace.cpu], gaps=replace(trace.gaps, cpu=places[trace.gaps.cpu])
    )
    with pytest.MonkeyPatch.context() as patch:
        # No clock decides.
        patch.setattr("dfopt.compare.windows.SECONDS_PER_WINDOW", 0.0)
        (one,) = compare_trace(
            trace, model, windows=[window], time_limit=0, workers=1, waits=None
        ).windows
        (other,) = compare_trace(
            moved,
            replace(model, penalty=times),
            windows=[window],
            time_limit=0,
            workers=1,
            waits=None,
        ).windows
    assert one.realised * factor == other.realised
    assert one.bound * factor == other.bound
    assert one.balanced * factor == other.balanced
    assert one.closed == other.closed


@pytest.mark.slow
@given(labelled_traces(most=6, mixed=False), models(objective=Objective.TOTAL_PENALTY), windows)
@settings(max_examples=100, deadline=None)
def test_no_schedule_of_windows_in_turn_beats_the_bound_and_rolling_is_one(
    trace: Trace, model: CostModel, window: Window
) -> None:
    (result,) = compared(trace, model, window).windows
    assert result.bound <= least_in_turn(trace, model, window) <= result.rolling


def test_equal_windows_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(0, n, n + 1, "t", ("HTTP", "PHP-long")[n % 2], None, None) for n in range(40)]
    asked = []

    def counted(search: Search) -> None:
        asked.append(search)
        bound_by_flow(search)

    monkeypatch.setattr("dfopt.compare.windows.bound_by_flow", counted)
    trace = trace_from_rows(rows, cpus=1)
    (result,) = compared(trace, CostModel(penalty=WEB), parse_window("4")).windows
    assert result.count == 10
    assert result.closed == 10
    # For the rolling schedule, the bound, and the balanced bound.
    assert len(asked) <= 2 + 1 + 1 + 1


def test_a_schedule_of_an_instance_has_the_optimum_of_its_instance() -> None:
    model = CostModel(penalty=WEB, cold_start=True, capacity=4)
    instance = trace_instance(TRACE, model)
    best = solve(instance)
    assert best.schedule is not None
    trace = trace_from_schedule(instance, best.schedule)
    (result,) = compared(trace, model, parse_window("whole")).windows
    assert (result.realised, result.ratio) == (best.objective, 1.0)


def test_costs_near_the_limit_are_exact() -> None:
    cost = 2**57
    table = PenaltyMatrix(types=("A", "B"), switch=((0, cost), (cost, 0)))
    rows = [(0, n, n + 1, "t", "AB"[n % 2], None, None) for n in range(8)]
    (result,) = compared(
        trace_from_rows(rows, cpus=1), CostModel(penalty=table), parse_window("whole")
    ).windows
    assert (result.realised, result.bound, result.rolling) == (7 * cost, cost, cost)
    with pytest.raises(InstanceError, match="coarser time unit"):
        compared(trace_from_rows(rows * 4, cpus=1), CostModel(penalty=table), parse_window("whole"))


def test_fragments_that_are_no_types_are_refused() -> None:
    trace = trace_from_rows([(0, 0, 1, "t", "A", None, None)], cpus=1)
    with pytest.raises(InstanceError, match="'A' is no type of the matrix"):
        compare_trace(trace, CostModel(penalty=WEB), waits=None)
    # A name that no dispatch uses does not matter.
    costs = type_costs(replace(TRACE, fragments=(*TRACE.fragments, "A")), WEB)
    assert max(column.max() for column in costs) == 300


def test_evicting_under_a_matrix_is_refused() -> None:
    with pytest.raises(MethodError, match="unmanaged=transparent"):
        CostModel(penalty=WEB, unmanaged="evict")


def test_a_capacity_without_room_is_refused() -> None:
    with pytest.raises(MethodError, match="no room for a window of 6"):
        compare_trace(TRACE, CostModel(penalty=WEB, capacity=2), waits=None)
