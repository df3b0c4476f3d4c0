"""Pictures of contention, batches, counters and queues, and of applications that are alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.plot.style import (
    GREY,
    INK,
    LINES,
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
from dfopt_models.locks import Holds
from dfopt_models.queueing import QueueingModel, crossings, queue_rows
from dfopt_models.space_sharing.alone import Profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
LONGEST = 40
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
    axes.set_yticks(places, [shown_name(name, longest=LONGEST) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, PERCENT * 1.02)
    axes.set_title(shown_name(f"{model.name}: speed by what ran before", longest=2 * LONGEST))
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
        title=shown_name(f"Warm-up of {points.type}", longest=2 * LONGEST),
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
