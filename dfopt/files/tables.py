"""Readers of TOML tables: each turns a value into a checked one, and errors name its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dfopt.errors import FileError
from dfopt.files.fields import at, fields_of
from dfopt.files.strict_toml import described_toml

Reader = Callable[[Any], Any]
Table = dict[str, Any]


def flag(value: object) -> bool:
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
