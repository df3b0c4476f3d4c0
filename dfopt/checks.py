"""Checks of single values, for files and for Python callers alike."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from dfopt.errors import InstanceError

LARGEST_TOTAL = 2**62
"""The largest number and the largest sum of costs, so that every solver can use 64 bits."""

LONGEST_SHOWN_TEXT = 60


def check_integer(value: object, place: str, *, least: int = 0, most: int = LARGEST_TOTAL) -> None:
    """Refuse anything but an integer from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InstanceError(f"must be an integer, not {described(value)}", place=place)
    if value < least:
        raise InstanceError(f"must be at least {least}, not {described(value)}", place=place)
    if value > most:
        limit = ", more than 2^62" if most == LARGEST_TOTAL else f"; at most {most} are supported"
        raise InstanceError(f"is {described(value)}{limit}", place=place)


def check_name(value: object, place: str) -> None:
    """Refuse anything but a string that can be written as UTF-8."""
    if not isinstance(value, str):
        raise InstanceError(f"must be a string, not {described(value)}", place=place)
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise InstanceError("holds half a surrogate pair, which is no text", place=place)


def check_type(name: str | None, types: Collection[str], place: str) -> None:
    """Refuse a missing or unknown type name."""
    if name is None:
        raise InstanceError("is missing; name one of penalty.types", place=f"{place}.type")
    if name not in types:
        raise InstanceError(f"{described(name)} is not one of penalty.types", place=f"{place}.type")


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return the end of a sentence that refuses a name: which is meant, or else which there are."""
    nearest = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {nearest[0]!r}?" if nearest else f"there are {', '.join(known)}"


def described(value: object) -> str:
    """Return a short text for a wrong value."""
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**40 else "a huge integer"
    return text if len(text) <= LONGEST_SHOWN_TEXT else f"{text[: LONGEST_SHOWN_TEXT - 1]}…"
