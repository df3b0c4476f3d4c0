"""Times of a trace's own clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import MethodError
from dfopt.trace.between import clock_time, parse_clock_time, since_beginning
from dfopt.trace.trace import Trace
from tests.trace.traces import SMALL


def with_unit(unit: str | None, begin: int = 0) -> Trace:
    """Return a trace whose times are in a unit, with another beginning."""
    later = begin - int(SMALL.start[0])
    header = replace(SMALL.header, time_unit=unit)
    return replace(SMALL, start=SMALL.start + later, end=SMALL.end + later, header=header)


@given(st.sampled_from(["ns", "us", "ms", "s", "cycles", None]), st.integers(0, 10**12))
def test_every_time_of_a_trace_can_be_written(unit: str | None, begin: int) -> None:
    trace = with_unit(unit, begin)
    for time in {*trace.start.tolist(), *trace.end.tolist()}:
        written = str(clock_time(trace, time))
        assert since_beginning(trace, parse_clock_time(written)) == time - begin


def test_digits_below_the_unit_are_cut() -> None:
    trace = with_unit("us", 5_000_000)
    assert since_beginning(trace, parse_clock_time("@5.0000019")) == 1


def test_a_clock_without_seconds_has_whole_times() -> None:
    with pytest.raises(MethodError, match=r"@5\.5 is no time .* are whole cycles"):
        since_beginning(with_unit("cycles"), parse_clock_time("@5.5"))
