"""Checks of single values, for files and for Python callers alike."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from enum import StrEnum
from typing import TYPE_CHECKING

from dfopt.errors import InstanceError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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


def check_integers(parameters: DataclassInstance, /, **least: int) -> None:
    """Refuse a dataclass whose ``int`` fields hold no integer, or less than ``least``, else 1."""
    for field in fields(parameters):
        if field.type in ("int", int):
            value = getattr(parameters, field.name)
            check_integer(value, field.name, least=least.get(field.name, 1))


def check_name(value: object, place: str) -> None:
    """Refuse anything but a string that can be written as UTF-8."""
    if not isinstance(value, str):
        raise InstanceError(f"must be a string, not {described(value)}", place=place)
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise InstanceError("holds half a surrogate pair, which is no text", place=place)


def check_optional_name(value: object, place: str) -> None:
    """Refuse anything but None or a string that can be written as UTF-8."""
    if value is not None:
        check_name(value, place)


def settle_choice(holder: object, name: str, choices: type[StrEnum]) -> None:
    """Refuse anything but a member of ``choices`` or its text, which is replaced by the member.

    ``holder`` is a data class while it is made, even a frozen one, and ``name`` an attribute.
    """
    value = getattr(holder, name)
    if isinstance(value, choices):
        return
    texts = [str(choice) for choice in choices]
    if value not in texts:
        names = ", ".join(map(repr, texts))
        raise InstanceError(f"must be one of {names}, not {described(value)}", place=name)
    object.__setattr__(holder, name, choices(value))


def check_type(name: str | None, types: Collection[str], place: str) -> None:
    """Refuse a missing or unknown type name."""
    if name is None:
        raise InstanceError("is missing; name one of penalty.types", place=f"{place}.type")
    if name not in types:
        raise InstanceError(f"{described(name)} is not one of penalty.types", place=f"{place}.type")


def described(value: object) -> str:
    """Return a short text for a wrong value."""
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**40 else "a huge integer"
    return text if len(text) <= LONGEST_SHOWN_TEXT else f"{text[: LONGEST_SHOWN_TEXT - 1]}…"
