"""Times as logs write them, and how finely they are written."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation, Overflow

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.trace.time_units import NANOSECONDS

SECONDS_OF_DIGITS = {0: 86_400, 2: 3_600, 4: 60, 6: 1}
"""How long the last part of a time of the day lasts, by the number of its digits."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogUnits:
    """The units of times in a log that are numbers.

    Parameters
    ----------
    point, duration
        The units of points in time, and of durations.
    """

    point: str
    duration: str

    @property
    def trace(self) -> str:
        """The unit of the trace: ms, or the smallest of them if it is smaller."""
        return min("ms", self.point, self.duration, key=NANOSECONDS.__getitem__)

    def in_trace(self, unit: str) -> Decimal:
        """Return how many units of the trace another unit is."""
        return Decimal(NANOSECONDS[unit]) / NANOSECONDS[self.trace]


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
        self._factor = units.in_trace(units.point if is_point else units.duration)
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
        value = written_number(text)
        if value is not None:
            if abs(value) > LARGEST_TOTAL / self._factor:
                raise FileError(
                    f"{self.name!r} is {text!r}; write a number up to 2^62", place=f"line {line}"
                )
            decimals = -min(0, int(Decimal(text).as_tuple().exponent))
            self._is_written_to(self._factor.scaleb(-decimals))
            return int((value * self._factor).to_integral_value())
        if not self._is_point:
            raise FileError(
                f"{self.name!r} is {text!r}; write a number such as 0.5", place=f"line {line}"
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


def written_number(text: str) -> Decimal | None:
    """Return the number that a text is, or None."""
    try:
        value = Decimal(text)
    except (InvalidOperation, Overflow):
        return None
    return value if value.is_finite() else None


def seconds_resolved(text: str) -> Decimal:
    """Return how finely a time in ISO 8601 is written, in seconds."""
    _, _, clock = text.replace("T", " ").partition(" ")
    clock = re.sub(r"[Zz+-].*", "", clock)
    whole, *fraction = re.split("[.,]", clock)
    if fraction:
        return Decimal(1).scaleb(-len(fraction[0]))
    return Decimal(SECONDS_OF_DIGITS.get(sum(map(str.isdecimal, whole)), 1))
