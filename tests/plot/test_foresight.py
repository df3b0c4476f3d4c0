"""Costs by cause, rolling schedules and bounds, and curves of look-ahead."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes

from dfopt import replace
from dfopt.compare.comparison import Comparison
from dfopt.compare.comparison_parts import Cause, Realised
from dfopt.compare.cost_model import CostModel
from dfopt.errors import DfoptError
from dfopt.plot import plot_foresight, plot_look_ahead, save_picture
from dfopt.plot.style import lay_out
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyG
from tests.compare.examples import causes, comparison, window

FIRST = comparison(policy="fcfs", model=CostModel(penalty=PenaltyG(fill=2, write_back=0)))
SECOND = replace(
    FIRST,
    policy="data-affinity",
    managed=36,
    realised=Realised(total=18, worst=9, switches=9),
    causes=causes(first_load=18),
    windows=(
        window("5", bound=0, rolling=18, realised=18),
        window("whole", bound=9, rolling=9, realised=18),
    ),
)


def second_axes(ax: Axes) -> Axes:
    found: Axes = ax.figure.axes[1]
    return found


def bars(ax: Axes, row: int) -> list[float]:
    """Return the lengths of the bars of a row, from top to bottom and left to right."""
    own = [
        bar
        for bar in ax.patches
        if row - 0.5 < bar.get_y() + bar.get_height() / 2 < row + 0.5 and bar.get_width()
    ]
    own.sort(key=lambda bar: (round(bar.get_y() + bar.get_height() / 2, 3), bar.get_x()))
    return [bar.get_width() for bar in own]


def legends(ax: Axes) -> dict[str, Any]:
    """Return what stands for each name in the legends of a figure."""
    return {
        text.get_text(): handle
        for legend in ax.figure.legends
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }


def curves(ax: Axes) -> list[list[float]]:
    return [[float(y) for y in line.get_ydata()] for line in ax.lines if len(line.get_ydata()) > 2]


def test_bars_are_costs_by_cause() -> None:
    ax = plot_foresight([FIRST, SECOND])
    # By cause, then the rolling schedule and the bound.
    assert bars(ax, 0) == pytest.approx([2, 6, 4, 6, 4])
    assert bars(ax, 1) == pytest.approx([18, 9, 9])
    texts = [text.get_text() for text in ax.texts]
    assert "3.00 × its bound" in texts
    assert "2.00 × its bound" in texts
    assert "50%" in texts
    assert ax.get_xlabel() == "penalty on all CPUs (ns)"


def test_long_costs_do_not_touch_each_other() -> None:
    paid = 1_560_000_000
    long = replace(
        FIRST,
        policy="smpbatch-smash",
        realised=Realised(total=paid, worst=paid, switches=9),
        causes=causes(first_load=paid),
        windows=tuple(replace(window, rolling=paid // 5) for window in FIRST.windows),
    )
    ax = plot_foresight([long, replace(long, policy="data-affinity")])
    lay_out(ax)
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert len(boxes) > 2
    assert all(one.x1 + 3 < other.x0 for one, other in pairwise(boxes))


def test_curves_begin_with_what_was_paid() -> None:
    ax = second_axes(plot_foresight([FIRST, SECOND]))
    assert curves(ax) == [
        pytest.approx([12, 9, 6]),
        pytest.approx([18, 18, 9]),
    ]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["as it ran", "5", "whole"]


def test_the_area_below_a_curve_ends_at_the_bound() -> None:
    ax = second_axes(plot_foresight([SECOND]))
    (area,) = ax.collections
    corners = {tuple(map(float, corner)) for corner in area.get_paths()[0].vertices}
    assert {y for _, y in corners} == {0, 18, 9}
    assert {y for x, y in corners if x == 1} == {0, 18}


def test_windows_in_time_have_units() -> None:
    windows = (window("500us", bound=1, rolling=2), window("10ms", bound=1, rolling=1))
    ax = second_axes(plot_foresight([replace(FIRST, windows=windows)]))
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        "as it ran",
        "500 µs",
        "10 ms",
    ]


def test_costs_that_differ_much_can_all_be_read() -> None:
    windows = (window("5", bound=0, rolling=900), window("whole", bound=3, rolling=3))
    ax = second_axes(plot_foresight([comparison(windows=windows)]))
    assert ax.get_yscale() == "symlog"
    assert [label.get_text() for label in ax.get_yticklabels()][:3] == ["0", "1", "10"]
    low, high = ax.get_ylim()
    assert low == 0
    assert high > 900


def test_a_bound_of_nothing_has_no_ratio() -> None:
    windows = (window("5", bound=0, rolling=0),)
    texts = [text.get_text() for text in plot_foresight([comparison(windows=windows)]).texts]
    assert "∞ × its bound" in texts


def test_write_backs_are_told_in_the_legend() -> None:
    ax = plot_foresight([comparison(causes={Cause.WRITE_BACK: 7, Cause.SPLIT: 2})])
    assert list(legends(ax))[:2] == ["fragment split over CPUs", "changed data written back"]


def test_policies_are_called_by_their_names_where_these_differ() -> None:
    def names(*comparisons: Comparison) -> list[str]:
        ax = plot_foresight(comparisons)
        return [label.get_text() for label in ax.get_yticklabels()]

    assert names(FIRST, SECOND) == ["fcfs", "data-affinity"]
    assert names(FIRST, replace(SECOND, policy="fcfs", name="other")) == ["made by hand", "other"]
    assert names(FIRST, replace(SECOND, policy=None, name="$x_1$")) == ["made by hand", "$x_1$"]


def test_the_legend_says_which_line_is_which_trace() -> None:
    ax = plot_foresight([FIRST, SECOND])
    drawn = {line.get_marker(): line.get_color() for line in second_axes(ax).lines}
    shown = [legends(ax)[name] for name in ("fcfs", "data-affinity")]
    assert drawn == {line.get_marker(): line.get_color() for line in shown}


def test_every_window_has_its_name() -> None:
    windows = tuple(
        window(label, bound=1, rolling=9 - place)
        for place, label in enumerate(("5", "10", "20", "50", "1000", "whole"))
    )
    ax = plot_look_ahead([replace(FIRST, windows=windows)])
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert names == ["as it ran", "5", "10", "20", "50", "1000", "whole"]
    assert len(ax.lines[0].get_xdata()) == len(names)


def test_one_length_of_window_has_no_curves() -> None:
    ax = plot_foresight([replace(one, windows=one.windows[-1:]) for one in (FIRST, SECOND)])
    assert len(ax.figure.axes) == 1


def test_the_most_expensive_cpu_under_max_penalty() -> None:
    model = CostModel(objective=Objective.MAX_PENALTY)
    ax = plot_foresight([replace(one, model=model) for one in (FIRST, SECOND)])
    assert bars(ax, 0)[:3] == pytest.approx([1, 4, 2])
    assert ax.get_xlabel().startswith("changes of fragment on the most expensive CPU")


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 9, 16])
@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_nothing_overlaps(tmp_path: Path, count: int, ending: str) -> None:
    lengths = [str(step * 10**power) for power in range(1, 5) for step in (1, 2, 5)]
    drawn = [
        replace(
            FIRST,
            policy=f"a policy with quite a long name, the number {number} of all",
            windows=tuple(
                window(label, bound=2, rolling=2 * place + 6 * 5**number)
                for place, label in enumerate([*lengths, "whole"])
            ),
        )
        for number in range(count)
    ]
    ax = plot_foresight(drawn)
    save_picture(ax, tmp_path / f"policies.{ending}")
    lay_out(ax)  # at the figure's own resolution again
    figure = ax.figure
    for axis in (ax.yaxis, second_axes(ax).xaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
        for one, other in pairwise(boxes):
            assert not one.overlaps(other)
    # Nothing leaves the figure, and no legend hides anything.
    for part in (*figure.axes, *figure.legends, *ax.texts, *ax.get_yticklabels()):
        box = part.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
    for part in figure.axes:
        box = part.get_tightbbox()
        assert not box.count_overlaps([legend.get_window_extent() for legend in figure.legends])


def test_costs_of_nothing() -> None:
    nothing = replace(
        FIRST,
        causes=causes(),
        realised=Realised(total=0, worst=0, switches=0),
        windows=(window("5", bound=0, rolling=0, realised=0), FIRST.windows[1]),
    )
    nothing = replace(
        nothing, windows=(nothing.windows[0], replace(nothing.windows[0], window="9"))
    )
    ax = plot_foresight([nothing, replace(nothing, policy="other")])
    assert bars(ax, 0) == []


def test_nothing_to_draw_is_refused() -> None:
    for comparisons in ([], [replace(FIRST, windows=()), SECOND]):
        with pytest.raises(DfoptError, match="there is no window to draw"):
            plot_foresight(comparisons)
    with pytest.raises(DfoptError, match="share no axis"):
        plot_foresight(
            [FIRST, replace(SECOND, windows=(window("5ms", bound=1, rolling=1), SECOND.windows[1]))]
        )
