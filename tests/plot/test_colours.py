"""Colours: distinct, and readable under a label."""

from dfopt.plot.colours import BASE, INK, PAPER, SHADES, contrast, group_colours, ink_on, parsed

ALL = len(BASE) * len(SHADES)


def test_colours_differ_until_they_run_out() -> None:
    colours = group_colours(map(str, range(ALL + 1)))
    assert len(set(colours.values())) == ALL
    assert colours[str(ALL)] == colours["0"] == parsed(BASE[0])


def test_labels_can_be_read_on_every_colour() -> None:
    """WCAG 2 asks for a contrast of 4.5 at this size of text."""
    for colour in group_colours(map(str, range(ALL))).values():
        assert contrast(ink_on(colour), colour) >= 4.5


def test_contrast_runs_from_1_to_21() -> None:
    assert contrast((0, 0, 0), (1, 1, 1)) == 21
    assert contrast(INK, INK) == 1
    assert contrast(PAPER, INK) == contrast(INK, PAPER)


def test_codes_are_parsed() -> None:
    assert parsed("#00FF33") == (0, 1, 0.2)
