"""Representations that stay short, however much an object holds."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from reprlib import Repr
from typing import Any

WHOLE, LONGEST = 700, 400
"""Up to the first number of characters all is shown; where more is left out, up to the second."""

LIMITS = ((1000, 9, WHOLE), (10, 4, LONGEST), (4, 4, LONGEST), (2, 3, LONGEST), (1, 2, LONGEST))
"""Items of a collection, objects within objects, and characters: what to try in turn."""


def short_repr(self: Any) -> str:
    """Return how a dataclass is made, without defaults, and with the first items of what is long.

    Small objects are shown whole.
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
        if not is_dataclass(x):
            return super().repr1(x, level)
        if level <= 0:
            return f"{type(x).__name__}(...)"
        values = ((each, getattr(x, each.name)) for each in fields(x) if each.repr)
        shown = ", ".join(
            f"{each.name}={self.repr1(value, level - 1)}"
            for each, value in values
            if not _is_default(each, value)
        )
        return f"{type(x).__name__}({shown})"


def _is_default(each: Field[Any], value: object) -> bool:
    if each.default_factory is not MISSING:
        return bool(value == each.default_factory())
    return each.default is not MISSING and bool(value == each.default)
