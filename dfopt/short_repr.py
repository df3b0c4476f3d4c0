"""Representations that stay short, however much an object holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from reprlib import Repr
from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields as struct_fields

WHOLE, LONGEST = 700, 400
"""Up to the first number of characters all is shown; where more is left out, up to the second."""

LIMITS = ((1000, 9, WHOLE), (10, 4, LONGEST), (4, 4, LONGEST), (2, 3, LONGEST), (1, 2, LONGEST))
"""Items of a collection, objects within objects, and characters: what to try in turn."""


def short_repr(self: Any) -> str:
    """Return how an object is made, without defaults, and with the first items of what is long.

    Small objects are shown whole. The object is a data class or a struct.
    """
    text = ""
    for most, levels, longest in LIMITS:
        text = _Shown(most).repr1(self, levels)
        if len(text) <= longest:
            break
    return text


class _Shown(Repr):
    """Shows a limited number of items of each collection."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.maxtuple = self.maxlist = self.maxdict = self.maxset = self.maxfrozenset = most
        self.maxstring = self.maxother = max(60, most)

    def repr1(self, x: Any, level: int) -> str:
        """Return a value as it is shown."""
        if isinstance(x, Enum):
            return repr(x.value)
        if not isinstance(x, Struct) and not is_dataclass(x):
            return super().repr1(x, level)
        if level <= 0:
            return f"{type(x).__name__}(...)"
        shown = ", ".join(
            f"{name}={self.repr1(value, level - 1)}"
            for name, default in _shown_fields(x)
            if (value := getattr(x, name)) != default
        )
        return f"{type(x).__name__}({shown})"


def _shown_fields(shown: Any) -> Iterator[tuple[str, object]]:
    """Yield the fields that are shown, and what they are where nobody gives a value."""
    if isinstance(shown, Struct):
        for field in struct_fields(shown):
            if field.name not in getattr(shown, "UNSHOWN", ()):
                factory = field.default_factory
                yield field.name, field.default if factory is NODEFAULT else factory()
        return
    for each in fields(shown):
        if each.repr:
            factory = each.default_factory
            yield each.name, each.default if factory is MISSING else factory()
