"""Times as logs write them, and how finely they are written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation, Overflow

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.trace.time_units import NANOSECONDS

SECONDS_OF_DIGITS = {0: 86_400, 2: 3_600, 4: 60, 6: 1}
"""How long the last part of a time of the day lasts, by the number of its digits."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_SECONDS = {unit: Decimal(ns).scaleb(-9) for unit, ns in NANOSECONDS.items()} | {
    "m": Decimal(60),
    "h": Decimal(3600),
}
_PART = re.compile(rf"([0-9]+(?:\.[0-9]+)?)\s*({'|'.join(_SECONDS)})\s*")
_PARTS = re.compile(f"(?:{_PART.pattern})+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogUnits:
    """The units of times in a log that are numbers.

    Parameters
    ----------
    point, duration
        The units of points in time, and of durations.
    of_cells
        The largest unit, from ms on, in which all durations with units of their own are whole.
    """

    point: str
    duration: str
    of_cells: str = "ms"

    @property
    def trace(self) -> str:
        """The unit of the trace: ms, or the smallest of them if it is smaller."""
        return min("ms", self.point, self.duration, self.of_cells, key=NANOSECONDS.__getitem__)

    def in_trace(self, unit: str) -> Decimal:
        """Return how many units of the trace another unit is."""
        return _SECONDS[unit] / _SECONDS[self.trace]


def unit_of_cells(cells: Iterable[str]) -> str | None:
    """Return the largest unit in which all times with units are whole; None if none has one."""
    found = [time for cell in cells if (time := time_with_unit(cell)) is not None]
    if not found:
        return None
    finest = min(resolution for _, resolution in found)
    return next((unit for unit in ("ms", "us") if finest >= _SECONDS[unit]), "ns")


class TimeColumn:
    """A column of times, which are returned in the trace's unit.

    Parameters
    ----------
    name
        What it is called.
    position
        Where it stands in a row.
    units
        Of times that are numbers.
    is_point
        Whether its times are points in time, which may be written in ISO 8601.
    """

    def __init__(self, name: str, position: int, units: LogUnits, *, is_point: bool) -> None:
        self.name = name
        self._position = position
        self._unit = units.point if is_point else units.duration
        self._second = units.in_trace("s")
        self._is_point = is_point
        self._finest: Decimal | None = None

    @property
    def resolution(self) -> int:
        """How far apart two times are at least, by the digits of those that were read.

        It is at least 1, since times are rounded to the trace's unit.
        """
        return max(1, math.ceil(self._finest or 0))

    def time(self, line: int, row: list[str]) -> int:
        """Return the time in a row.

        Raises
        ------
        FileError
            When it is no time.
        """
        text = row[self._position]
        if not text:
            raise FileError(
                f"{self.name!r} is empty; fill it in, or leave the line out (`where` chooses lines "
                "of a log)",
                place=f"line {line}",
            )
        written = written_time(text, self._unit)
        if written is not None:
            value, resolution = written
            if abs(value) > LARGEST_TOTAL / self._second:
                raise FileError(
                    f"{self.name!r} is {text!r}; write a number up to 2^62", place=f"line {line}"
                )
            self._is_written_to(resolution * self._second)
            return int((value * self._second).to_integral_value())
        if not self._is_point:
            raise FileError(
                f"{self.name!r} is {text!r}; write a number such as 0.5, or a time with units such "
                "as 1m2.5s",
                place=f"line {line}",
            )
        try:
            moment = datetime.fromisoformat(text.removesuffix(" UTC"))
        except ValueError:
            raise FileError(
                f"{self.name!r} is {text!r}; write a number such as 0.5, or ISO 8601 such as "
                "2026-01-31T12:00:00.5",
                place=f"line {line}",
            ) from None
        self._is_written_to(seconds_resolved(text) * self._second)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        since = moment - EPOCH
        microseconds = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        return int((Decimal(microseconds) * self._second / 1_000_000).to_integral_value())

    def _is_written_to(self, resolution: Decimal) -> None:
        if self._finest is None or resolution < self._finest:
            self._finest = resolution


def written_time(text: str, unit: str) -> tuple[Decimal, Decimal] | None:
    """Return the seconds that a text stands for, and those of its last digit.

    It may be a number in this unit, or have units of its own, as in ``9.5s`` or ``1m2.25s``. For
    any other text: None.
    """
    try:
        value = Decimal(text)
    except (InvalidOperation, Overflow):
        return time_with_unit(text)
    if not value.is_finite():
        return None
    return value * _SECONDS[unit], _SECONDS[unit].scaleb(min(0, _exponent(value)))


def time_with_unit(text: str) -> tuple[Decimal, Decimal] | None:
    """Return the seconds of a time with units, and those of its last digit; or None."""
    if _PARTS.fullmatch(text) is None:
        return None
    parts = [(Decimal(number), _SECONDS[unit]) for number, unit in _PART.findall(text)]
    number, unit = parts[-1]
    return sum((n * u for n, u in parts), Decimal(0)), unit.scaleb(_exponent(number))


def _exponent(number: Decimal) -> int:
    return int(number.as_tuple().exponent)


def seconds_resolved(text: str) -> Decimal:
    """Return how finely a time in ISO 8601 is written, in seconds."""
    _, _, clock = text.replace("T", " ").partition(" ")
    clock = re.sub(r"[Zz+-].*", "", clock)
    whole, *fraction = re.split("[.,]", clock)
    if fraction:
        return Decimal(1).scaleb(-len(fraction[0]))
    return Decimal(SECONDS_OF_DIGITS.get(sum(map(str.isdecimal, whole)), 1))
