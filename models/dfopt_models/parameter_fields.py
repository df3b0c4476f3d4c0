"""What the source of a number says of it."""

from __future__ import annotations

ASSUMED = "assumed"
"""A source that begins with this word says that nobody measured or published the value."""


def is_assumed(source: str | None) -> bool:
    """Whether a source says that its value is an assumption."""
    return source is not None and source.lower().startswith(ASSUMED)
