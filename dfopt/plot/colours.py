"""Colours for fragments: told apart by colour-blind readers too, and light enough for dark text."""

from __future__ import annotations

import math
from collections.abc import Iterable

Colour = tuple[float, float, float]

BASE = ("#77AADD", "#EE8866", "#EEDD88", "#44BB99", "#FFAABB", "#BBCC33", "#99DDFF", "#AAAA00")
"""The light scheme of Paul Tol, made for cells that carry a label, without its grey."""

INK: Colour = (0.13, 0.13, 0.13)
PAPER: Colour = (1.0, 1.0, 1.0)

SHADES: tuple[tuple[Colour, float], ...] = ((PAPER, 0.0), (INK, 0.55), (PAPER, 0.5))
"""The colour that is mixed into the base colours, and its share, for each round of them."""


def group_colours(groups: Iterable[str]) -> dict[str, Colour]:
    """Return a colour for each group, in order; after three times eight they begin again."""
    colours = {}
    for number, group in enumerate(groups):
        towards, share = SHADES[number // len(BASE) % len(SHADES)]
        colours[group] = mixed(parsed(BASE[number % len(BASE)]), towards, share)
    return colours


def parsed(code: str) -> Colour:
    """Return the colour of a code such as ``#77AADD``."""
    red, green, blue = (int(code[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def mixed(colour: Colour, towards: Colour, share: float) -> Colour:
    """Return ``colour`` with this share of another one mixed in."""
    red, green, blue = (a + share * (b - a) for a, b in zip(colour, towards, strict=True))
    return red, green, blue


def contrast(colour: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours, 1 to 21, after WCAG 2."""
    dark, light = sorted((_luminance(colour), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def ink_on(colour: Colour) -> Colour:
    """Return the text colour that is easier to read on ``colour``."""
    return max((INK, PAPER), key=lambda ink: contrast(ink, colour))


def _luminance(colour: Colour) -> float:
    red, green, blue = (math.pow(part, 2.2) for part in colour)  # sRGB's curve, nearly
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
