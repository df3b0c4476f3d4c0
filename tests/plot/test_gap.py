"""The gap: bars by cause, marks for the least possible, ratios."""

from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dfopt.compare.comparison import Cause
from dfopt.compare.cost_model import CostModel
from dfopt.errors import DfoptError
from dfopt.plot import plot_gap, save_picture
from dfopt.problem.instance import Objective
from tests.compare.examples import causes, comparison, window


def widths(ax: Axes) -> list[float]:
    return [bar.get_width() for bar in ax.patches if bar.get_width()]


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def legend(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_bar_adds_up_to_what_was_paid() -> None:
    ax = plot_gap([comparison()])
    assert widths(ax) == [2, 6, 4]
    assert texts(ax) == ["17%", "50%", "33%", "2.00 × its rolling\n3.00 × its bound"]
    assert legend(ax) == [
        "first load", "fragment revisited", "fragment split over CPUs",
        "rolling: looks ahead in its own\ndispatches (window: whole)",
        "bound of its own\ndispatches (window: whole)",
    ]  # fmt: skip
    assert [label.get_text() for label in ax.get_yticklabels()] == ["made by hand"]
    assert {line.get_xdata()[0] for line in ax.lines} == {4, 6}
    assert ax.get_xlabel().endswith("as if a dispatch could run before its task was woken")


def test_the_most_expensive_cpu_is_what_max_penalty_counts() -> None:
    model = CostModel(objective=Objective.MAX_PENALTY)
    ax = plot_gap([comparison(model=model)])
    assert widths(ax) == [1, 4, 2]
    assert ax.get_xlabel().startswith("changes of fragment on the most expensive CPU\n")


def test_the_first_trace_is_on_top() -> None:
    ax = plot_gap([comparison(name="_old"), comparison(name="$new")])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["_old", "$new"]
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_where_only_the_bound_is_0_there_is_no_ratio() -> None:
    ax = plot_gap([comparison(windows=(window("5", bound=0, rolling=0),))])
    assert texts(ax)[-1] == "∞ × its rolling\n∞ × its bound"
    assert "bound of its own\ndispatches (window: 5)" in legend(ax)


def test_nothing_paid_is_drawn(tmp_path: Path) -> None:
    free = comparison(causes=causes(), windows=(window("whole", bound=0, rolling=0, realised=0),))
    save_picture(plot_gap([free]), tmp_path / "a.pdf")
    assert texts(plot_gap([free])) == ["1.00 × its rolling\n1.00 × its bound"]


def test_axes_of_the_caller_are_used() -> None:
    ax = Figure().add_subplot()
    assert plot_gap([comparison()], ax=ax) is ax


@pytest.mark.parametrize("traces", [[], [comparison(windows=())]])
def test_nothing_to_draw_is_refused(traces: list) -> None:
    with pytest.raises(DfoptError, match="no window to draw"):
        plot_gap(traces)


def test_long_names_take_two_lines() -> None:
    ax = plot_gap([comparison(name="hackbench_proc_g4_l200.perf_sched_script.txt.gz")])
    (label,) = ax.get_yticklabels()
    assert label.get_text() == "hackbench_proc_g4_l200.perf_\nsched_script.txt.gz"


def test_large_ratios_have_no_decimal_places() -> None:
    ax = plot_gap([comparison(windows=(window("5", bound=1, rolling=2, realised=2634),))])
    assert texts(ax)[-1] == "1,317 × its rolling\n2,634 × its bound"


def test_write_backs_are_said_in_words() -> None:
    ax = plot_gap([comparison(causes={Cause.WRITE_BACK: 7, Cause.SPLIT: 2})])
    assert legend(ax)[:2] == ["fragment split over CPUs", "changed data written back"]
