"""Where windows begin and end."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from dfopt.compare import WHOLE, CostModel, Window, foresight_windows, parse_window
from dfopt.compare.demand import check_room, demands, windowed
from dfopt.compare.runs import runs_of
from dfopt.compare.windows import WindowKind, in_unit_of, window_starts
from dfopt.errors import DfoptError, MethodError
from dfopt.trace import Trace, TraceHeader
from dfopt.trace.trace import BROKEN_CHAIN, UNMANAGED
from tests.compare.drawn import labelled_traces, models, windows
from tests.compare.naive import counted
from tests.trace.traces import trace_from_rows


def naive_windows(trace: Trace, model: CostModel, window: Window) -> list[list[int]]:
    """Return the rows of each window, found by going from dispatch to dispatch."""
    cuts = [
        int(end)
        for end, reason in zip(trace.gaps.end, trace.gaps.reason, strict=True)
        if model.broken_chains == "cut" or trace.gaps.reasons[reason] != BROKEN_CHAIN
    ]
    found: list[list[int]] = []
    managed = began = before = 0
    first = None
    for one in counted(trace, model):
        start = int(trace.start[one.row])
        first = start if first is None else first
        is_cut = any(before < end <= start for end in cuts)
        match window.kind:
            case WindowKind.DISPATCHES:
                is_full = one.managed and managed == window.length
            case WindowKind.TIME:
                is_full = (start - first) // window.length != (began - first) // window.length
            case _:
                is_full = False
        if not found or is_cut or is_full:
            found.append([])
            managed, began = 0, start
        found[-1].append(one.row)
        managed += one.managed
        before = start
    return found


@given(labelled_traces(), models(), windows)
def test_windows_are_those_of_a_walk(trace: Trace, model: CostModel, window: Window) -> None:
    runs = runs_of(trace, model)
    starts = window_starts(runs, window)
    assert [part.tolist() for part in np.split(runs.row, starts[1:])] == naive_windows(
        trace, model, window
    )


@given(labelled_traces(), models(), windows)
def test_demands_are_those_of_a_count(trace: Trace, model: CostModel, window: Window) -> None:
    runs = runs_of(trace, model)
    table = windowed(runs, window_starts(runs, window))
    dispatches = {one.row: place for place, one in enumerate(counted(trace, model))}
    entry = dict(zip(runs.row.tolist(), runs.entry.tolist(), strict=True))
    for rows, demand in zip(naive_windows(trace, model, window), demands(table), strict=True):
        managed = [row for row in rows if trace.fragment[row] != UNMANAGED]
        sizes = Counter(int(trace.fragment[row]) for row in managed)
        assert dict(zip(demand.fragments, demand.sizes, strict=True)) == sizes
        assert demand.fragments == sorted(demand.fragments)
        loads = Counter(int(trace.cpu[row]) for row in managed)
        assert demand.load == max(loads.values(), default=0)
        for fragment, latest, entries in zip(
            demand.fragments, demand.latest, demand.entries, strict=True
        ):
            own = [row for row in managed if trace.fragment[row] == fragment]
            assert latest == dispatches[own[-1]]
            costs = sorted(entry[row] for row in own)[: trace.cpus + 1]
            assert [*entries, *entries[-1:] * len(costs)][: len(costs)] == costs
        evicting = [row for row in rows if trace.fragment[row] == UNMANAGED]
        fixed = [
            sorted(entry[row] for row in evicting if trace.cpu[row] == cpu)
            for cpu in range(trace.cpus)
        ]
        assert [sorted(costs) for costs in demand.fixed or [[]] * trace.cpus] == fixed


@given(labelled_traces(), models(), windows)
def test_parts_are_the_whole(trace: Trace, model: CostModel, window: Window) -> None:
    runs = runs_of(trace, model)
    table = windowed(runs, window_starts(runs, window))
    whole = list(demands(table))
    for number, demand in enumerate(whole):
        part = table.part(number, number + 1)
        (alone,) = demands(part)
        assert alone.sizes == demand.sizes
        assert _filled(alone.entries, table.cpus) == _filled(demand.entries, table.cpus)
        assert (alone.fixed or ((),) * table.cpus) == (demand.fixed or ((),) * table.cpus)
        assert part.freed.get(0) == table.freed.get(number)
        begin, end = table.rows(number)
        assert part.fragment.tolist() == table.fragment[begin:end].tolist()


def _filled(entries: list[tuple[int, ...]], cpus: int) -> list[list[int]]:
    """Return entry costs in full; the last one stands for all others."""
    return [[*costs, *costs[-1:] * cpus][:cpus] for costs in entries]


@pytest.mark.parametrize(
    ("text", "kind", "length"),
    [
        ("1", WindowKind.DISPATCHES, 1),
        ("0100", WindowKind.DISPATCHES, 100),
        ("0" * 30 + "7", WindowKind.DISPATCHES, 7),
        ("7ns", WindowKind.TIME, 7),
        ("500us", WindowKind.TIME, 500_000),
        ("500\u00b5s", WindowKind.TIME, 500_000),
        ("500\u03bcs", WindowKind.TIME, 500_000),
        ("10ms", WindowKind.TIME, 10_000_000),
        ("10 ms", WindowKind.TIME, 10_000_000),
        ("1s", WindowKind.TIME, 1_000_000_000),
        ("whole", WindowKind.WHOLE, 0),
    ],
)
def test_lengths_of_windows(text: str, kind: WindowKind, length: int) -> None:
    assert parse_window(text) == Window(kind=kind, length=length, label=text)


@pytest.mark.parametrize(
    "text",
    ["", "0", "0ms", "-1", "1.5ms", "1e3", "10min", "ms", "Whole", "1 0", "\u0661", "9" * 30,
     "5" * 5000, "9223372036s", "10MS"],
)  # fmt: skip
def test_what_is_no_window(text: str) -> None:
    with pytest.raises(DfoptError, match="is no window") as caught:
        parse_window(text)
    assert len(str(caught.value)) < 300


ROWS = [(0, time, time + 1, "t", "AB"[time % 2], None, None) for time in range(30)]


def test_a_foresight_curve_ends_with_the_whole() -> None:
    trace = trace_from_rows([*ROWS, (0, 30, 31, "x", None, None, None)])
    assert [window.label for window in foresight_windows(trace)] == ["5", "10", "20", "whole"]
    short = trace_from_rows(ROWS[:5])
    assert foresight_windows(short) == (WHOLE,)


@pytest.mark.parametrize(("unit", "length"), [("ns", 5_000_000), (None, 5_000_000), ("us", 5_000)])
def test_times_are_told_in_the_unit_of_the_trace(unit: str | None, length: int) -> None:
    trace = trace_from_rows(ROWS, header=TraceHeader(time_unit=unit))
    assert in_unit_of(trace, parse_window("5ms")).length == length
    assert in_unit_of(trace, parse_window("5")).length == 5


@pytest.mark.parametrize("unit", ["cycles", "s"])
def test_times_that_the_unit_of_the_trace_cannot_tell_are_refused(unit: str) -> None:
    trace = trace_from_rows(ROWS, header=TraceHeader(time_unit=unit))
    with pytest.raises(MethodError, match=f"5ms in a trace whose times are .*{unit}.*give"):
        in_unit_of(trace, parse_window("5ms"))


def test_a_capacity_must_hold_the_largest_window() -> None:
    runs = runs_of(trace_from_rows(ROWS), CostModel())
    table = windowed(runs, window_starts(runs, parse_window("20")))
    check_room(table, 10)
    with pytest.raises(MethodError, match="no room for a window of 20; raise the capacity"):
        check_room(table, 9)
