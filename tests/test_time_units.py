import pytest

from dfopt.time_units import unit_text


@pytest.mark.parametrize(
    ("amount", "unit", "text"),
    [
        (23, "unit", "23 units"),
        (1, "unit", "1 unit"),
        (0, "cycle", "0 cycles"),
        (23, "us", "23 us"),
        (23, "of my own", "23 of my own"),
        (23, "", "23"),
        (23, None, "23"),
    ],
)
def test_only_words_have_a_plural(amount, unit, text):
    assert f"{amount}{unit_text(unit, amount)}" == text
