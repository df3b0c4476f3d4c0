"""Times as logs write them: numbers of a unit, times with units of their own, and ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError
from dfopt.time_units import NANOSECONDS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Powers of ten with an exponent, so that a product shows its last written digit by its own.
_NANOSECONDS = {unit: Decimal(length).normalize() for unit, length in NANOSECONDS.items()}
_NANOSECONDS |= {"m": Decimal("60E9"), "h": Decimal("3600E9")}
_PART = re.compile(rf"([0-9]+(?:\.[0-9]+)?)\s*({'|'.join(_NANOSECONDS)})\s*")
_PARTS = re.compile(f"(?:{_PART.pattern})+")

_UNIT_WORDS = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}
_UNIT_OF_NAME = re.compile(rf"(?:.*[\W_])?({'|'.join((*_UNIT_WORDS, *NANOSECONDS))})\W*")


def unit_in_name(column: str) -> str | None:
    """Return the unit with which a column's name ends, as in ``start_s`` and ``latency (ms)``."""
    found = _UNIT_OF_NAME.fullmatch(column.lower())
    return _UNIT_WORDS.get(found[1], found[1]) if found else None


def is_number(text: str) -> bool:
    """Return whether a time has no unit."""
    try:
        return abs(Decimal(text)) <= LARGEST_TOTAL
    except InvalidOperation:
        return False


def parsed_time(text: str, unit: str | None) -> Decimal | None:
    """Return the nanoseconds of ``9.5`` in this unit, of ``9.5s`` or of ``1m2.25s``; or None.

    The exponent is that of the last digit that is written.
    """
    if unit is not None and is_number(text):
        return Decimal(text) * _NANOSECONDS[unit]
    if _PARTS.fullmatch(text) is None:
        return None
    first, *others = (Decimal(number) * _NANOSECONDS[of] for number, of in _PART.findall(text))
    return sum(others, first)


def parsed_moment(text: str) -> Decimal | None:
    """Return the nanoseconds since 1970 of a time in ISO 8601, in UTC without a zone; or None."""
    try:
        moment = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        return None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    digits = re.search(r"[.,]([0-9]+)", text)
    seconds = since // timedelta(seconds=1) + Decimal(f"0.{digits[1]}" if digits else 0)
    return seconds * _NANOSECONDS["s"]


def parse_load_time(text: str, unit: str | None = None) -> int:
    """Return the nanoseconds of a load time such as ``25s``, or of ``2.5`` in this unit.

    Raises
    ------
    DfoptError
        When the text stands for no time, or has no unit and none is given.
    """
    # A wrong unit is refused when the log is read.
    time = parsed_time(text.strip(), unit if unit in (None, *NANOSECONDS) else "s")
    if time is None and is_number(text):
        raise DfoptError(f"{text!r} has no unit; write it, as in {text}s, or give `time_unit`")
    if time is None or time < 0:
        raise DfoptError(
            f"{text!r} is no load time; write a number from 0 on with its unit, such as 25s or "
            "2500ms"
        )
    return round(time)
