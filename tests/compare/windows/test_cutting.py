"""The demands of each window of a trace."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given

from dfopt.compare import CostModel, Window, parse_window
from dfopt.compare.dispatches import dispatches_of
from dfopt.compare.window_length import window_starts
from dfopt.compare.windows.cutting import check_room, cut, demands
from dfopt.compare.windows.window import DispatchClass
from dfopt.errors import MethodError
from dfopt.trace import Trace
from dfopt.trace.trace import UNMANAGED
from tests.compare.drawn import labelled_traces, models, windows
from tests.compare.naive import counted, naive_windows
from tests.trace.traces import trace_from_rows


def expanded(classes: Sequence[DispatchClass]) -> list[tuple[int, int]]:
    """Return entry and leave state of each dispatch."""
    return [(entry, leaves) for entry, leaves, count in classes for _ in range(count)]


@given(labelled_traces(), models(), windows)
def test_demands_are_those_of_a_count(trace: Trace, model: CostModel, window: Window) -> None:
    dispatches = dispatches_of(trace, model)
    table = cut(dispatches, window_starts(dispatches, window))
    places = {one.row: place for place, one in enumerate(counted(trace, model))}
    entry = dict(zip(dispatches.row.tolist(), dispatches.entry.tolist(), strict=True))
    leaves = dict(zip(dispatches.row.tolist(), dispatches.leaves.tolist(), strict=True))
    for rows, demand in zip(naive_windows(trace, model, window), demands(table), strict=True):
        managed = [row for row in rows if trace.fragment[row] != UNMANAGED]
        sizes = Counter(int(trace.fragment[row]) for row in managed)
        counts = [sum(task_class.copies for task_class in classes) for classes in demand.classes]
        assert dict(zip(demand.fragments, counts, strict=True)) == sizes
        assert demand.fragments == sorted(demand.fragments)
        loads = Counter(int(trace.cpu[row]) for row in managed)
        assert demand.load == max(loads.values(), default=0)
        for fragment, latest, classes in zip(
            demand.fragments, demand.latest, demand.classes, strict=True
        ):
            own = [row for row in managed if trace.fragment[row] == fragment]
            assert latest == places[own[-1]]
            listed = sorted((entry[row], leaves[row]) for row in own)
            if not table.leaves_differ:
                # Only the cheapest entries count; the next one stands for all others.
                most = listed[min(trace.cpus, len(listed) - 1)]
                listed = [min(one, most) for one in listed]
            assert expanded(classes) == listed
        for cpu in range(trace.cpus):
            evicting = [
                (entry[row], leaves[row])
                for row in rows
                if trace.fragment[row] == UNMANAGED and trace.cpu[row] == cpu
            ]
            assert expanded(demand.evicting[cpu] if demand.evicting else ()) == sorted(evicting)


@given(labelled_traces(), models(), windows)
def test_parts_are_the_whole(trace: Trace, model: CostModel, window: Window) -> None:
    dispatches = dispatches_of(trace, model)
    table = cut(dispatches, window_starts(dispatches, window))
    whole = list(demands(table))
    for number, demand in enumerate(whole):
        part = table.part(number, number + 1)
        (alone,) = demands(part)
        assert alone.classes == demand.classes
        nothing = ((),) * table.cpus
        assert (alone.evicting or nothing) == (demand.evicting or nothing)
        assert part.unknown.get(0) == table.unknown.get(number)
        begin, end = table.rows(number)
        assert part.fragment.tolist() == table.fragment[begin:end].tolist()


ROWS = [(0, time, time + 1, "t", "AB"[time % 2], None, None) for time in range(30)]


def test_a_capacity_must_hold_the_largest_window() -> None:
    dispatches = dispatches_of(trace_from_rows(ROWS), CostModel())
    table = cut(dispatches, window_starts(dispatches, parse_window("20")))
    check_room(table, 10)
    with pytest.raises(MethodError, match="no room for a window of 20; raise the capacity"):
        check_room(table, 9)
