"""Misses and work against the number of CPUs, with one lock and with a lock for each CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dfopt.plot.colours import INK, group_colours
from dfopt.plot.gantt_bars import shade
from dfopt.plot.picture import new_figure
from dfopt_models.contention.locks import Holds
from dfopt_models.contention.model import ContentionModel, Measurement
from dfopt_models.plot.style import FONT_SIZE, LINE_WIDTH, add_legend, begin_axes, label, legend_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 10.5, 4.4
"""Of the figure, in inches."""

MOST_POINTS = 40
"""At most this many numbers of CPUs are computed for a curve."""

STYLES = {Holds.EXPONENTIAL: "-", Holds.CONSTANT: "--"}
ONE, OWN = "one lock", "a lock for each CPU"
MARKER = "o"


def plot_contention(model: ContentionModel) -> Figure:
    """Draw misses on the left and work on the right, with what was measured.

    Lines are for exponential hold times, broken lines for constant ones; think times are those of
    the model, fitted for each if they are fitted.

    Parameters
    ----------
    model
        The model. The axis goes from 1 to its largest number of CPUs.

    Returns
    -------
    matplotlib.figure.Figure
        With an axes for each picture.
    """
    figure = new_figure(WIDTH, HEIGHT)
    left, right = figure.subplots(1, 2)
    begin_axes(left, "Attempts that find the lock taken")
    begin_axes(right, "CPUs that do work")
    most = model.cpus[-1]
    step = -(-most // MOST_POINTS)
    numbers = sorted({*range(1, most + 1, step), most})
    colours = {name: shade(colour) for name, colour in group_colours((ONE, OWN)).items()}
    for holds, style in STYLES.items():
        for name, found in ((ONE, model.one_lock), (OWN, model.own_locks)):
            machines = [found(number, holds) for number in numbers]
            look: dict[str, Any] = {
                "color": colours[name],
                "linewidth": LINE_WIDTH,
                "linestyle": style,
            }
            left.plot(numbers, [100 * each.miss for each in machines], **look)
            right.plot(numbers, [each.work for each in machines], **look)
    right.plot([1, most], [1, most], ":", color=INK, linewidth=LINE_WIDTH / 2)
    measured = draw_measured(left, right, model, colours)
    left.set_ylim(0, 100)
    right.set_ylim(0, most)
    for axes, up in ((left, "misses, %"), (right, "work, CPUs")):
        axes.set_xlim(0 if most > 1 else 0.5, most * 1.02)
        label(axes, "CPUs", up)
    names = {name: legend_key(colour) for name, colour in colours.items()}
    names |= {
        f"{holds} hold times": legend_key(INK, linestyle=style) for holds, style in STYLES.items()
    }
    if measured:
        names["measured"] = legend_key(INK, linestyle="", marker=MARKER)
    names["no contention (right)"] = legend_key(INK, linestyle=":")
    add_legend(right, list(names.values()), list(names), loc="upper left")
    left.tick_params(labelsize=FONT_SIZE)
    return figure


def draw_measured(
    left: Axes, right: Axes, model: ContentionModel, colours: dict[str, tuple[float, float, float]]
) -> bool:
    """Mark what was measured; return whether anything was."""
    names = {Measurement.MISSES: ONE, Measurement.MISSES_OWN: OWN, Measurement.SPINNING: ONE}
    drawn = False
    for each in model.published:
        if each.what in names and each.cpus is not None and each.cpus <= model.cpus[-1]:
            is_work = each.what is Measurement.SPINNING
            # CPUs that do not spin do work.
            height = each.cpus * (1 - each.value) if is_work else 100 * each.value
            axes = right if is_work else left
            axes.plot(
                [each.cpus], [height], MARKER, color=colours[names[each.what]], clip_on=False,
                zorder=5,
            )  # fmt: skip
            drawn = True
    return drawn
