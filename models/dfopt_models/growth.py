"""Speed and cache of future machines: the paths along which they grow."""

from __future__ import annotations

from enum import StrEnum

LARGE, HUGE = 1000, 10**9
"""A number from the first to the second is written out, with commas between thousands."""


class GrowthPath(StrEnum):
    """A path through the plane of speed and cache, both relative to today's machine.

    It begins with today's machine, at speed 1 and cache 1. A machine on it is named by the product
    of both.
    """

    EQUAL = "equal"
    """Speed and cache grow alike: s = c."""

    SPEED = "speed"
    """Processors grow faster, caches stay as they are: c = 1."""

    CACHE = "cache"
    """Caches grow, processors stay as they are: s = 1."""

    LIMIT = "limit"
    """Caches are so large that a reallocation with affinity has no penalty: its term is dropped."""

    @property
    def meaning(self) -> str:
        """The path in a few words."""
        return MEANINGS[self]


MEANINGS = {
    GrowthPath.EQUAL: "both growing alike",
    GrowthPath.SPEED: "cache as today",
    GrowthPath.CACHE: "speed as today",
    GrowthPath.LIMIT: "caches so large that affinity costs nothing",
}


KNOWN_DIGITS = 2
"""Significant digits of a product that ranges or confidence intervals make uncertain."""


def growth_text(growth: float, digits: int = 4) -> str:
    """Return a speed, a cache or their product, relative to today, in significant digits."""
    shown = f"{growth:.{digits}g}"
    if growth < LARGE:
        shown = f"{float(shown):g}"  # two digits of 999 are 1e+03
    return f"{float(shown):,.0f}" if LARGE <= growth < HUGE else shown
