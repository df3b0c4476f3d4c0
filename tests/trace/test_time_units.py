"""Times in units that are read well."""

import pytest

from dfopt.time_units import full_time, readable_time


@pytest.mark.parametrize(
    ("length", "unit", "short", "full"),
    [
        (12_000_000_000, "ns", "12 s", "12 s"),
        (83_571_429, "ns", "83.6 ms", "83.571429 ms"),
        (999, "us", "999 µs", "999 µs"),
        (39_750, "ms", "39.8 s", "39.75 s"),
        (3_600, "s", "3,600 s", "3,600 s"),
        (0, "ns", "0", "0"),
        (1_234_567, "cycles", "1,234,567 cycles", "1,234,567 cycles"),
        (40, None, "40", "40"),
    ],
)
def test_times(length: int, unit: str | None, short: str, full: str) -> None:
    assert readable_time(length, unit) == short
    assert full_time(length, unit) == full
