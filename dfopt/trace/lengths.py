"""What the lengths of a trace's dispatches include."""

from __future__ import annotations

from enum import StrEnum


class Lengths(StrEnum):
    """Whether the lengths of dispatches include what the switches to them take."""

    WITHOUT_SWITCHES = "without-switches"
    """A dispatch starts when the switch to it is over."""

    WITH_SWITCHES = "with-switches"
    """A dispatch starts with the switch to it."""
