"""The foresight curve: what stands where, and what can be read on it."""

from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from dfopt.compare.comparison import OrderKept
from dfopt.compare.cost_model import CostModel
from dfopt.compare.realised import Realised
from dfopt.compare.window_length import WindowKind
from dfopt.errors import DfoptError
from dfopt.plot import plot_foresight, save_picture
from dfopt.plot.costs import cost_text
from dfopt.plot.foresight import SIZE
from dfopt.plot.look_ahead import length_text
from dfopt.plot.picture import lay_out
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyG
from tests.compare.examples import comparison, window


def ticks(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_xticklabels()]


def legends(ax: Axes) -> list[str]:
    found = [child for child in ax.get_children() if isinstance(child, Legend)]
    return [text.get_text() for legend in found for text in legend.get_texts()]


def curves(ax: Axes) -> list[list[float]]:
    return [list(line.get_ydata()) for line in ax.lines if len(line.get_xdata()) > 2]


WINDOWS = (
    window("whole", bound=4, rolling=6),
    window("5", bound=2, rolling=11),
    window("100", bound=3, rolling=8),
)


def test_curves_run_from_short_windows_to_the_whole_trace() -> None:
    ax = plot_foresight([comparison(windows=WINDOWS)])
    assert ticks(ax) == ["5", "100", "whole"]
    assert curves(ax) == [[11, 8, 6], [2, 3, 4]]
    assert any(list(line.get_ydata()) == [12, 12] for line in ax.lines)
    assert ax.get_xscale() == "log"
    assert ax.get_ylim()[0] == 0
    assert "in managed dispatches" in ax.get_xlabel()


def points(ax: Axes) -> dict[float, float]:
    """Return the positions and costs of single points."""
    singles = [line for line in ax.lines if len(line.get_xdata()) == 1]
    return {line.get_ydata()[0]: line.get_xdata()[0] for line in singles}


def test_what_other_cpus_alone_save_stands_at_look_ahead_0() -> None:
    kept = OrderKept(online=10, best=9, bound=9)
    ax = plot_foresight([comparison(windows=WINDOWS, order_kept=kept)])
    assert ticks(ax) == ["5", "100", "whole", "0"]
    assert set(points(ax)) == {9, 10}
    assert max(points(ax).values()) < 5
    assert legends(ax)[-2:] == ["order kept, online", "order kept, best"]
    kept = OrderKept(online=10, best=None, bound=None)
    assert set(points(plot_foresight([comparison(windows=WINDOWS, order_kept=kept)]))) == {10}


def test_one_trace_is_the_title_and_several_are_named_below() -> None:
    alone = plot_foresight([comparison(windows=WINDOWS)])
    assert alone.get_legend().get_title().get_text() == "made by hand"
    assert legends(alone)[:3] == ["realised", "rolling schedule: looks ahead", "bound"]
    ax = plot_foresight([comparison(name=name, windows=WINDOWS) for name in ("_old", "$new")])
    assert {"_old", "$new", "realised"} < set(legends(ax))
    assert len({line.get_color() for line in ax.lines if len(line.get_xdata()) > 2}) == 2


def test_traces_of_several_policies_are_called_by_these() -> None:
    several = [comparison(policy=name, windows=WINDOWS) for name in ("fcfs", "lifo")]
    assert {"fcfs", "lifo"} < set(legends(plot_foresight(several)))
    assert plot_foresight(several[:1]).get_legend().get_title().get_text() == "made by hand"


def test_windows_in_time_have_units() -> None:
    windows = (window("500us", bound=1, rolling=2), window("10ms", bound=1, rolling=1))
    assert ticks(plot_foresight([comparison(windows=windows)])) == ["500 µs", "10 ms", "whole"]
    assert length_text(2_500_000_000, WindowKind.TIME) == "2.5 s"


@pytest.mark.parametrize(
    ("model", "label"),
    [
        (CostModel(), "changes of fragment on all CPUs"),
        (CostModel(penalty=PenaltyG(fill=2, write_back=0)), "penalty on all CPUs (ns)"),
        (
            CostModel(penalty=PenaltyG(fill=2, write_back=0), objective=Objective.MAX_PENALTY),
            "penalty on the most expensive CPU (ns)",
        ),
    ],
)
def test_costs_have_a_unit(model: CostModel, label: str) -> None:
    assert plot_foresight([comparison(model=model)]).get_ylabel() == label


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [["a" * 60, "b", "c", "d", "e"], [f"policy {number}" for number in range(40)]]
)
def test_nothing_lies_outside_the_picture(tmp_path: Path, names: list[str]) -> None:
    ax = plot_foresight([comparison(name=name, windows=WINDOWS) for name in names])
    save_picture(ax, tmp_path / "a.png")
    lay_out(ax)  # for the figure's own resolution
    figure = ax.figure
    assert ax.get_window_extent().height > 0.5 * SIZE[1] * figure.dpi
    for legend in (child for child in ax.get_children() if isinstance(child, Legend)):
        box = legend.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height


def test_where_nothing_is_paid_there_is_one_zero() -> None:
    free = window("whole", bound=0, rolling=0, realised=0)
    ax = plot_foresight([comparison(windows=(free,))])
    lay_out(ax)
    assert ax.get_ylim() == (0, 1)
    assert [label.get_text() for label in ax.get_yticklabels()].count("0") == 1


def test_long_costs_are_written_short() -> None:
    assert cost_text(99_999_999_999) == "99,999,999,999"
    assert cost_text(1.5e16) == "1.5e+16"


def test_the_whole_trace_alone_is_drawn(tmp_path: Path) -> None:
    ax = plot_foresight([comparison(windows=WINDOWS[:1])])
    save_picture(ax, tmp_path / "a.svg")
    assert ticks(ax) == ["whole"]


def test_axes_of_the_caller_are_used() -> None:
    ax = Figure().add_subplot()
    assert plot_foresight([comparison()], ax=ax) is ax


@pytest.mark.parametrize("labels", [(), ("100", "10ms")])
def test_what_has_no_axis_is_refused(labels: tuple[str, ...]) -> None:
    windows = tuple(window(label, bound=1, rolling=1) for label in labels)
    with pytest.raises(DfoptError, match=r"no window to draw|share no axis"):
        plot_foresight([comparison(windows=windows)])


def test_costs_that_differ_much_can_all_be_read() -> None:
    windows = (window("5", bound=0, rolling=900), window("whole", bound=3, rolling=3))
    ax = plot_foresight([comparison(windows=windows)])
    assert ax.get_yscale() == "symlog"
    assert [label.get_text() for label in ax.get_yticklabels()][:3] == ["0", "1", "10"]
    low, high = ax.get_ylim()
    assert low == 0
    assert high > 900


def test_costs_are_in_a_unit_that_is_read_well() -> None:
    paid = 240_000_000
    large = comparison(
        model=CostModel(penalty=PenaltyG(fill=2, write_back=0)),
        realised=Realised(total=paid, worst=paid, switches=12),
        windows=(window("whole", bound=paid // 2, rolling=paid, realised=paid),),
    )
    ax = plot_foresight([large])
    lay_out(ax)
    assert ax.get_ylabel() == "penalty on all CPUs (ms)"
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert {"0", "200"} < set(labels)
    assert max(map(len, labels)) == 3
