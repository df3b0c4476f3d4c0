"""Colours: distinct, and readable under a label."""

import math

from dfopt.plot.style import BASE, PAPER, SHADES, Colour, group_colours, ink_on, line_style

ALL = len(BASE) * len(SHADES)


def contrast(colour: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours, 1 to 21, after WCAG 2."""

    def luminance(each: Colour) -> float:
        red, green, blue = (math.pow(part, 2.2) for part in each)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(colour), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_colours_differ_until_they_run_out() -> None:
    colours = group_colours(map(str, range(ALL + 1)))
    assert len(set(colours.values())) == ALL
    assert colours[str(ALL)] == colours["0"] == (0x77 / 255, 0xAA / 255, 0xDD / 255)


def test_labels_can_be_read_on_every_colour() -> None:
    """WCAG 2 asks for a contrast of 4.5 at this size of text."""
    for colour in group_colours(map(str, range(ALL))).values():
        assert contrast(ink_on(colour), colour) >= 4.5
    assert contrast((0, 0, 0), PAPER) == 21


def test_no_two_of_many_lines_are_alike() -> None:
    styles = [line_style(number) for number in range(24)]
    assert len({(style["color"], str(style["linestyle"])) for style in styles}) == 24
    assert len({(style["marker"], str(style["linestyle"])) for style in styles}) == 24
