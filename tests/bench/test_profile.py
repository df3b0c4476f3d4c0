"""Performance profiles of methods, by hand."""

import math
from pathlib import Path

import pytest

from dfopt import replace
from dfopt.bench import Row, RowStatus, performance_ratios, share_within
from dfopt.bench.summary import profile_table
from dfopt.errors import DfoptError
from dfopt.plot import plot_profile, save_picture
from dfopt.problem.result import StopReason
from tests.bench.test_table import ROW


def row(instance: str, method: str, seconds: float, **fields: object) -> Row:
    return replace(ROW, sha256=instance, method=method, wall_time_s=seconds, **fields)  # type: ignore[arg-type]


LATE = StopReason.TIME_LIMIT
EXAMPLE = [
    row("a", "auto", 1), row("a", "dp", 2),
    row("b", "auto", 6), row("b", "dp", 3),
    row("c", "auto", 9, stop_reason=LATE), row("c", "dp", 4, stop_reason="gap-limit"),
    row("d", "auto", 9, stop_reason=LATE), row("d", "dp", 0.1, status=RowStatus.ERROR),
]  # fmt: skip
RATIOS = {"auto": [1, 2, math.inf, math.inf], "dp": [2, 1, 1, math.inf]}


def test_ratios_are_multiples_of_the_shortest_time() -> None:
    assert performance_ratios(EXAMPLE) == RATIOS
    assert share_within(RATIOS["auto"], 1) == 1 / 4
    assert share_within(RATIOS["auto"], 2) == share_within(RATIOS["auto"], 1e9) == 2 / 4
    assert share_within(RATIOS["dp"], 1.9) == 2 / 4
    assert share_within(RATIOS["dp"], 2) == 3 / 4


def test_the_table_has_the_usual_factors() -> None:
    table = profile_table(RATIOS)
    assert [column.name for column in table.columns] == [
        "method", "1×", "2×", "5×", "10×", "100×", "solved"
    ]  # fmt: skip
    assert table.rows == [
        ("auto", 0.25, 0.5, 0.5, 0.5, 0.5, 0.5),
        ("dp", 0.5, 0.75, 0.75, 0.75, 0.75, 0.75),
    ]
    assert table.notes[0].startswith("of 4 instances")


def test_what_cannot_be_compared_is_left_out() -> None:
    """An instance without a row of each method says nothing, nor do times of moments."""
    rows = [row("a", "auto", 0.002), row("a", "dp", 0.02), row("b", "auto", 1)]
    assert performance_ratios(rows) == {"auto": [1], "dp": [2]}
    refuted = [row("a", "auto", 1, verified="no"), row("a", "dp", 5)]
    assert performance_ratios(refuted) == {"auto": [math.inf], "dp": [1]}


def test_settings_of_one_method_are_methods_of_their_own() -> None:
    rows = [row("a", "auto", 1), row("a", "auto", 3, seed=7)]
    assert performance_ratios(rows) == {"auto-s0-t0.1-w2": [1], "auto-s7-t0.1-w2": [3]}


def test_lines_go_up_at_the_ratios(tmp_path: Path) -> None:
    ax = plot_profile(RATIOS)
    auto, dp = ax.lines
    assert list(zip(auto.get_xdata(), auto.get_ydata(), strict=True)) == [
        (1, 0.25), (2, 0.5), (2.4, 0.5)
    ]  # fmt: skip
    assert list(zip(dp.get_xdata(), dp.get_ydata(), strict=True)) == [
        (1, 0.5), (2, 0.75), (2.4, 0.75)
    ]  # fmt: skip
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["auto", "dp"]
    assert ax.get_xscale() == "log"
    save_picture(ax, tmp_path / "profile.png")
    assert (tmp_path / "profile.png").stat().st_size > 1000


@pytest.mark.parametrize("ratios", [{}, {"auto": [1.0]}, {"auto": [], "dp": []}])
def test_a_method_alone_has_no_profile(ratios: dict[str, list[float]]) -> None:
    with pytest.raises(DfoptError, match="needs two methods and an instance"):
        plot_profile(ratios)
