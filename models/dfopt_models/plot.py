"""Pictures of the models: functions that take data and an Axes and return the Axes.

Crossovers are curves along a path of growth, or in the plane of speed and cache. Their sheets have
a picture for each job of the models; policies look the same all over a sheet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.errors import DfoptError
from dfopt.plot.style import (
    GREY,
    INK,
    LINES,
    PAPER,
    SMALL,
    add_legend,
    begin_axes,
    group_colours,
    line_style,
    new_axes,
    new_figure,
    shade,
    shown_name,
    styled,
)
from dfopt_models.batching import BatchingModel, own_choice, pareto_table
from dfopt_models.contention import ContentionModel, Measurement
from dfopt_models.counters import CURVES, CountersModel, WarmUpPoints
from dfopt_models.crossover import (
    CrossoverRow,
    crossover_table,
    relative_along,
    relative_range_along,
)
from dfopt_models.growth import GrowthPath, growth_text
from dfopt_models.locks import Holds
from dfopt_models.queueing import QueueingModel, crossings, queue_rows
from dfopt_models.response_time import Numbers, ResponseModel, relative_response_time
from dfopt_models.space_sharing.alone import Profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


MOST_COLUMNS = 3
"""At most this many pictures stand side by side."""

LONGEST_NAME = 32
"""At most this many characters of a name are shown."""

LARGEST_WRITTEN_OUT = 1.1e5
"""On axes that end here or before, powers of ten are written without exponents."""

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

Looks = Mapping[str, dict[str, Any]]
"""How the line of each policy looks."""

CROSSOVER_WIDTH, CROSSOVER_HEIGHT, CROSSOVER_ROW = 4.6, 3.1, 0.17
"""Width and height of a picture, and height of a row of crossovers, in inches."""

SHORTEST, LONGEST = 1e3, 1e7
"""The axis of products ends at least at the first and at most at the second."""

POINTS = 401
"""Points on a curve."""

BEYOND = 3.0
"""The axis ends at least at the last crossover times this."""

ABOVE = 1.5
"""Room above the baseline, as a multiple of the room below it."""

LEAST_ROOM = 0.04
"""The least room below the baseline."""

IN_VIEW = 1.2
"""Room above the baseline, as a multiple of the height of the lowest point of every curve."""

FAR = 5.0
"""A curve this many times further from the baseline than those that cross it is out of view."""

STEP, BAR_WIDTH = 0.065, 3.0
"""Distance of two rows of crossovers, as a part of the height of the curves; width of a bar, in
points."""

AT_THE_SIDE = 0.28
"""A text beside a bar has room where this part of the axis is free."""

BAND, EDGE_WIDTH = 0.13, 0.7
"""Opacity of bands, and width of the lines that end them, in points."""

RANGES = "shading and bars: what the ranges allow"

REPLICATIONS = "shading and bars: 95 % confidence intervals"
"""What the legend says of the shaded bands, and of the bars for the crossovers."""

PLANE = (4.4, 4.0)
"""Width and height of a picture, in inches."""

LARGEST_GROWTH = 1e4
"""Both axes end here."""

JOINED_PRODUCTS = 10.0 ** np.arange(1, 8)
"""Products whose machines are joined by lines."""

GUIDE: dict[str, Any] = {"color": GREY, "linewidth": 0.6, "zorder": 1}

ALIKE = {**GUIDE, "linestyle": ":", "linewidth": 1.0}


def looks_of(models: Iterable[ResponseModel]) -> dict[str, dict[str, Any]]:
    """Return how the line of each policy but the baselines looks, the same all over a sheet."""
    names = dict.fromkeys(
        policy
        for model in models
        for job in model.jobs
        for policy in job.policies
        if policy != model.baseline
    )
    return {name: line_style(number) for number, name in enumerate(names)}


def draw_sheet(
    models: Sequence[ResponseModel],
    draw: Callable[[int, str, Axes], Any],
    *,
    panel: tuple[float, float],
) -> Figure:
    """Return a sheet with a titled picture for each job of the models.

    Parameters
    ----------
    models
        One or more models.
    draw
        Draws a job of the model of a number on axes.
    panel
        Width and height of a picture, in inches.

    Raises
    ------
    DfoptError
        When there is no model.
    """
    panels = [(number, job.name) for number, model in enumerate(models) for job in model.jobs]
    if not panels:
        raise DfoptError("there is no model to draw; name one")
    columns = min(MOST_COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = new_figure(panel[0] * columns, panel[1] * lines)
    for position, (number, job) in enumerate(panels, 1):
        ax = figure.add_subplot(lines, columns, position)
        draw(number, job, ax)
        ax.set_title(f"{shown_name(models[number].name, longest=LONGEST_NAME)}: {shown_name(job)}")
        if position <= len(panels) - columns:
            ax.set_xlabel("")
    for legend in figure.legends:
        height = legend.get_window_extent().height / figure.dpi
        figure.set_figheight(figure.get_figheight() + height)
    return figure


def growth_axis(axis: Axis, *, today: bool = True) -> None:
    """Write the powers of ten on a logarithmic axis of growth, all in one way.

    Parameters
    ----------
    axis
        The axis.
    today
        Whether 1 is today's machine, and is called so.
    """
    from matplotlib.ticker import NullLocator

    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(
        lambda growth, _: (
            "today" if today and growth == 1 else decade_text(growth, max(axis.get_view_interval()))
        )
    )


def decade_text(growth: float, largest: float) -> str:
    """Return a power of ten; with its exponent if the largest one of the axis is long."""
    if largest <= LARGEST_WRITTEN_OUT:
        return f"{growth:,g}" if growth < 1 else f"{growth:,.0f}"
    return "10" + f"{math.log10(growth):.0f}".translate(SUPERSCRIPTS)


def explain(
    ax: Axes, looks: Looks, rows: Sequence[CrossoverRow], more: dict[str, dict[str, Any]]
) -> None:
    """Say in the legend which line is which policy, what ``~`` means, and more."""
    signs = {shown_name(row.policy, longest=LONGEST_NAME): looks[row.policy] for row in rows} | more
    if any(row.assumptions and row.crossovers for row in rows):
        signs["~: rests on assumptions"] = {"linestyle": ""}
    add_legend(ax, signs)


@styled
def plot_crossovers(
    models: Sequence[ResponseModel], *, path: GrowthPath = GrowthPath.EQUAL
) -> Figure:
    """Draw response times relative to the baseline as machines grow: a picture for each job.

    Every policy has a curve; below 1 it is faster than the baseline. Marks stand at the crossovers.
    Below the curves each policy has a row with its crossovers once more and their products, or that
    there is none. Shading shows which response times the ranges of the parameters allow, or the
    confidence intervals of replications. Bars show where the crossovers may lie: a band may be
    narrow at its crossover although this one is hardly known, since parameters that move the whole
    curve do not move it there.

    Parameters
    ----------
    models
        One or more models.
    path
        How speed and cache grow together.

    Returns
    -------
    matplotlib.figure.Figure
        The pictures, on one axis of products; policies look the same in all of them.

    Raises
    ------
    DfoptError
        When there is nothing to draw.
    """
    tables = [crossover_table(model, path) for model in models]
    looks = looks_of(models)
    largest = largest_product([row for table in tables for row in table])

    def draw(number: int, job: str, ax: Axes) -> None:
        rows = [row for row in tables[number] if row.job == job]
        draw_crossovers(ax, models[number], rows, path, looks, largest)

    return draw_sheet(
        models, draw, panel=(CROSSOVER_WIDTH, CROSSOVER_HEIGHT + CROSSOVER_ROW * len(looks))
    )


def draw_crossovers(  # noqa: PLR0913, PLR0917 - a picture, and what is alike in several
    axes: Axes,
    model: ResponseModel,
    rows: Sequence[CrossoverRow],
    path: GrowthPath,
    looks: Looks,
    largest: float,
) -> None:
    """Draw the curves of a job up to the largest product, and a row for each below them."""
    begin_axes(axes)
    axes.set(xscale="log", xlim=(1.0, largest))
    growth_axis(axes.xaxis, today=path is not GrowthPath.LIMIT)
    products = np.geomspace(1.0, largest, POINTS)
    curves, bands = [], []
    more: dict[str, dict[str, Any]] = {}
    for row in rows:
        comparison = model.comparison(row.job, row.policy)
        line = {name: looks[row.policy][name] for name in ("color", "linestyle")}
        curves.append(relative_along(comparison, products, path))
        bands.append(curves[-1])
        axes.plot(products, curves[-1], linewidth=looks[row.policy]["linewidth"], **line)
        if comparison.has_ranges:
            said = REPLICATIONS if comparison.replications else RANGES
            more[said] = {"color": GREY, "linewidth": BAR_WIDTH}
            low, high = relative_range_along(comparison, products, path)
            axes.fill_between(products, low, high, color=line["color"], alpha=BAND, linewidth=0)
            axes.plot(products, np.transpose([low, high]), lw=EDGE_WIDTH, zorder=1.5, **line)
            bands[-1] = low
    bottom, top = height_of(curves, bands, [bool(row.crossovers) for row in rows])
    step = STEP * (top - bottom)
    axes.set_ylim(bottom - step * (len(rows) + 0.3), top)
    axes.set_yticks([tick for tick in axes.get_yticks() if bottom <= tick <= top])
    for height in (1.0, bottom):
        axes.axhline(height, color=INK, linewidth=1.0, zorder=1)
    for number, row in enumerate(rows):
        draw_row(axes, row, bottom - step * (number + 0.65), looks[row.policy])
    axes.set_xlabel(f"speed × cache, {path.meaning}")
    axes.set_ylabel(f"response time ÷ {model.baseline}")
    explain(axes, looks, rows, more)


def draw_row(axes: Axes, row: CrossoverRow, height: float, look: dict[str, Any]) -> None:
    """Draw where the crossovers of a policy are and may lie, and write their products beside."""
    largest = axes.get_xlim()[1]
    ends = []
    for least, most in row.possible or ():
        if least < largest:
            ends += [least, min(most, largest)]
            axes.plot(
                ends[-2:], [height] * 2, color=look["color"], lw=BAR_WIDTH, solid_capstyle="butt"
            )
    marks = [crossing.product for crossing in row.crossovers if crossing.product < largest]
    for mark in marks:
        dotted = {"linestyle": ":", "linewidth": EDGE_WIDTH, "zorder": 4, "clip_on": False}
        axes.plot([mark] * 2, [1.0, height], **look | dotted)
    # Right of all marks and bars, else left of them, else beside the first mark.
    ends += marks or [1.0]
    right, left = largest ** (1 - AT_THE_SIDE), largest**AT_THE_SIDE
    is_left = max(ends) > right and min(ends) > left
    place = min(ends) if is_left else max(ends)
    text = crossovers_text(row)
    if not marks:
        begin = "" if row.crossovers else f", begins at {row.today:.2f}"
        text = f"{shown_name(row.policy)}: {text}{begin}"
    axes.annotate(
        text,
        (place if is_left or place <= right else min(marks, default=1.0), height),
        xytext=(-6 if is_left else 6, 0),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="center_baseline",
        fontsize=SMALL,
        zorder=5,
    )


def height_of(
    curves: Sequence[Numbers], bands: Sequence[Numbers], crossing: Sequence[bool]
) -> tuple[float, float]:
    """Return the ends of the axis of relative response times: room on both sides of 1.

    Curves that cross the baseline rule; others are in view too, unless they are far away.
    """
    lows = np.array([curve.min() for curve in curves])
    depths = 1 - np.array([band.min() for band in bands])
    near = np.array(crossing) | (not any(crossing))
    near |= np.abs(lows - 1) <= FAR * max(LEAST_ROOM, depths[near].max())
    room = max(LEAST_ROOM, float(depths[near].max()))
    return 1 - 1.1 * room, 1 + ABOVE * max(room, IN_VIEW * (float(lows[near].max()) - 1))


def largest_product(rows: Sequence[CrossoverRow]) -> float:
    """Return the end of an axis of products that shows the crossovers."""
    products = [crossing.product for row in rows for crossing in row.crossovers]
    furthest = BEYOND * max(products, default=1.0)
    return float(10 ** math.ceil(math.log10(min(max(furthest, SHORTEST), LONGEST))))


def crossovers_text(row: CrossoverRow) -> str:
    """Return the crossovers of a policy, or that there is none; ``~`` marks assumptions."""
    if not row.crossovers:
        return "no crossover"
    mark = "~" if row.assumptions else ""
    return ", ".join(
        f"{mark}{growth_text(crossing.product, row.digits)}" for crossing in row.crossovers
    )


@styled
def plot_crossover_planes(models: Sequence[ResponseModel]) -> Figure:
    """Draw on which machines policies are as fast as the baseline: a picture for each job.

    Speed grows across, the cache up. Below and left of its curve a policy is on the side where
    today's machine lies. Thin straight lines join machines with one product of speed and cache; if
    only the product mattered, the curves would be such lines. Where both grow alike the curves are
    marked, with the product.

    Parameters
    ----------
    models
        One or more models.

    Returns
    -------
    matplotlib.figure.Figure
        The pictures; policies look the same in all of them.

    Raises
    ------
    DfoptError
        When there is nothing to draw.
    """
    looks = looks_of(models)
    return draw_sheet(
        models, lambda number, job, ax: draw_plane(ax, models[number], job, looks), panel=PLANE
    )


def draw_plane(axes: Axes, model: ResponseModel, job: str, looks: Looks) -> None:
    """Draw the curves of a job."""
    begin_axes(axes).grid(visible=False)
    growth = np.geomspace(1.0, LARGEST_GROWTH, POINTS)
    speeds, caches = np.meshgrid(growth, growth)
    axes.set(
        xlabel="speed, relative to today",
        ylabel="cache, relative to today",
        xlim=(1.0, LARGEST_GROWTH),
        ylim=(1.0, LARGEST_GROWTH),
        xscale="log",
        yscale="log",
        box_aspect=1,
    )
    for axis in (axes.xaxis, axes.yaxis):
        growth_axis(axis)
    for product in JOINED_PRODUCTS:
        axes.plot(growth, product / growth, **GUIDE)
    axes.plot(growth, growth, **ALIKE)
    rows = [row for row in crossover_table(model) if row.job == job]
    missing = []
    for number, row in enumerate(rows):
        relative = relative_response_time(model.comparison(job, row.policy), speeds, caches)
        if relative.min() < 1 < relative.max():
            look = looks[row.policy]
            curve = axes.contour(speeds, caches, relative, levels=[1.0], colors=[look["color"]])
            curve.set(linewidth=look["linewidth"], linestyle=look["linestyle"], zorder=3)
            mark_crossovers(axes, row, look, side=(-1) ** number)
        else:
            missing.append(f"{row.policy}: no crossover here")
    axes.text(0.97, 0.97, "\n".join(missing), transform=axes.transAxes, ha="right", va="top")
    more: dict[str, dict[str, Any]] = {
        "one product of both": GUIDE,
        "both growing alike": ALIKE,
        f"curves: as fast as {shown_name(model.baseline)}": {"linestyle": ""},
    }
    explain(axes, looks, rows, more)


def mark_crossovers(axes: Axes, row: CrossoverRow, look: Any, *, side: int) -> None:
    """Mark where speed and cache grow alike; products stand right of the curve, or left of it."""
    places = [crossing.product**0.5 for crossing in row.crossovers]
    axes.plot(places, places, **{**look, "linestyle": "", "zorder": 4})
    if places:
        axes.annotate(
            crossovers_text(row),
            (places[0], places[0]),
            xytext=(7 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center_baseline",
            fontsize=SMALL,
            annotation_clip=True,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "linewidth": 0},
            zorder=3.5,
        )


PAIR = (10.5, 4.6)
"""Of a figure with two pictures, in inches."""

MILLISECONDS = 1e-6
LONGEST_PROCESS = 512
"""Process lengths are drawn at least up to this."""

OWN_CHOICE: dict[str, Any] = {"linestyle": "", "marker": "*", "markersize": 12}
"""The look of the model's own choice."""

