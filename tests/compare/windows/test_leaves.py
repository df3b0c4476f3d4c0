"""Windows whose dispatches leave their fragments differently, against all their schedules."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.compare import CostModel, compare_trace, parse_window
from dfopt.compare.windows.leaves import LeavesCosts, LeavesPacking, LeavesWindows
from dfopt.compare.windows.leaves_program import best_contents
from dfopt.compare.windows.leaves_window import LeavesWindow, lower_bound
from dfopt.compare.windows.window import (
    CLEAN,
    DIRTY,
    EMPTY,
    FOREIGN,
    INVALIDATED,
    UNKNOWN,
    Cache,
    DispatchClass,
    WindowProblem,
    renamed,
)
from dfopt.compare.windows.window_solver import WindowSolver
from dfopt.problem.cache_state import Leaves
from dfopt.problem.penalties import PenaltyF
from dfopt.solvers.heuristics.contents import Contents
from dfopt.trace.trace import LEAVES
from tests.compare.drawn import window_problems
from tests.compare.naive import least_cost, window_of
from tests.compare.rebuilt import least
from tests.trace.traces import trace_from_rows

STEPS = 10_000

leaves_problems = window_problems(uniform=False)


def assert_schedule(window: WindowProblem, contents: Contents) -> None:
    held = contents.held()
    numbers = dict(enumerate(one for _, one in window.classes()))
    for own in held:
        assert sum(count for number, count in own.items() if number in numbers) <= window.capacity
    for number, one in numbers.items():
        assert sum(own.get(number, 0) for own in held) == one.copies


@given(leaves_problems)
def test_bounds_lie_below_every_schedule_and_packings_above(window: WindowProblem) -> None:
    least = least_cost(window_of(window))
    leaves_window = LeavesWindow(window)
    bound = lower_bound(leaves_window)
    assert bound <= least
    packed = LeavesPacking(LeavesCosts(leaves_window), bound).best()
    assert_schedule(window, packed)
    assert window.value(packed.costs) >= least


@given(leaves_problems)
@settings(max_examples=150)
def test_a_schedule_is_closed_only_at_the_optimum(window: WindowProblem) -> None:
    found = LeavesWindows(most_steps=STEPS, effort=0.01).solve(window)
    least = least_cost(window_of(window))
    assert found.lower_bound <= least <= found.cost
    if not window.by_worst:
        assert found.is_closed


@given(window_problems(uniform=False, most=6, evicts=False))
@settings(max_examples=40)
def test_tiny_windows_are_closed_under_both_objectives(window: WindowProblem) -> None:
    solver = WindowSolver(leaves_differ=True, seconds=0, thorough=False)
    found = solver.solve(window, (0,) * window.cpus).schedule
    assert found.is_closed
    assert found.cost == least_cost(window_of(window))


def test_solvers_close_what_the_largest_cost_leaves_open() -> None:
    window = WindowProblem(
        capacity=5,
        fragments=(
            (DispatchClass(3, CLEAN, 2), DispatchClass(5, DIRTY, 2)),
            (DispatchClass(4, DIRTY, 3),),
            (DispatchClass(2, INVALIDATED, 1), DispatchClass(7, DIRTY, 1)),
        ),
        write_back=4,
        states=(Cache(0, DIRTY), EMPTY),
        final=True,
        by_worst=True,
    )
    solver = WindowSolver(leaves_differ=True, seconds=1000.0, thorough=True)
    found = solver.solve(window, (0, 0)).schedule
    assert found.is_closed
    assert found.cost == least_cost(window_of(window))


@given(leaves_problems)
def test_names_of_fragments_do_not_matter(window: WindowProblem) -> None:
    canonical = LeavesWindows(most_steps=STEPS, effort=0.01).canonical
    turned = renamed(window, list(range(len(window.fragments)))[::-1])
    assert renamed(turned, canonical(turned)) == renamed(window, canonical(window))


@given(leaves_problems, st.integers(0, 3), st.sampled_from((0, 6, STEPS)))
@settings(max_examples=150)
def test_the_exact_program_finds_the_optimum(window: WindowProblem, excess: int, cut: int) -> None:
    window = replace(window, by_worst=False)
    least = least_cost(window_of(window))
    leaves_window = LeavesWindow(window)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dfopt.compare.windows.leaves_program.MOST_DEALINGS", cut)
        held, bound = best_contents(leaves_window, least + excess, STEPS)
    assert bound <= least
    if cut == STEPS:
        assert bound == least
        assert (held is None) == (excess == 0)
    if held is not None:
        contents = Contents(LeavesCosts(leaves_window), held)
        assert_schedule(window, contents)
        assert least <= sum(contents.costs) < least + excess


@given(leaves_problems)
def test_of_cheapest_orders_the_one_that_ends_with_the_latest_fragment(
    window: WindowProblem,
) -> None:
    found = LeavesWindows(most_steps=0, effort=0.01).solve(window)
    one_by_one = window_of(window)
    latest = list(range(len(window.fragments)))
    orders = found.orders()
    for cpu, order in enumerate(orders):
        tasks = [
            *one_by_one.fixed[cpu],
            *(
                task
                for number in set(order)
                for task in [task for task in one_by_one.tasks if task.id.startswith(f"{number}.")][
                    : order.count(number)
                ]
            ),
        ]
        left = found.state_after(cpu, latest)
        cost, ends = least(one_by_one, one_by_one.states[cpu], tasks)
        assert cost == found.costs[cpu]
        if not tasks:
            assert left is None
            continue
        fixed = one_by_one.fixed[cpu]
        states = {
            (FOREIGN if task in fixed else int(task.df or 0), LEAVES.index(task.leaves))
            for task in ends
        }
        assert left in states
        assert left.fragment == max(fragment for fragment, _ in states)


def test_the_exact_program_gives_up() -> None:
    window = LeavesWindow(
        WindowProblem(
            capacity=3,
            fragments=((DispatchClass(4, CLEAN, 2),), (DispatchClass(4, DIRTY, 3),)),
            write_back=5,
            states=(UNKNOWN, UNKNOWN),
        )
    )
    assert best_contents(window, 100, 1) == (None, 0)
    assert best_contents(window, 100, STEPS)[1] == 0


def test_of_many_equal_dispatches_that_evict_two_stand_at_the_ends() -> None:
    window = WindowProblem(
        capacity=1,
        fragments=((DispatchClass(1, CLEAN, 1),),),
        write_back=10,
        states=(UNKNOWN,),
        evicting=((DispatchClass(4, DIRTY, 9),),),
    )
    found = WindowSolver(leaves_differ=True, seconds=0, thorough=False).solve(window, (0,))
    # The first one is not read, and the last one is not written back.
    assert found.schedule.costs == (8 * 4 + 8 * 10 + 1,)
    assert found.schedule.is_closed


def test_no_clock_decides() -> None:
    """All windows are closed without any solver, whose time could run out."""
    rows = [
        (
            step % 2,
            step,
            step + 2,
            f"t{step % 7}",
            "ABCDE"[step * step % 5],
            7,
            Leaves.CLEAN if step % 3 else Leaves.DIRTY,
        )
        for step in range(300)
    ]
    model = CostModel(penalty=PenaltyF(read_line=1, write_back=5), cold_start=True)
    lengths = [parse_window(text) for text in ("5", "20", "100", "whole")]
    found = compare_trace(
        trace_from_rows(rows), model, windows=lengths, time_limit=0, workers=1, waits=None
    )
    for window in found.windows:
        assert window.closed == window.rolling_closed == window.count
        assert window.bound <= window.rolling
