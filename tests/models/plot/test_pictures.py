"""Pictures of the response-time model: what they show, and that they can be saved."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.plot import save_picture
from dfopt.plot.style import lay_out
from dfopt_models.crossover import crossover_table, crossovers
from dfopt_models.growth import GrowthPath
from dfopt_models.plot import (
    BAR_WIDTH,
    RANGES,
    REPLICATIONS,
    decade_text,
    plot_crossover_planes,
    plot_crossovers,
)
from dfopt_models.response_time import RESPONSE_TIME, ResponseModel
from tests.strategies import with_numbers

MIX_5 = RESPONSE_TIME.read("mix-5")
WIDTH = 1.6
"""Of the curves; other lines are thinner, and bars wider."""

POLICIES = ["dynamic", "dyn-aff", "dyn-aff-delay"]
PICTURES = [plot_crossovers, plot_crossover_planes]


def matrix_of(model: ResponseModel, path: GrowthPath = GrowthPath.EQUAL) -> Axes:
    """Return the picture of the first job of a model."""
    axes: Axes = plot_crossovers([model], path=path).axes[0]
    return axes


def legend_of(axes: Axes) -> list[str]:
    return [text.get_text() for legend in axes.figure.legends for text in legend.get_texts()]


def texts_of(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def dots_of(axes: Axes) -> list[float]:
    """Return the products that are marked on the baseline and in the rows below the curves."""
    dots = [line for line in axes.lines if line.get_marker() not in {"None", ""}]
    for line in dots:
        assert line.get_xdata()[0] == line.get_xdata()[1]
        assert line.get_ydata()[0] == 1.0
    return [float(line.get_xdata()[0]) for line in dots]


def bars_of(axes: Axes) -> list[list[tuple[float, float]]]:
    """Return the bars of crossovers from top to bottom, a list for each policy."""
    lines: dict[float, list[tuple[float, float]]] = {}
    for bar in axes.lines:
        if bar.get_linewidth() == BAR_WIDTH:
            lines.setdefault(bar.get_ydata()[0], []).append(tuple(bar.get_xdata()))
    return [lines[height] for height in sorted(lines, reverse=True)]


@pytest.mark.slow
@pytest.mark.parametrize("plot", PICTURES)
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_pictures_are_saved(plot, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture.{ending}"
    save_picture(plot([MIX_5]).axes[0], path)
    assert path.stat().st_size > 1000


@pytest.mark.parametrize("path", list(GrowthPath))
def test_crossovers_are_marked_and_named(path: GrowthPath) -> None:
    axes = matrix_of(MIX_5, path)
    rows = [row for row in crossover_table(MIX_5, path) if row.job == "MATRIX"]
    assert dots_of(axes) == [crossover.product for row in rows for crossover in row.crossovers]
    assert legend_of(axes) == [*POLICIES, RANGES, "~: rests on assumptions"]
    assert axes.get_xscale() == "log"
    assert axes.get_ylabel() == "response time ÷ equipartition"


def test_figures_beside_the_marks() -> None:
    axes = matrix_of(MIX_5, GrowthPath.LIMIT)
    assert texts_of(axes) == ["~46", "~1,400", "~4,800"]
    marks, heights = (
        dots_of(axes),
        [line.get_ydata()[1] for line in axes.lines if line.get_marker() not in {"None", ""}],
    )
    for text, mark, height in zip(axes.texts, marks, heights, strict=True):
        assert text.xy[1] == height < axes.get_yticks()[0]  # in a row below the curves
        assert text.xy[0] != mark or not bars_of(axes)


def test_what_does_not_exist_is_said_and_not_drawn() -> None:
    job = MIX_5.job("MATRIX")
    slow = with_numbers(MIX_5, "MATRIX", "dynamic", work=900.0)
    model = replace(MIX_5, jobs=(replace(job, policies={**job.policies, "dynamic": slow}),))
    axes = plot_crossovers([model]).axes[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the layout finds its place all the same
        axes.figure.figure.draw_without_rendering()
    assert texts_of(axes)[0].startswith("dynamic: no crossover, begins at 1.")
    assert axes.lines[0].get_ydata().min() < axes.get_ylim()[1]  # the curve itself is in view
    assert len(dots_of(axes)) == 2


def test_ranges_are_shaded_and_nothing_else() -> None:
    assert len(matrix_of(MIX_5).collections) == len(POLICIES)
    jobs = tuple(
        replace(
            job,
            policies={name: replace(p, ranges={}) for name, p in job.policies.items()},
        )
        for job in MIX_5.jobs
    )
    assert not matrix_of(replace(MIX_5, jobs=jobs)).collections


def test_bars_show_where_each_crossover_may_lie() -> None:
    axes = matrix_of(MIX_5)
    rows = [row for row in crossover_table(MIX_5) if row.job == "MATRIX"]
    assert bars_of(axes) == [[row.possible[0]] for row in rows]
    lowest = min(path.vertices[:, 1].min() for path in axes.collections[0].get_paths())
    heights = [line.get_ydata()[0] for line in axes.lines if line.get_linewidth() == BAR_WIDTH]
    assert axes.get_ylim()[0] < min(heights)
    assert max(heights) < lowest  # no bar covers a band


def test_a_band_that_is_narrow_at_its_crossover_does_not_make_it_exact() -> None:
    """What scales the whole difference to the baseline does not move where it is 0."""
    model = with_policies("one")
    job = model.jobs[0]
    still, moving = job.policies["equipartition"], job.policies["one"]
    scale = np.array([0.2, 0.6, 1.0, 1.4, 1.8])
    numbers = {
        "work": np.full(5, still.work),
        "waste": np.array([1.0, 0.0, 2.0, 0.5, 1.5]),
        "reallocations": 1000 * scale,
        "affinity": np.full(5, 0.5),
        "allocation": still.work / (still.work / still.allocation - scale),
    }
    moving = replace(
        moving,
        **{name: float(values.mean()) for name, values in numbers.items()},
        replications={name: tuple(map(float, values)) for name, values in numbers.items()},
    )
    fixed = {name: (float(getattr(still, name)),) * 5 for name in numbers}
    policies = {"equipartition": replace(still, ranges={}, replications=fixed), "one": moving}
    model = replace(model, jobs=(replace(job, policies=policies),))
    axes = matrix_of(model)
    (row,) = crossover_table(model)
    ((least, most),) = row.possible
    assert bars_of(axes) == [[(least, most)]]
    assert REPLICATIONS in legend_of(axes)
    assert 1.3 * least < row.crossovers[0].product < most / 1.3


def test_a_policy_far_from_those_that_cross_leaves_them_the_view() -> None:
    job = MIX_5.job("MATRIX")
    slow = with_numbers(MIX_5, "MATRIX", "dynamic", work=2900.0)
    axes = matrix_of(replace(MIX_5, jobs=(replace(job, policies={**job.policies, "slow": slow}),)))
    assert axes.get_ylim()[1] < 1.2
    assert texts_of(axes)[3] == "slow: no crossover, begins at 3.92"


def test_the_sheet_has_a_picture_for_every_job_on_one_axis() -> None:
    other = replace(MIX_5, name="other", jobs=MIX_5.jobs[:1])
    figure = plot_crossovers([MIX_5, other])
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    mix = "Vaswani and Zahorjan, mix 5"
    assert titles == [f"{mix}: MATRIX", f"{mix}: GRAVITY", "other: MATRIX"]
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    colours = [axes.lines[0].get_color() for axes in figure.axes]
    assert colours == [colours[0]] * 3


@pytest.mark.parametrize("plot", PICTURES)
def test_a_sheet_needs_a_model(plot) -> None:
    with pytest.raises(DfoptError, match="there is no model to draw"):
        plot([])


def test_names_are_no_formulas() -> None:
    job = MIX_5.job("MATRIX")
    policies = {("_a$b$" if name == "dynamic" else name): p for name, p in job.policies.items()}
    model = replace(MIX_5, jobs=(replace(job, name="$J$", policies=policies),))
    axes = matrix_of(model)
    assert legend_of(axes)[0] == "_a$b$"
    axes.figure.figure.draw_without_rendering()


def with_policies(*names: str) -> ResponseModel:
    """Return a model of one job under the baseline and policies of these names."""
    job = MIX_5.job("MATRIX")
    still, moving = (
        job.policies["equipartition"],
        with_numbers(MIX_5, "MATRIX", "dynamic"),
    )
    policies = {
        name: replace(moving, reallocations=1000.0 + 100 * number, ranges={})
        for number, name in enumerate(names)
    }
    return replace(MIX_5, jobs=(replace(job, policies={"equipartition": still, **policies}),))


@pytest.mark.slow
@pytest.mark.parametrize("plot", PICTURES)
@pytest.mark.parametrize(
    "names", [[f"policy-{number}" for number in range(20)], ["much " * 20, "more " * 20]]
)
def test_legends_hide_no_curves(plot, names: list[str]) -> None:
    axes = plot([with_policies(*names)]).axes[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lay_out(axes)
    (legend,) = axes.figure.legends
    box, curves = legend.get_window_extent(), axes.get_tightbbox()
    assert 0 <= box.x0 < box.x1 <= axes.figure.bbox.width
    assert 0 <= box.y0 < box.y1 <= curves.y0


def test_sheets_with_many_policies_are_higher() -> None:
    many = with_policies(*(f"policy-{number}" for number in range(20)))
    few, high = plot_crossovers([MIX_5]), plot_crossovers([MIX_5, many])
    for figure in (few, high):
        lay_out(figure.axes[0])
    assert high.get_figheight() > few.get_figheight()
    assert high.axes[0].get_window_extent().height > few.axes[0].get_window_extent().height


def test_policies_differ_by_more_than_colour() -> None:
    axes = matrix_of(with_policies(*(f"policy-{number}" for number in range(20))))
    (legend,) = axes.figure.legends
    looks = [
        (key.get_marker(), str(key._unscaled_dash_pattern))
        for key in legend.get_lines()
        if key.get_marker() != "None"
    ]
    assert len(set(looks)) == 20


def test_titles_are_no_wider_than_their_pictures() -> None:
    figure = plot_crossovers([replace(MIX_5, name="an experiment " * 20)])
    lay_out(figure.axes[0])
    for axes in figure.axes:
        title = axes._left_title
        assert title.get_text().endswith(("MATRIX", "GRAVITY"))
        assert title.get_window_extent().x1 <= axes.get_window_extent().x1 + 1


@pytest.mark.slow
def test_curves_of_the_plane_end_at_the_crossovers_of_its_edges() -> None:
    axes = plot_crossover_planes([MIX_5]).axes[0]
    curves = [path.vertices for each in axes.collections for path in each.get_paths()]
    assert len(curves) == len(POLICIES)
    for policy, curve in zip(POLICIES, curves, strict=True):
        comparison = MIX_5.comparison("MATRIX", policy)
        for path, edge, along in ((GrowthPath.SPEED, 1, 0), (GrowthPath.CACHE, 0, 1)):
            (crossing,) = crossovers(comparison, path)
            end = curve[np.argmin(curve[:, edge])]
            assert end[edge] == pytest.approx(1, rel=0.03)
            assert end[along] == pytest.approx(crossing.product, rel=0.05)


def test_the_plane_marks_where_both_grow_alike() -> None:
    axes = plot_crossover_planes([MIX_5]).axes[0]
    rows = [row for row in crossover_table(MIX_5) if row.job == "MATRIX"]
    marks = [line for line in axes.lines if line.get_marker() not in {"None", ""}]
    for row, line in zip(rows, marks, strict=True):
        (across,), (up,) = line.get_data()
        assert across == up
        assert across * up == pytest.approx(row.crossovers[0].product)
    assert [text for text in texts_of(axes) if text] == ["~45", "~1,400", "~4,700"]
    assert "curves: as fast as equipartition" in legend_of(axes)


def test_a_policy_without_a_curve_in_the_plane_is_named() -> None:
    job = MIX_5.job("MATRIX")
    slow = with_numbers(MIX_5, "MATRIX", "dynamic", work=900.0)
    model = replace(MIX_5, jobs=(replace(job, policies={**job.policies, "dynamic": slow}),))
    axes = plot_crossover_planes([model]).axes[0]
    assert "dynamic: no crossover here" in texts_of(axes)
    assert legend_of(axes)[:2] == ["dynamic", "dyn-aff"]


def test_curves_that_coincide_differ_by_their_dashes() -> None:
    same = with_policies("one", "other")
    job = same.jobs[0]
    twins = {**job.policies, "other": job.policies["one"]}
    axes = matrix_of(replace(same, jobs=(replace(job, policies=twins),)))
    one, other = (line for line in axes.lines if line.get_linewidth() == WIDTH)
    assert one.get_ydata().tolist() == other.get_ydata().tolist()
    assert one.get_linestyle() != other.get_linestyle()
    assert one.get_color() != other.get_color()
    heights = {line.get_ydata()[1] for line in axes.lines if line.get_marker() not in {"None", ""}}
    assert len(heights) == 2


def test_powers_of_ten_on_an_axis_are_written_in_one_way() -> None:
    assert [decade_text(10.0**k, 1e5) for k in (0, 3, 5)] == ["1", "1,000", "100,000"]
    assert [decade_text(10.0**k, 1e6) for k in (0, 3)] == ["10⁰", "10³"]