MOST_POINTS = 40
"""At most this many numbers of CPUs are computed for a curve."""

DASHES = {Holds.EXPONENTIAL: "-", Holds.CONSTANT: "--"}
ONE, OWN = "one lock", "a lock for each CPU"
COLOURS = {ONE: LINES[0], OWN: LINES[1]}
IDEAL: dict[str, Any] = {"linestyle": ":", "color": GREY}

WIDTH, ROW_HEIGHT, FRAME = 7.0, 0.26, 1.3
"""The width of a picture, and the heights of a bar and of what is around all bars, in inches."""

WARM_UP_HEIGHT = 3.6
LONGEST_LABEL = 40
PERCENT = 100

LOADS = np.linspace(0.0, 0.995, 200)
MACHINE = 4.4
"""Width and height of the picture of each machine, in inches."""

HIGHEST = 12.0
"""Response times over the service time are shown up to here."""

QUEUES = {"ideal": "ideal", "partitions": "partition", "global queue": "shared"}
"""The column of each line."""

LOOKS = {name: line_style(number) | {"marker": ""} for number, name in enumerate(QUEUES)}

BETWEEN = "the best policy lies here"
SHADING = 0.18

PANEL = (3.4, 2.6)
"""Width and height of a picture of an application, in inches."""


@styled
def plot_batching(model: BatchingModel) -> Figure:
    """Draw gains against process length on the left, misses against waiting on the right.

    Parameters
    ----------
    model
        The model; a curve for each of its granularities. Large marks on the right are its own
        MAXBSIZE and MAXBCOUNT.

    Returns
    -------
    matplotlib.figure.Figure
        With an axes for each picture.
    """
    figure = new_figure(*PAIR)
    left, right = figure.subplots(1, 2)
    signs = {}
    lengths = [2**power for power in range(max(LONGEST_PROCESS, *model.lengths).bit_length())]
    for number, granularity in enumerate(model.granularities):
        look = line_style(number) | {"linestyle": "-"}
        signs[f"GRANULARITY {granularity:,}"] = look
        left.plot(lengths, [model.gain(granularity, length) for length in lengths], **look)
        limit = {"color": look["color"], "linewidth": 0.8, "linestyle": ":"}
        left.axhline(model.limit(granularity), **limit)
        # Choices that no other one beats; where nothing is missed they have no place on the axis.
        chosen = [each for each in pareto_table(model, granularity) if each.misses > 0]
        waits = [each.waiting * MILLISECONDS for each in chosen]
        right.plot(waits, [each.misses for each in chosen], **look)
        own = own_choice(model, granularity)
        if own.misses > 0 and own.waiting > 0:
            right.plot([own.waiting * MILLISECONDS], [own.misses], **look | OWN_CHOICE)
    left.set_xscale("log", base=2)
    right.set(xscale="log", yscale="log")
    for axis in (left.xaxis, right.xaxis, right.yaxis):
        axis.set_major_formatter("{x:,g}")
    left.set(
        title="Speed of batches over one queue",
        xlabel="PROCESS_LENGTH (dotted: without end)",
        ylabel="gain",
    )
    right.set(
        title="Batches that no other ones beat",
        xlabel="wait for the next turn, ms",
        ylabel="missed lines a dispatch",
    )
    for axes in (left, right):
        begin_axes(axes)
    sizes = f"MAXBSIZE {model.max_batch_size:,}, MAXBCOUNT {model.max_batch_count:,}"
    add_legend(left, signs | {sizes: OWN_CHOICE | {"color": INK}})
    return figure


