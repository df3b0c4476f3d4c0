import pytest

from dfopt.confidence import confidence_interval


def test_interval_of_two():
    # Student's t with one degree of freedom at 97.5 % is 12.7062.
    interval = confidence_interval([1.0, 3.0])
    assert interval.mean == 2.0
    assert interval.half_width == pytest.approx(12.7062, abs=1e-4)


def test_interval_of_ten():
    interval = confidence_interval(range(10), confidence=0.9)
    # s² = 82.5 / 9, t(9, 95 %) = 1.8331.
    assert interval.mean == 4.5
    assert interval.half_width == pytest.approx(1.8331 * (82.5 / 90) ** 0.5, abs=1e-3)


def test_one_value_says_nothing_about_its_error():
    interval = confidence_interval([7.0])
    assert (interval.mean, interval.half_width) == (7.0, None)
