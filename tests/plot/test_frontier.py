"""The frontier: what stands where, and what can be read on it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from dfopt import replace
from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.compare.attainable.switches_take_time import WithSwitches
from dfopt.compare.comparison import Comparison
from dfopt.errors import DfoptError
from dfopt.plot import plot_frontier, save_picture
from dfopt.plot.frontier import MEANINGS, STYLES
from dfopt.plot.style import lay_out
from tests.compare.examples import comparison, frontier, frontier_row

US = 1000
COMPARISON = comparison(frontier=frontier())


def points(ax: Axes, marker: str) -> list[list[tuple[float, float]]]:
    """Return the points of all lines with a marker."""
    return [
        list(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for line in ax.lines
        if line.get_marker() == marker and len(line.get_xdata())
    ]


def legends(ax: Axes) -> list[str]:
    return [text.get_text() for legend in ax.figure.legends for text in legend.get_texts()]


def test_costs_stand_against_the_mean_wait() -> None:
    ax = plot_frontier([COMPARISON])
    assert points(ax, "D") == [[(60 * US, 11)], [(60 * US, 12)]]
    assert points(ax, "o") == [[(25 * US, 7), (430 * US, 5)]]
    assert points(ax, "^") == [[(25 * US, 5), (430 * US, 3)]]
    assert points(ax, "s") == [[(55 * US, 6)]]
    assert points(ax, "x") == [[(30 * US, 10), (50 * US, 8), (90 * US, 7)]]
    assert ax.get_xlabel() == "mean wait of a dispatch (µs)"
    assert ax.get_xscale() == "log"
    assert ax.get_ylim()[0] == 0


def test_one_trace_has_its_points_named() -> None:
    ax = plot_frontier([COMPARISON])
    texts = {text.get_text() for text in ax.texts}
    assert {"recorded: 12 ns", "nobody later: 7 ns", "1 ms: 5 ns"} <= texts
    assert ax.get_title(loc="left") == "made by hand"
    assert legends(ax) == [MEANINGS.get(name, name) for name in STYLES]


def test_names_stand_nearest_to_their_own_points() -> None:
    """Points of nearly the same cost stand close to each other."""
    rows = (
        frontier_row(Scheduling.RECORDED, 191, 3_070),
        frontier_row(Scheduling.SAME_TIMELINE, 186, 3_070),
        frontier_row(Scheduling.NOBODY_LATER, 78, 2_810),
    )
    ax = plot_frontier([replace(COMPARISON, frontier=frontier(rows=rows, patience=()))])
    lay_out(ax)
    named = {text.get_text(): text for text in ax.texts}
    assert {*named} == {"recorded: 191 ns", "same timeline: 186 ns", "nobody later: 78 ns"}
    for text in named.values():
        box = text.get_window_extent()
        own = ax.transData.transform(text.xy)

        def distance(point: Any, box: Any = box) -> float:
            return float(np.hypot(*(point - np.clip(point, box.min, box.max))))

        others = [ax.transData.transform(other.xy) for other in named.values()]
        assert distance(own) == min(map(distance, others)), text


def test_several_traces_have_colours_and_names() -> None:
    ax = plot_frontier([COMPARISON, replace(COMPARISON, name="$other")])
    assert not ax.texts
    assert {"made by hand", "$other", "recorded"} <= set(legends(ax))
    assert len({line.get_color() for line in ax.lines}) == 2


def test_waits_of_one_size_stand_on_a_plain_axis() -> None:
    rows = [row for row in frontier().rows if row.wait != 10**6]
    ax = plot_frontier([comparison(frontier=frontier(rows=tuple(rows)))])
    assert ax.get_xscale() == "linear"
    assert ax.get_xlabel() == "mean wait of a dispatch (µs)"
    assert ax.get_xlim()[0] == 0


@pytest.mark.parametrize("unit", [None, "cycles"])
def test_a_unit_that_is_no_time_is_named(unit: str | None) -> None:
    ax = plot_frontier([replace(COMPARISON, time_unit=unit)])
    assert ax.get_xlabel() == "mean wait of a dispatch" + (" (cycles)" if unit else "")


def row(scheduling: Scheduling, **more: int) -> FrontierRow:
    return frontier_row(scheduling, 0, 0, **more)


def test_nothing_to_pay_and_nothing_waits() -> None:
    rows = (row(Scheduling.RECORDED), row(Scheduling.NOBODY_LATER, wait=0, bound=0))
    ax = plot_frontier([comparison(frontier=WaitingFrontier(rows=rows))])
    assert ax.get_xlim()[1] > 0


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ([comparison()], "made by hand: has no frontier; compare it again with one"),
        (
            [
                comparison(
                    frontier=WaitingFrontier(rows=frontier().rows[:1], left_out="no wake-ups")
                )
            ],
            "made by hand: has no frontier to draw: no wake-ups",
        ),
        (
            [comparison(frontier=WaitingFrontier(rows=frontier().rows[:1]))],
            "to draw: an interrupt came first",
        ),
        ([COMPARISON, replace(COMPARISON, time_unit="us")], "draw them one by one"),
        ([], "there is no trace to draw"),
    ],
)
def test_what_cannot_be_drawn(found: list[Comparison], problem: str) -> None:
    with pytest.raises(DfoptError, match=problem):
        plot_frontier(found)


def test_the_same_picture_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        save_picture(plot_frontier([COMPARISON]), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_waits_that_differ_little_fill_the_axis() -> None:
    rows = tuple(
        replace(row, total_wait=18 * (1000 + 10 * number))
        for number, row in enumerate(frontier().rows)
    )
    ax = plot_frontier([comparison(frontier=WaitingFrontier(rows=rows))])
    begin, end = ax.get_xlim()
    assert 900 < begin < 1000
    assert 1050 < end < 1100


def test_waits_that_do_not_differ_leave_room_beside_them() -> None:
    rows = tuple(replace(row, total_wait=18 * 1000) for row in frontier().rows)
    begin, end = plot_frontier([comparison(frontier=WaitingFrontier(rows=rows))]).get_xlim()
    assert begin < 1000 < end


def test_the_axis_says_where_switches_delay_nothing() -> None:
    assert "delayed" not in plot_frontier([COMPARISON]).get_xlabel()
    timed = WithSwitches(later=2, latest_by=7, total_wait=100, p99_wait=9, mean_wait=5.555556)
    rows = tuple(replace(row, with_switches=timed) for row in frontier().rows)
    ax = plot_frontier([comparison(frontier=frontier(rows=rows))])
    assert ax.get_xlabel().endswith(", as if switches delayed nothing")