@styled
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
    figure = new_figure(*PAIR)
    left, right = figure.subplots(1, 2)
    most = model.cpus[-1]
    numbers = sorted({*range(1, most + 1, -(-most // MOST_POINTS)), most})
    for holds, dashes in DASHES.items():
        held = model.with_holds(holds)
        for name, found in ((ONE, held.one_lock), (OWN, held.own_locks)):
            machines = [found(number) for number in numbers]
            look: dict[str, Any] = {"color": COLOURS[name], "linestyle": dashes}
            left.plot(numbers, [100 * each.miss for each in machines], **look)
            right.plot(numbers, [each.work for each in machines], **look)
    right.plot([1, most], [1, most], **IDEAL)
    left.set(title="Attempts that find the lock taken", ylabel="misses, %", ylim=(0, 100))
    right.set(title="CPUs that do work", ylabel="work, CPUs", ylim=(0, most))
    for axes in (left, right):
        begin_axes(axes).set(xlabel="CPUs", xlim=(0 if most > 1 else 0.5, most * 1.02))
    signs: dict[str, dict[str, Any]] = {name: {"color": colour} for name, colour in COLOURS.items()}
    signs |= {f"{holds} hold times": {"color": INK, "ls": ls} for holds, ls in DASHES.items()}
    places = {
        Measurement.MISSES: (left, ONE),
        Measurement.MISSES_OWN: (left, OWN),
        Measurement.SPINNING: (right, ONE),
    }
    for each in model.published:
        if each.what in places and each.cpus is not None and each.cpus <= most:
            axes, name = places[each.what]
            # CPUs that do not spin do work.
            height = each.cpus * (1 - each.value) if axes is right else 100 * each.value
            look = {"color": COLOURS[name], "linestyle": "", "marker": "o", "clip_on": False}
            axes.plot([each.cpus], [height], zorder=5, **look)
            signs["measured"] = look | {"color": INK}
    signs["no contention"] = IDEAL
    add_legend(left, signs)
    return figure


@styled
def plot_counters(model: CountersModel, *, ax: Axes | None = None) -> Axes:
    """Draw how fast each task type is after each other one, as a share of its best speed.

    Bars of assumed values are hatched; thin lines show standard errors.

    Parameters
    ----------
    model
        The model.
    ax
        Where to draw; a figure of its own if None.
    """
    colours = group_colours(task_type.name for task_type in model.types)
    bars = [(each, cell) for each in model.types for cell in each.after]
    # Between two types there is room for another bar.
    places = [row + model.types.index(each) for row, (each, _) in enumerate(bars)]
    axes = new_axes(WIDTH, FRAME + ROW_HEIGHT * (max(places) + 2)) if ax is None else ax
    hatches = ["//" * ("ipc" in cell.assumed) for _, cell in bars]
    begin_axes(axes, grid="x").barh(
        places,
        [PERCENT * cell.ipc / each.best_ipc for each, cell in bars],
        xerr=[PERCENT * (cell.standard_error or 0) / each.best_ipc for each, cell in bars],
        color=[shade(colours[cell.type]) for _, cell in bars],
        hatch=hatches,
        edgecolor="white",
    )
    names = [f"{each.name} after {cell.type}" for each, cell in bars]
    axes.set_yticks(places, [shown_name(name, longest=LONGEST_LABEL) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, PERCENT * 1.02)
    axes.set_title(shown_name(f"{model.name}: speed by what ran before", longest=2 * LONGEST_LABEL))
    said = " (hatched: assumed)" if any(hatches) else ""
    axes.set_xlabel(f"instructions per cycle, % of the best{said}")
    return axes


@styled
def plot_warm_up(points: WarmUpPoints, *, ax: Axes | None = None) -> Axes:
    """Draw the points of a warm-up curve and the curve nearest to them.

    Parameters
    ----------
    points
        The points, and how they are read.
    ax
        Where to draw; a figure of its own if None. The legend stands outside all axes of the
        figure, and needs a constrained layout.
    """
    curve = points.curve
    axes = begin_axes(new_axes(WIDTH, WARM_UP_HEIGHT) if ax is None else ax)
    ends = [point.end for point in points.points if np.isfinite(point.end)]
    times = np.linspace(0, 2 * max(ends, default=curve.time_constant), 400)
    values = CURVES[points.reading](times, curve.limit, curve.deficit, curve.time_constant)
    colour = LINES[0]
    (line,) = axes.plot(times, values, color=colour)
    signs = {f"IPC(t), time constant {curve.time_constant:.2g} ms": line}
    for point in points.points:
        if np.isinf(point.end):
            name = "given: the limit"
            signs[name] = axes.axhline(point.ipc, color=colour, linestyle=":", linewidth=1.0)
        elif point.begin == point.end:
            (signs["given: at a time"],) = axes.plot([point.begin], [point.ipc], "o", color=colour)
        else:
            (signs["given: mean of a range"],) = axes.plot(
                [point.begin, point.end], [point.ipc] * 2, color=colour, linewidth=4, alpha=0.5
            )
    axes.set(
        title=shown_name(f"Warm-up of {points.type}", longest=2 * LONGEST_LABEL),
        xlabel="time since the dispatch, ms",
        ylabel="instructions per cycle, relative",
        xlim=(0, times[-1]),
        ylim=(0, None),
    )
    add_legend(axes, signs)
    return axes


@styled
def plot_queueing(model: QueueingModel) -> Axes:
    """Draw mean response times, over the service time, against the load: a picture a machine.

    Below the ideal no policy comes; partitions and a global queue are policies, so the best one
    lies in the shaded area. Circles stand where partitions and the global queue cross.

    Returns
    -------
    matplotlib.axes.Axes
        Those of the first machine.
    """
    from matplotlib.patches import Patch

    figure = new_figure(MACHINE * len(model.cpus), MACHINE)
    panels = figure.subplots(1, len(model.cpus), squeeze=False)[0]
    for ax, cpus in zip(panels, model.cpus, strict=True):
        draw_machine(begin_axes(ax), model, cpus)
    first: Axes = panels[0]
    add_legend(first, LOOKS | {BETWEEN: Patch(color=INK, alpha=SHADING)})
    return first


def draw_machine(ax: Axes, model: QueueingModel, cpus: int) -> None:
    """Draw one machine."""
    rows = [row for row in queue_rows(model, LOADS.tolist()) if row.cpus == cpus]
    times = {
        name: np.array([getattr(row, column) for row in rows]) / model.service
        for name, column in QUEUES.items()
    }
    for name, look in LOOKS.items():
        times[name][np.isinf(times[name])] = np.nan
        ax.plot(LOADS, times[name], **look)
    best = np.fmin(times["partitions"], times["global queue"])
    ax.fill_between(LOADS, times["ideal"], best, color=INK, alpha=SHADING, linewidth=0)
    for load in crossings(model.service, model.reload, cpus) or ():
        point = (load, 1 / (1 - load))
        ax.plot(*point, "o", color=INK, markersize=5, fillstyle="none")
        ax.annotate(
            f"{load:.2f}", point, (-6, 4), textcoords="offset points", ha="right", fontsize=SMALL
        )
    ax.set(
        title=shown_name(f"{model.name}, {cpus} {'CPU' if cpus == 1 else 'CPUs'}", longest=40),
        xlabel="load without reloads",
        ylabel="response time ÷ service time",
        xlim=(0.0, 1.0),
        ylim=(1.0, HIGHEST),
        yscale="log",
    )
    ticks = (1, 2, 3, 5, 10)
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()


@styled
def plot_parallelism(profiles: Sequence[Profile]) -> Figure:
    """Draw for each application the share of its time at each level of parallelism, as bars.

    A dashed line marks the average number of processors that run its threads.

    Parameters
    ----------
    profiles
        What :func:`.profiles` returns.
    """
    figure = new_figure(PANEL[0] * len(profiles), PANEL[1])
    panels = figure.subplots(1, len(profiles), sharey=True, squeeze=False)[0]
    for axes, one in zip(panels, profiles, strict=True):
        shares = [100 * share for share in one.shares]
        begin_axes(axes).bar(range(1, len(shares) + 1), shares, color=LINES[0])
        axes.axvline(one.demand, color=INK, linestyle="--", linewidth=1.0)
        axes.locator_params("x", integer=True)
        axes.set_xlim(0.4, len(shares) + 0.6)
        axes.set_title(f"{one.application}: {one.elapsed:,.1f} s, {one.demand:.1f} processors")
        axes.set_xlabel("processors that run its threads")
    panels[0].set_ylabel("% of its time")
    return figure
