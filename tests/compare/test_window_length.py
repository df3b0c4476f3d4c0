"""The beginnings and ends of windows."""

import numpy as np
import pytest
from hypothesis import given

from dfopt.compare import WHOLE, CostModel, Window, foresight_windows, parse_window
from dfopt.compare.dispatches import dispatches_of
from dfopt.compare.written_times import WindowKind, in_unit_of, window_starts
from dfopt.errors import DfoptError, MethodError
from dfopt.trace import Trace, TraceHeader
from tests.compare.drawn import labelled_traces, models, windows
from tests.compare.naive import naive_windows
from tests.trace.traces import trace_from_rows


@given(labelled_traces(), models(), windows)
def test_windows_are_those_of_a_walk(trace: Trace, model: CostModel, window: Window) -> None:
    dispatches = dispatches_of(trace, model)
    starts = window_starts(dispatches, window)
    assert [part.tolist() for part in np.split(dispatches.row, starts[1:])] == naive_windows(
        trace, model, window
    )


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
