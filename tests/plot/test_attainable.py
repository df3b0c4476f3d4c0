"""What was attainable, as bars: what each one says."""

from pathlib import Path

import pytest
from matplotlib.axes import Axes

from dfopt import replace
from dfopt.compare.attainable.switches_take_time import WithSwitches
from dfopt.compare.comparison import Comparison
from dfopt.errors import DfoptError
from dfopt.plot import plot_attainable, save_picture
from dfopt.plot.style import lay_out
from dfopt.time_units import readable_time
from tests.compare.examples import comparison, frontier

COMPARISON = comparison(frontier=frontier(), time_unit="ns")


def bars(ax: Axes, *, hatched: bool) -> dict[float, float]:
    """Return the lengths of bars by their middles."""
    return {
        round(bar.get_y() + bar.get_height() / 2, 6): bar.get_width()
        for bar in ax.patches
        if bool(bar.get_hatch()) is hatched and bar.get_width()
    }


def test_each_schedule_has_a_bar_with_what_is_proven_about_it() -> None:
    ax = plot_attainable([COMPARISON])
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [
        "recorded",
        "same timeline",
        "nobody later",
        "longest wait 1 ms",
        "same mean wait;\nsome may wait longer",
        "patience 30 µs, knows no\nfuture; some may wait longer",
    ]
    middles = ax.get_yticks().tolist()
    # What is proven is drawn upon the cost, so that each bar ends with one of the two colours.
    assert bars(ax, hatched=True) == dict(zip(middles[1:5], (11, 6, 5, 3), strict=True))
    costs = [text.get_text() for text in ax.texts[1:]]
    assert costs[0] == "12 ns   mean wait 60 µs"
    assert [int(text.split()[0]) for text in costs] == [12, 11, 7, 5, 6, 8]
    (bounds,) = ax.lines
    assert bounds.get_xdata().tolist() == [11, 5, 3, 3]
    below = [int(height) for height in bounds.get_ydata()]
    assert below == middles[1:5]
    said = [text.get_text() for legend in ax.figure.legends for text in legend.get_texts()]
    assert said[0] == "what the schedule pays"


def test_bars_need_no_waits() -> None:
    rows = tuple(replace(row, total_wait=None, p99_wait=None) for row in frontier().rows[:2])
    ax = plot_attainable([comparison(frontier=frontier(rows=rows, patience=()))])
    assert [text.get_text().strip() for text in ax.texts[1:]] == ["12 ns", "11 ns"]


def test_the_recorded_run_alone_is_not_drawn() -> None:
    known = frontier(rows=frontier().rows[:1], left_out="no reason")
    with pytest.raises(DfoptError, match="has no schedules to draw: no reason"):
        plot_attainable([comparison(frontier=known)])


def test_several_traces_stand_below_each_other() -> None:
    ax = plot_attainable([COMPARISON, replace(COMPARISON, name="$other")])
    names = {text.get_text() for text in ax.texts}
    assert {"made by hand", "$other"} <= names
    ticks = ax.get_yticks()
    assert len(ticks) == 12
    (title,) = [text for text in ax.texts if text.get_text() == "$other"]
    # The name stands between the bars of both traces, and touches neither them nor the axis.
    assert ticks[5] + 0.5 < title.xy[1] < ticks[6] - 0.5
    lay_out(ax)
    assert title.get_window_extent().x0 > ax.get_window_extent().x0 + 2


@pytest.mark.parametrize(
    ("found", "problem"),
    [([comparison()], "has no frontier; compare it again"), ([], "there is no trace to draw")],
)
def test_what_cannot_be_drawn(found: list[Comparison], problem: str) -> None:
    with pytest.raises(DfoptError, match=problem):
        plot_attainable(found)


def test_the_same_picture_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        save_picture(plot_attainable([COMPARISON]), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_axis_says_where_switches_delay_nothing() -> None:
    assert "delayed nothing" not in plot_attainable([COMPARISON]).get_xlabel()
    timed = WithSwitches(later=2, latest_by=7, total_wait=100, p99_wait=9, mean_wait=5.555556)
    rows = [replace(row, with_switches=timed) for row in frontier().rows]
    known = replace(COMPARISON, frontier=replace(frontier(), rows=tuple(rows)))
    ax = plot_attainable([known])
    assert "delayed nothing" in ax.get_xlabel()
    mean = 100 / rows[0].dispatches
    assert ax.texts[1].get_text() == f"12 ns   mean wait {readable_time(mean, 'ns')}, 2 start later"
