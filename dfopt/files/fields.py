"""Readers of the parts of documents: each takes a parsed value and returns a checked one.

Their errors name the place of the value. Readers of larger parts are made of readers of smaller
ones.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from dfopt.checks import LARGEST_TOTAL, check_integer
from dfopt.errors import DfoptError, FileError
from dfopt.files.strict_json import Document, described_json
from dfopt.files.strict_toml import described_toml
from dfopt.other_words import keys_called
from dfopt.structs import LONGEST_KEY, is_free, shown_place

T = TypeVar("T")
Reader = Callable[[Any], Any]
Table = dict[str, Any]
Choice = TypeVar("Choice", bound=StrEnum)

CLOSE_ENOUGH = 0.5
"""A wrong key and its hint have at least this similarity: 'fd' and 'df' just have it."""

MISSPELT = 0.8
"""A key of this similarity is meant, even if another field has the wrong word for another key."""


def fields_of(
    value: object,
    known: Collection[str],
    *,
    required: Collection[str] = (),
    nullable: Collection[str] = (),
    unlikely: Collection[str] = (),
) -> Document:
    """Return the known keys of an object and their values.

    Parameters
    ----------
    value
        The object.
    known
        The keys it may have, besides the free ones.
    required
        Those it must have.
    nullable
        Those that may be null.
    unlikely
        Those that make no sense here: nobody who writes an unknown key means them.

    Raises
    ------
    FileError
        When ``value`` is no object, or a key is unknown, missing or null.
    """
    if not isinstance(value, dict):
        raise FileError(f"must be an object {{…}}, not {described_json(value)}")
    fields = {}
    for key, item in value.items():
        if key in known:
            if item is None and key not in nullable:
                remedy = "give it a value" if key in required else "leave the key out"
                raise FileError(f"must not be null; {remedy}", place=key)
            fields[key] = item
        elif not is_free(key):
            raise FileError(_unknown_key(key, known, unlikely), place=shown_place((key,)))
    for key in required:
        if key not in fields:
            raise FileError("is missing; it is required", place=key)
    return fields


def _unknown_key(key: str, known: Collection[str], unlikely: Collection[str]) -> str:
    short = key[:LONGEST_KEY].lower()
    likely = [word for word in known if word not in unlikely]
    meant = (
        difflib.get_close_matches(short, likely, n=1, cutoff=MISSPELT)
        or keys_called(short, likely)
        or difflib.get_close_matches(short, likely, n=1, cutoff=CLOSE_ENOUGH)
    )
    if meant:
        return f"unknown key; did you mean {' or '.join(map(repr, meant))}?"
    return f"unknown key; known are {', '.join(known)}, and your own may begin with 'x-'"


def at(place: str, read: Callable[[Any], T], value: object) -> T:
    """Return ``read(value)``; errors name ``place``."""
    try:
        return read(value)
    except DfoptError as error:
        raise error.within(place) from None


def each(place: str, read: Callable[[Any], T], values: object) -> tuple[T, ...]:
    """Return ``read`` of every entry of an array; errors name the entry."""
    if not isinstance(values, list):
        raise FileError(f"must be an array […], not {described_json(values)}", place=place)
    items = []
    for position, value in enumerate(values):
        try:
            items.append(read(value))
        except DfoptError as error:
            raise error.within(f"{place}[{position}]") from None
    return tuple(items)


def string(value: object) -> str:
    """Refuse anything but a string."""
    if not isinstance(value, str):
        raise FileError(f"must be a string, not {described_json(value)}")
    return value


def integer(value: object) -> int:
    """Refuse anything but an integer from 0 to 2^62."""
    check_integer(value, "")
    return value  # type: ignore[return-value]


def signed_integer(value: object) -> int:
    """Refuse anything but an integer from -2^62 to 2^62."""
    check_integer(value, "", least=-LARGEST_TOTAL)
    return value  # type: ignore[return-value]


def number(value: object) -> float:
    """Refuse anything but a number; NaN and Infinity are no JSON and never come here."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f"must be a number, not {described_json(value)}")
    if abs(value) > LARGEST_TOTAL:
        raise FileError(f"is {described_json(value)}, more than 2^62")
    return value


def optional(read: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """Return a reader that lets null pass."""
    return lambda value: None if value is None else read(value)


def choice(choices: type[Choice]) -> Callable[[Any], Choice]:
    """Return a reader of one of the words of an enumeration."""
    words = {str(word): word for word in choices}
    listed = ", ".join(map(repr, words))

    def read(value: object) -> Choice:
        if not isinstance(value, str) or value not in words:
            problem = f"must be one of {listed}, not {described_json(value)}"
            meant = keys_called(value, words) if isinstance(value, str) else []
            hint = f"; did you mean {' or '.join(map(repr, meant))}?" if meant else ""
            raise FileError(problem + hint)
        return words[value]

    return read


def boolean(value: object) -> bool:
    """Refuse anything but true and false."""
    if not isinstance(value, bool):
        raise FileError(f"must be true or false, not {described_toml(value)}")
    return value


def table(readers: Mapping[str, Reader], required: tuple[str, ...] = ()) -> Reader:
    """Return a reader of tables with these keys."""

    def read(value: object) -> Table:
        fields = fields_of(_table(value), tuple(readers), required=required)
        return {key: at(key, readers[key], item) for key, item in fields.items()}

    return read


def table_by_name(read: Reader) -> Reader:
    """Return a reader of tables with any keys."""

    def read_all(value: object) -> Table:
        return {key: at(key, read, item) for key, item in _table(value).items()}

    return read_all


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Table:
    """Return a table in which ``over`` comes before ``base``, table by table."""
    together = dict(base)
    for key, value in over.items():
        below = together.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            together[key] = merged(below, value)
        else:
            together[key] = value
    return together


def _table(value: object) -> Table:
    if not isinstance(value, dict):
        raise FileError(f"must be a table, not {described_toml(value)}")
    return value
