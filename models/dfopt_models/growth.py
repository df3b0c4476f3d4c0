"""How speed and cache of future machines grow together."""

from __future__ import annotations

from enum import StrEnum


class GrowthPath(StrEnum):
    """A path through the plane of speed and cache, both relative to today's machine.

    It begins today, at speed 1 and cache 1, and is measured by the product of both.
    """

    EQUAL = "equal"
    """Speed and cache grow alike: s = c."""

    SPEED = "speed"
    """Processors grow faster, caches stay as they are: c = 1."""

    CACHE = "cache"
    """Caches grow, processors stay as they are: s = 1."""

    LIMIT = "limit"
    """Caches are so large that what has affinity pays no penalty: the affinity term is dropped."""
