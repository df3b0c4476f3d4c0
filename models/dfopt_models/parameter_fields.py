"""Readers of the tables of a parameter file: numbers, their ranges and their sources.

Every table with numbers may have ``x-range``, which gives for each number that is not known
exactly the least and the greatest value, and ``x-source``, which says where each number comes
from. A source that begins with ``assumed`` marks its number as an assumption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from dfopt.errors import FileError
from dfopt.files.fields import at, fields_of
from dfopt.files.strict_toml import described_toml
from dfopt.structs import shown_place

T = TypeVar("T")

Range = tuple[float, float]
"""The least and the greatest value that a parameter may have."""

RANGES, SOURCES = "x-range", "x-source"
"""Keys that other readers of the formats may ignore."""

ASSUMED = "assumed"
"""A source that begins with this word says that nobody measured or published the value."""

ENDS_OF_RANGE = 2


def is_assumed(source: str | None) -> bool:
    """Whether a source says that its value is an assumption."""
    return source is not None and source.lower().startswith(ASSUMED)


def table_fields(value: object, known: Iterable[str], *, required: Iterable[str]) -> dict[str, Any]:
    """Return the known keys of a table and their values.

    Raises
    ------
    FileError
        When it is no table, or a key is unknown or missing.
    """
    if not isinstance(value, dict):
        raise FileError(f"must be a table, not {described_toml(value)}")
    return fields_of(value, tuple(known), required=tuple(required))


def tables_of(place: str, read: Callable[[Any], T], values: object) -> tuple[T, ...]:
    """Return what an array of tables holds; errors name the array and the position."""
    tables = array(place, values)
    return tuple(at(f"{place}[{position}]", read, table) for position, table in enumerate(tables))


def array(place: str, values: object, what: str = "") -> list[Any]:
    """Refuse anything but an array, of tables unless the text ``what`` says of what else."""
    if not isinstance(values, list):
        wanted = what or f"an array of tables [[{place}]]"
        raise FileError(f"must be {wanted}, not {described_toml(values)}", place=place)
    return values


def numbers_of(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the numbers of these names; errors name the key."""
    return {name: at(name, number, fields[name]) for name in names if name in fields}


def number(value: object) -> float:
    """Refuse anything but a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f"must be a number, not {described_toml(value)}")
    return value


def ranges_and_sources(value: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return what a table says of its numbers, as ``ranges`` and ``sources``."""
    names = tuple(names)
    return {
        "ranges": at(RANGES, lambda table: ranges_of(table, names), value.get(RANGES, {})),
        "sources": sources_in(value),
    }


def ranges_of(value: object, names: Iterable[str]) -> dict[str, Range]:
    """Return a table of ranges ``[least, greatest]``."""
    fields = table_fields(value, names, required=())
    return {name: at(name, _range, limits) for name, limits in fields.items()}


def sources_in(table: Mapping[str, Any]) -> dict[str, str]:
    """Return where the numbers of a table come from, by their names."""
    return at(SOURCES, _texts, table.get(SOURCES, {}))


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise FileError(f"must be a table of texts, not {described_toml(value)}")
    for name, text in value.items():
        if not isinstance(text, str):
            raise FileError(
                f"must be a text, not {described_toml(text)}", place=shown_place((name,))
            )
    return dict(value)


def _range(value: object) -> Range:
    if not isinstance(value, list):
        raise FileError(f"must be [least, greatest], not {described_toml(value)}")
    if len(value) != ENDS_OF_RANGE:
        raise FileError(f"must be two numbers, [least, greatest]; here are {len(value)}")
    least, greatest = (at(f"[{end}]", number, limit) for end, limit in enumerate(value))
    return least, greatest
