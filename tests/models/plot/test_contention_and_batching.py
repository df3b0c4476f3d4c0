"""Pictures of contention and of batches: what they show."""

import pytest

from dfopt import replace
from dfopt_models.batching import BATCHING
from dfopt_models.contention import CONTENTION
from dfopt_models.plot import plot_batching, plot_contention


def legend_of(axes):
    (legend,) = axes.figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_misses_and_work_against_cpus():
    model = CONTENTION.read("sohn-kim")
    left, right = plot_contention(model).axes
    curves = [line for line in left.lines if line.get_linestyle() != "None"]
    assert [line.get_ydata()[-1] for line in curves] == pytest.approx(
        [92.0, 12.4, 92.0, 10.5], abs=0.1
    )
    marks = [line for line in left.lines if line.get_marker() == "o"]
    assert sorted(mark.get_ydata()[0] for mark in marks) == [12, 92]
    (spinning,) = (line for line in right.lines if line.get_marker() == "o")
    assert spinning.get_ydata()[0] == 8
    assert "measured" in legend_of(right)


def test_nothing_measured_and_many_cpus():
    model = replace(CONTENTION.read("sohn-kim"), published=(), cpus=(1, 500), buffers=None)
    left, right = plot_contention(model).axes
    assert len(left.lines[0].get_xdata()) < 60
    assert "measured" not in legend_of(right)


def test_gains_and_the_curve_of_misses():
    model = BATCHING.read("debattista")
    left, right = plot_batching(model).axes
    curves = [line for line in left.lines if line.get_marker() != "None"]
    assert [line.get_ydata()[7] for line in curves] == pytest.approx(
        [1.839, 1.726, 1.348, 1.218], abs=0.001
    )
    stars = [line for line in right.lines if line.get_marker() == "*"]
    assert [star.get_ydata()[0] for star in stars] == [2.125 / 4, 3 / 4, 10 / 4, 18 / 4]


def test_one_granularity_whose_data_all_fit():
    model = replace(BATCHING.read("debattista"), cache_lines=10**7, granularities=(8,))
    left, right = plot_batching(model).axes
    assert set(left.lines[0].get_ydata()) == {1.0}
    assert not [line for line in right.lines if line.get_marker() == "*"]
