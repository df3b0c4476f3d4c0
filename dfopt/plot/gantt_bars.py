"""The bars of a Gantt chart: tasks, penalties, and their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from dfopt.plot.colours import INK, PAPER, Colour, ink_on, mixed
from dfopt.plot.names import shown_name
from dfopt.problem.timeline import ChargeKind, CpuTimeline, TaskRun
from dfopt.time_units import NANOSECONDS, full_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_HEIGHT = 0.72
"""Part of a row's height that its bar takes."""

HATCHES = {ChargeKind.READING: "////", ChargeKind.WRITE_BACK: "xxxx", ChargeKind.SWITCH: "////"}

CHARACTER_WIDTH = 0.64
"""Width of a character, on the wide side, as a part of the font size."""

SMALLEST_FONT = 5.0
NARROWEST_TASK = 3.0
NARROWEST_HATCH = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Brush:
    """The axes, sizes and colours with which all bars of a chart are drawn.

    Parameters
    ----------
    ax
        Where they are drawn; row i stands at y = i.
    points_per_unit
        Length of a time unit in points.
    font_size
        Of the labels, in points.
    colours
        The colour of each group.
    names_groups
        Whether labels must name the group, because no legend does.
    unit
        The unit of times.
    """

    ax: Axes
    points_per_unit: float
    font_size: float
    colours: dict[str, Colour]
    names_groups: bool
    unit: str | None = None

    def fits(self, text: str, length: float) -> bool:
        """Whether ``text`` finds room on a bar of this length."""
        room = length * self.points_per_unit - 0.5 * self.font_size
        return self.font_size >= SMALLEST_FONT and text_width(text, self.font_size) <= room

    def first_that_fits(self, texts: Sequence[str], length: float) -> str | None:
        """Return the first text that finds room on a bar of this length."""
        return next((text for text in texts if self.fits(text, length)), None)

    def write(self, text: str, centre: float, row: int, ground: Colour) -> None:
        """Write ``text`` on a row, on a ground that keeps cuts and hatching off it."""
        self.ax.text(
            centre,
            row,
            text,
            color=ink_on(ground),
            fontsize=self.font_size,
            ha="center",
            va="center_baseline",
            parse_math=False,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": ground, "linewidth": 0},
            in_layout=False,  # it lies on its bar, and measuring all of them takes long
        )


def amount_text(amount: int, unit: str | None) -> str:
    """Return an amount with all its digits: a time in a unit that is read well, else a number."""
    return full_time(amount, unit) if unit in NANOSECONDS else f"{amount:,}"


def text_width(text: str, font_size: float) -> float:
    """Return about how wide ``text`` is, in points."""
    return CHARACTER_WIDTH * font_size * len(text)


def draw_rows(brush: Brush, rows: Sequence[CpuTimeline]) -> None:
    """Draw the tasks and penalties of all CPUs, and label those that have room."""
    draw_runs(brush, rows)
    draw_charges(brush, rows)
    for number, row in enumerate(rows):
        crowded = list(label_runs(brush, number, row))
        for charge in row.charges:
            middle = charge.start + charge.amount / 2
            text = amount_text(charge.amount, brush.unit)
            if brush.fits(text, charge.amount) and not any(a < middle < b for a, b in crowded):
                brush.write(text, middle, number, tint(brush.colours[charge.group]))


def draw_runs(brush: Brush, rows: Sequence[CpuTimeline]) -> None:
    """Draw the runs as bars, cut into tasks where these are wide enough to be seen."""
    from matplotlib.collections import LineCollection, PolyCollection

    bars, colours, cuts = [], [], []
    for number, row in enumerate(rows):
        for run in row.runs:
            left, right = run.edges[0], run.edges[-1]
            bars.append(bar(number, left, right))
            colours.append(brush.colours[run.group])
            if (right - left) * brush.points_per_unit >= NARROWEST_TASK * len(run.names):
                cuts += [bar(number, edge, edge)[:2] for edge in run.edges[1:-1]]
    brush.ax.add_collection(PolyCollection(bars, facecolors=colours, linewidths=0))
    brush.ax.add_collection(LineCollection(cuts, colors=[PAPER], linewidths=0.8))


def draw_charges(brush: Brush, rows: Sequence[CpuTimeline]) -> None:
    """Draw the penalties, hatched in the colour of the fragment they are paid for."""
    from matplotlib import rc_context
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Polygon

    narrow, colours = [], []
    for number, row in enumerate(rows):
        for charge in row.charges:
            corners = bar(number, charge.start, charge.start + charge.amount)
            colour = brush.colours[charge.group]
            if charge.amount * brush.points_per_unit < NARROWEST_HATCH:
                narrow.append(corners)
                colours.append(shade(colour))
                continue
            with rc_context({"hatch.linewidth": 0.7}):
                brush.ax.add_patch(
                    Polygon(
                        corners,
                        facecolor=tint(colour),
                        edgecolor=shade(colour),
                        hatch=HATCHES[charge.kind],
                        linewidth=0,
                    )
                )
    brush.ax.add_collection(PolyCollection(narrow, facecolors=colours, linewidths=0))


def bar(row: int, left: float, right: float) -> list[tuple[float, float]]:
    """Return the corners of a bar; the first two are those on the left."""
    low, high = row - BAR_HEIGHT / 2, row + BAR_HEIGHT / 2
    return [(left, low), (left, high), (right, high), (right, low)]


def tint(colour: Colour) -> Colour:
    """Return the light ground of a hatching."""
    return mixed(colour, PAPER, 0.8)


def shade(colour: Colour) -> Colour:
    """Return the dark lines of a hatching."""
    return mixed(colour, INK, 0.35)


def label_runs(brush: Brush, number: int, row: CpuTimeline) -> Iterator[tuple[float, float]]:
    """Label the runs of a row; yield from where to where a label stands across penalties."""
    for group, members in groupby(row.runs, key=lambda run: run.group):
        visit = list(members)
        labels = [run_label(brush, run) for run in visit]
        names = [name for run in visit for name in run.names]
        labelled = sum(len(run.names) for run, label in zip(visit, labels, strict=True) if label)
        start, end = visit[0].edges[0], visit[-1].edges[-1]
        across = brush.first_that_fits(common_labels(brush, group, names), end - start)
        if across and 2 * labelled < len(names):
            labels = [[(across, (start + end) / 2)]]
            yield start, end
        for label in labels:
            for text, centre in label:
                brush.write(text, centre, number, brush.colours[group])


def run_label(brush: Brush, run: TaskRun) -> list[tuple[str, float]]:
    """Return the texts for a run and where they stand: one for each task, or for all, or none."""
    names = [shown_name(name) for name in run.names]
    bounds = list(pairwise(run.edges))
    if not brush.names_groups and all(
        brush.fits(name, end - start) for name, (start, end) in zip(names, bounds, strict=True)
    ):
        return [(name, (start + end) / 2) for name, (start, end) in zip(names, bounds, strict=True)]
    start, end = run.edges[0], run.edges[-1]
    text = brush.first_that_fits(common_labels(brush, run.group, names), end - start)
    return [(text, (start + end) / 2)] if text else []


def common_labels(brush: Brush, group: str, names: Sequence[str]) -> list[str]:
    """Return texts that stand for several tasks of a group, the one that says most first."""
    group = shown_name(group)
    if len(names) == 1:
        return [f"{group}: {names[0]}", group] if brush.names_groups else []
    counted = f"{group} ×{len(names)}"
    return [counted, group] if brush.names_groups else [counted, f"×{len(names)}"]
