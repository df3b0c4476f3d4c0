"""Windows whose dispatches leave their fragments differently, against all their schedules."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.compare import CostModel, compare_trace, parse_window
from dfopt.compare.mixed_exact import best_held
from dfopt.compare.mixed_packing import MixedPacking, WindowCosts
from dfopt.compare.mixed_window import (
    Kind,
    MixedWindow,
    canonical_order,
    form_of,
    instance_of,
    lower_bound,
    renamed,
)
from dfopt.compare.problem import EMPTY, FOREIGN, FREE
from dfopt.problem.cache_state import CacheState, Leaves
from dfopt.problem.instance import Task
from dfopt.problem.penalties import PenaltyF
from dfopt.solvers.contents import Contents
from tests.compare import naive
from tests.compare.naive import least_cost
from tests.trace.traces import trace_from_rows

STEPS = 10_000

states = (
    st.sampled_from((FREE, EMPTY))
    | st.tuples(st.sampled_from((FOREIGN, 0, 1)), st.sampled_from(Leaves))
)  # fmt: skip


@st.composite
def mixed_windows(draw: st.DrawFn, *, most: int = 5) -> MixedWindow:
    """Draw a window with at most ``most`` dispatches of up to three fragments."""
    cpus = draw(st.integers(1, 3))
    fragments: list[dict[tuple[int, Leaves], int]] = [{}, {}, {}]
    count = draw(st.integers(1, most))
    for _ in range(count):
        kind = draw(st.tuples(st.sampled_from((0, 1, 4)), st.sampled_from(Leaves)))
        own = draw(st.sampled_from(fragments))
        own[kind] = own.get(kind, 0) + 1
    kinds: tuple[tuple[Kind, ...], ...] = tuple(
        tuple((entry, left, count) for (entry, left), count in sorted(own.items()))
        for own in fragments
        if own
    )

    def known(state: Any) -> Any:
        return state if isinstance(state, int) or state[0] < len(kinds) else (FOREIGN, state[1])

    return MixedWindow(
        capacity=draw(st.integers(-(-count // cpus), count)),
        fragments=kinds,
        write_back=draw(st.sampled_from((1, 3, 5))),
        states=tuple(known(draw(states)) for _ in range(cpus)),
        final=draw(st.booleans()),
        by_worst=draw(st.booleans()),
    )


def naive_window(window: MixedWindow) -> naive.Window:
    """Return the dispatches of a window one by one."""
    return naive.Window(
        penalty=PenaltyF(read_line=1, write_back=window.write_back),
        tasks=tuple(
            Task(id=f"{number}.{copy}", df=str(fragment), lines=entry, leaves=left)
            for number, (fragment, (entry, left, count)) in enumerate(window.kinds())
            for copy in range(count)
        ),
        states=tuple(
            state if isinstance(state, int) else CacheState(df=str(state[0]), leaves=state[1])
            for state in window.states
        ),
        fixed=((),) * len(window.states),
        capacity=window.capacity,
        final=window.final,
        by_worst=window.by_worst,
    )


def costs_of(window: MixedWindow) -> WindowCosts:
    return WindowCosts(window, form_of(window, instance_of(window)))


def assert_schedule(window: MixedWindow, contents: Contents) -> None:
    held = contents.held()
    assert max(sum(own.values()) for own in held) <= window.capacity
    for number, (_, (_, _, count)) in enumerate(window.kinds()):
        assert sum(own.get(number, 0) for own in held) == count


@given(mixed_windows())
def test_bounds_lie_below_every_schedule_and_packings_above(window: MixedWindow) -> None:
    least = least_cost(naive_window(window))
    bound = lower_bound(window)
    assert bound <= least
    packed = MixedPacking(window, costs_of(window), bound).best()
    assert_schedule(window, packed)
    assert window.value(packed.costs) >= least


@given(mixed_windows())
def test_names_of_fragments_do_not_matter(window: MixedWindow) -> None:
    turned = renamed(window, list(range(len(window.fragments)))[::-1])
    assert renamed(turned, canonical_order(turned)) == renamed(window, canonical_order(window))


@given(mixed_windows(), st.integers(0, 3), st.sampled_from((0, 6, STEPS)))
@settings(max_examples=150)
def test_the_exact_program_finds_the_optimum(window: MixedWindow, excess: int, cut: int) -> None:
    window = MixedWindow(
        capacity=window.capacity,
        fragments=window.fragments,
        write_back=window.write_back,
        states=window.states,
        final=window.final,
        by_worst=False,
    )
    least = least_cost(naive_window(window))
    costs = costs_of(window)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dfopt.compare.mixed_exact.MOST_DEALINGS", cut)
        held, bound = best_held(window, costs.form, least + excess, STEPS)
    assert bound <= least
    if cut == STEPS:
        assert bound == least
        assert (held is None) == (excess == 0)
    if held is not None:
        contents = Contents(costs, held)
        assert_schedule(window, contents)
        assert least <= sum(contents.costs) < least + excess


@given(mixed_windows())
def test_of_cheapest_orders_the_one_that_ends_with_the_latest_fragment(window: MixedWindow) -> None:
    costs = costs_of(window)
    contents = MixedPacking(window, costs, 0).best()
    naive_one = naive_window(window)
    fragments = [fragment for fragment, _ in window.kinds()]
    latest = list(range(len(window.fragments)))
    for cpu, parts in enumerate(contents.parts):
        if not parts:
            continue
        tasks = [
            task
            for part in parts.values()
            for number, count in part.items()
            for task in [one for one in naive_one.tasks if one.id.startswith(f"{number}.")][:count]
        ]
        ends = {
            order[-1].df
            for order in naive.permutations(tasks)
            if naive.order_cost(naive_one, naive_one.states[cpu], order) == contents.costs[cpu]
        }
        last = costs.last(cpu, parts, latest)
        assert str(fragments[last]) == max(ends, key=lambda df: int(df or 0))


def test_the_exact_program_gives_up() -> None:
    window = MixedWindow(
        capacity=3,
        fragments=(((4, Leaves.CLEAN, 2),), ((4, Leaves.DIRTY, 3),)),
        write_back=5,
        states=(FREE, FREE),
        final=False,
        by_worst=False,
    )
    assert best_held(window, costs_of(window).form, 100, 1) == (None, 0)
    assert best_held(window, costs_of(window).form, 100, STEPS)[1] == 0


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
    found = compare_trace(trace_from_rows(rows), model, windows=lengths, time_limit=0, workers=1)
    for one in found.windows:
        assert one.closed == one.rolling_closed == one.count
        assert one.bound <= one.rolling
