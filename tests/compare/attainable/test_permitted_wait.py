"""Permitted waits: how they are written, and what they are in a trace's unit."""

import warnings

import pytest

from dfopt.compare.written_times import (
    PermittedWait,
    parse_wait,
    usual_waits,
    wait_in,
)
from dfopt.errors import DfoptError, DfoptWarning, MethodError
from dfopt.trace import Trace, TraceHeader
from tests.trace.traces import trace_from_rows


def lasting(length: int, unit: str | None) -> Trace:
    rows = [(0, 100, 100 + length, "a", "A", None, None)]
    return trace_from_rows(rows, cpus=1, header=TraceHeader(time_unit=unit))


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("0", PermittedWait(length=0)),
        ("500", PermittedWait(length=500)),
        ("500us", PermittedWait(length=500, unit="us")),
        ("007 ms", PermittedWait(length=7, unit="ms")),
    ],
)
def test_waits_are_read(text: str, wait: PermittedWait) -> None:
    assert parse_wait(text) == wait


@pytest.mark.parametrize("text", ["-1ms", "ten", "1.5ms", "1 fortnight", "", "9" * 19 + "s"])
def test_what_is_no_wait_is_refused(text: str) -> None:
    with pytest.raises(DfoptError, match="is no wait; write a time from 0 on"):
        parse_wait(text)


@pytest.mark.parametrize(
    ("text", "unit", "length"),
    [
        ("1us", None, 1000),
        ("1us", "ns", 1000),
        ("3ms", "us", 3000),
        ("7", "cycles", 7),
        ("0", "s", 0),
    ],
)
def test_waits_are_in_the_unit_of_the_trace(text: str, unit: str | None, length: int) -> None:
    assert wait_in(lasting(10_000, unit), parse_wait(text)) == length


@pytest.mark.parametrize(("text", "unit"), [("1", "ns"), ("9999", "us")])
def test_a_plain_number_below_every_dispatch_is_warned_of(text: str, unit: str) -> None:
    trace = lasting(10_000, unit)
    with pytest.warns(DfoptWarning, match=rf"{text} without a unit means {text} {unit}, shorter"):
        assert wait_in(trace, parse_wait(text)) == int(text)


@pytest.mark.parametrize(
    ("text", "unit"), [("0", "ns"), ("1us", "ns"), ("7", "cycles"), ("7", None)]
)
def test_other_short_waits_are_meant(text: str, unit: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DfoptWarning)
        wait_in(lasting(10_000, unit), parse_wait(text))


@pytest.mark.parametrize(
    ("text", "unit", "problem"),
    [
        ("1500ns", "us", "whole us; give a multiple of 1us"),
        ("1ms", "cycles", "in 'cycles'; give a number in this unit"),
        ("10us", "ns", "is no limit in a trace that lasts 10 µs; permit less"),
    ],
)
def test_waits_that_a_trace_cannot_have(text: str, unit: str, problem: str) -> None:
    with pytest.raises(MethodError) as caught:
        wait_in(lasting(10_000, unit), parse_wait(text))
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("length", "unit", "waits"),
    [
        (30_000, "ns", ["100us", "1000us", "10000us"]),
        (25_000, "ms", ["1000000us", "10000000us", "100000000us"]),
        (25, "s", ["1000000us", "10000000us", "100000000us"]),
        (2, "ms", ["1000us", "10000us"]),  # 0.1 ms cannot be said in whole ms
        (30, "cycles", ["10", "100", "1000"]),
    ],
)
def test_usual_waits_fit_the_lengths_of_dispatches(
    length: int, unit: str, waits: list[str]
) -> None:
    rows = [(0, n * length, (n + 1) * length, "a", "A", None, None) for n in range(1000)]
    trace = trace_from_rows(rows, cpus=1, header=TraceHeader(time_unit=unit))
    assert [f"{wait.length}{wait.unit}" for wait in usual_waits(trace)] == waits


def test_usual_waits_are_limits_in_their_trace() -> None:
    trace = lasting(1_500_000, "ns")
    assert [wait_in(trace, wait) for wait in usual_waits(trace)] == [100_000]
