"""A trace as a Gantt chart: one row a CPU, dispatches in the colour of their fragment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from dfopt.plot.colours import INK, PAPER, Colour, group_colours, mixed
from dfopt.plot.gantt import (
    LARGEST_FONT,
    TITLE,
    WIDTH,
    as_people_sort,
    draw_legend,
    figure_height,
    font_size_of,
    name_rows,
    size_in_points,
)
from dfopt.plot.gantt_bars import (
    BAR_HEIGHT,
    HATCHES,
    Brush,
    amount_text,
    bar,
    draw_charges,
    draw_runs,
    run_label,
    tint,
)
from dfopt.plot.names import shown_name
from dfopt.plot.picture import lay_out, new_axes
from dfopt.plot.time_columns import SWITCHING, TimeColumns, draw_shares, explain_columns
from dfopt.plot.trace_window import TraceWindow, window_of
from dfopt.problem.cache_domains import CacheDomains
from dfopt.problem.timeline import Charge, ChargeKind, CpuTimeline, TaskRun
from dfopt.trace.events import Flags, Integers
from dfopt.trace.latest_of_same import latest_of_same
from dfopt.trace.time_units import NANOSECONDS, time_scale
from dfopt.trace.trace import UNMANAGED, Trace

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

NO_FRAGMENT = "no fragment"
UNLABELLED: Colour = (0.8, 0.8, 0.8)

DOTS: Colour = mixed(INK, PAPER, 0.55)
GAPS = "...."
"""The hatching of times about which nothing is known."""

DISTINCT_COLOURS = 24
"""At most this many fragments have colours of their own, and stand in the legend."""

MOST_LINES = 150
"""With more migrations than this there are only marks where threads arrive, and no lines."""

MOST_TICKS = 8

LONGEST_DOMAIN = 30
"""Characters of a domain's name."""


def plot_trace(  # noqa: PLR0913 - options, all by keyword
    trace: Trace,
    costs: Integers | None = None,
    *,
    begin: int = 0,
    end: int | None = None,
    domains: CacheDomains | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a trace as a Gantt chart.

    CPUs are rows, CPU 0 on top, or those of the first cache domain. Dispatches have the colour of
    their fragment, and begin hatched for as long as they pay for the switch; where lengths do not
    include switches, the hatching stands before the start. A line leads from
    where a task left a CPU to where it goes on on another one. Where dispatches are too short to be
    told apart, columns show how the CPU spent its time: the height of a colour is its share, and
    what is left white was idle.

    Parameters
    ----------
    trace
        Recorded or simulated.
    costs
        What the switch to each dispatch costs, in the trace's unit of time; None: not drawn.
    begin, end
        The part of the trace to draw, in its unit, from its beginning on; None: to its end.
    domains
        The CPUs that share a last-level cache. They stand below each other, with a line between
        two domains and the name of each beside it; None: CPUs in their order, without lines.
    ax
        Where to draw; a figure of its own if None, of a height that fits the number of CPUs.

    Returns
    -------
    matplotlib.axes.Axes
        Where the trace has been drawn.

    Raises
    ------
    DfoptError
        When nothing ran in this part, it ends before it begins, or a CPU has no domain.
    """
    cpus: Sequence[int] = range(trace.cpus)
    if domains is not None:
        domains = domains.of_first(trace.cpus)
        cpus = list(chain.from_iterable(domains.members))
        trace = in_rows(trace, cpus)
    window = window_of(trace, costs, begin, end)
    axes = new_axes(WIDTH, figure_height(trace.cpus)) if ax is None else ax
    font_size = font_size_of(axes, trace.cpus)
    moved = migrations(trace, window)
    groups = sorted(set(window.group) - {NO_FRAGMENT}, key=as_people_sort)
    colours = {**group_colours(groups), NO_FRAGMENT: UNLABELLED}
    label_axes(axes, trace, window, len(moved))
    name_rows(axes, [f"CPU {cpu}" for cpu in cpus], font_size)
    if domains is not None:
        name_domains(axes, domains, font_size)
    axes.set_xlim(window.begin, window.end)
    if ax is None:
        lay_out(axes)  # how much room the bars have depends on the labels
    brush = Brush(
        ax=axes,
        points_per_unit=size_in_points(axes)[0] / (window.end - window.begin),
        font_size=font_size,
        colours=colours,
        names_groups=len(groups) > DISTINCT_COLOURS,
        unit=trace.header.time_unit,
    )
    has_gaps = draw_gaps(brush, trace, window)
    columns = TimeColumns.of(brush, trace, window)
    rows = [timeline_of(trace, window, columns, cpu) for cpu in range(trace.cpus)]
    draw_runs(brush, rows)
    draw_charges(brush, rows)
    draw_shares(brush, trace, window, columns)
    label_dispatches(brush, rows)
    draw_migrations(brush, trace, window, moved)
    has_columns = bool(columns.is_dense.any())
    entries = list(
        legend_entries(brush, groups, window, has_moved=bool(moved), has_columns=has_columns)
    )
    if has_gaps:
        entries.append(gap_entry())
    draw_legend(brush, entries, has_ticks=True)
    if has_columns:
        explain_columns(axes)
    return axes


def in_rows(trace: Trace, cpus: Sequence[int]) -> Trace:
    """Return a trace whose CPUs are numbered by their rows, where ``cpus`` stand in this order."""
    row_of = np.argsort(cpus).astype(np.int32)
    gaps = replace(trace.gaps, cpu=row_of[trace.gaps.cpu])
    return replace(trace, cpu=row_of[trace.cpu], gaps=gaps)


def name_domains(ax: Axes, domains: CacheDomains, font_size: float) -> None:
    """Write the name of each domain to the right of its rows, with a line between two domains."""
    names = [f"domain {name}" for name in domains.names]
    rows = list(accumulate(map(len, domains.members), initial=0))
    for name, (first, end) in zip(names, pairwise(rows), strict=True):
        if first:
            ax.axhline(first - 0.5, color=INK, linewidth=1.0, zorder=3)
        ax.text(
            1.01,
            (first + end - 1) / 2,
            shown_name(name, longest=LONGEST_DOMAIN),
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=max(4, min(LARGEST_FONT, font_size * (end - first))),
            color=INK,
            parse_math=False,
        )


def label_axes(ax: Axes, trace: Trace, window: TraceWindow, migrations: int) -> None:
    """Write the name of the trace, what happened in the window, and the unit of time."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    scale, unit = time_scale(window.end - window.begin, trace.header.time_unit)
    changes = int(fragment_changes(trace)[window.rows].sum())
    counts = ", ".join(
        f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}{plural}"
        for count, noun, plural in (
            (len(window.rows), "dispatch", "es"),
            (changes, "fragment switch", "es"),
            (migrations, "migration", "s"),
        )
    )
    ax.set_title(shown_name(trace.header.name or "trace", longest=50), loc="left", **TITLE)
    ax.set_title(counts, loc="right", **{**TITLE, "fontsize": LARGEST_FONT})
    ticks = MaxNLocator(MOST_TICKS).tick_values(window.begin / scale, window.end / scale)
    ax.xaxis.set_major_locator(FixedLocator([tick * scale for tick in ticks]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda time, _: f"{time / scale:,.10g}"))
    ax.grid(axis="x", color=mixed(INK, PAPER, 0.85), linewidth=0.6)
    ax.set_axisbelow(True)
    since = "time since the trace begins"
    ax.set_xlabel(f"{since} ({unit})" if unit else since, fontsize=LARGEST_FONT, parse_math=False)
    ax.tick_params(axis="x", labelsize=LARGEST_FONT)
    ax.spines[["top", "right", "left"]].set_visible(False)


def fragment_changes(trace: Trace) -> Flags:
    """Return which dispatches follow one of another fragment on their CPU; others do not count."""
    changes = np.zeros(len(trace), bool)
    managed = np.flatnonzero(trace.fragment != UNMANAGED)
    before = latest_of_same(trace.cpu[managed])
    fragment = trace.fragment[managed]
    changes[managed] = (before >= 0) & (fragment != fragment[before])
    return changes


def timeline_of(trace: Trace, window: TraceWindow, columns: TimeColumns, cpu: int) -> CpuTimeline:
    """Return what a CPU does outside of dense columns."""
    own = np.flatnonzero(trace.cpu[window.rows] == cpu)
    if columns.is_dense[cpu].any():
        # Those that lie in dense columns as a whole are left out at once.
        dense_before = np.concatenate([[0], np.cumsum(columns.is_dense[cpu])])
        first = np.searchsorted(columns.edges, window.start[own], "right") - 1
        last = np.searchsorted(columns.edges, window.stop[own], "left")
        first = np.clip(first, 0, len(dense_before) - 2)
        own = own[dense_before[last] - dense_before[first] < last - first]
    runs: list[TaskRun] = []
    charges: list[Charge] = []
    for number in own.tolist():
        group, name = window.group[number], name_of(trace, int(window.rows[number]))
        start, paid, stop = (
            int(column[number]) for column in (window.start, window.paid, window.stop)
        )
        charges += [
            Charge(kind=ChargeKind.SWITCH, group=group, start=left, amount=right - left)
            for left, right in columns.plain_parts(cpu, start, paid)
            if paid > start
        ]
        for left, right in columns.plain_parts(cpu, paid, stop):
            before = runs[-1] if runs else None
            if before is not None and before.group == group and before.edges[-1] == left:
                is_part = before.names[-1] == name and left != paid
                names = before.names if is_part else (*before.names, name)
                edges = before.edges[:-1] if is_part else before.edges
                runs[-1] = TaskRun(group=group, names=names, edges=(*edges, right))
            else:
                runs.append(TaskRun(group=group, names=(name,), edges=(left, right)))
    return CpuTimeline(runs=tuple(runs), charges=tuple(charges), end=window.end, cost=0)


def name_of(trace: Trace, row: int) -> str:
    """Return the name of the thread of a dispatch: its comm if the trace has comms."""
    if trace.comm is not None and trace.comm[row] >= 0:
        return trace.comms[int(trace.comm[row])]
    return trace.tasks[int(trace.task[row])].name


def label_dispatches(brush: Brush, rows: Sequence[CpuTimeline]) -> None:
    """Write names on runs, and amounts on penalties, where these have room."""
    for number, row in enumerate(rows):
        for run in row.runs:
            for text, centre in run_label(brush, run):
                brush.write(text, centre, number, brush.colours[run.group])
        for charge in row.charges:
            text = amount_text(charge.amount, brush.unit)
            if brush.fits(text, charge.amount):
                middle = charge.start + charge.amount / 2
                brush.write(text, middle, number, tint(brush.colours[charge.group]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A task leaves a CPU and goes on on another one."""

    left_at: int
    left: int
    arrived_at: int
    arrived: int


def migrations(trace: Trace, window: TraceWindow) -> list[Migration]:
    """Return the migrations to dispatches that start in the window."""
    before = latest_of_same(trace.task)[window.rows]
    cpu, origin = trace.cpu, int(trace.start.min())
    starts = (trace.start[window.rows] - origin) >= window.begin
    moved = (before >= 0) & (cpu[before] != cpu[window.rows]) & starts
    return [
        Migration(
            left_at=int(trace.end[old]) - origin,
            left=int(cpu[old]),
            arrived_at=start,
            arrived=int(cpu[new]),
        )
        for old, new, start in zip(
            before[moved].tolist(),
            window.rows[moved].tolist(),
            window.start[moved].tolist(),
            strict=True,
        )
    ]


def draw_migrations(
    brush: Brush, trace: Trace, window: TraceWindow, moved: Sequence[Migration]
) -> None:
    """Mark above the bars where tasks arrive, and lead lines there if they are few."""
    from matplotlib.collections import LineCollection

    above, colour = BAR_HEIGHT / 2, mixed(INK, PAPER, 0.1)
    marks = [
        [(move.arrived_at, move.arrived - above), (move.arrived_at, move.arrived - 0.5)]
        for move in moved
    ]
    brush.ax.add_collection(LineCollection(marks, colors=[colour], linewidths=0.9))
    if len(moved) > MOST_LINES:
        return
    lines = []
    for move in moved:
        if move.left_at < window.begin:  # it says nothing about this part of the trace
            continue
        down = 1 if move.arrived > move.left else -1
        lines.append(
            [
                (move.left_at, move.left + down * above),
                (move.arrived_at, move.arrived - down * above),
            ]
        )
    brush.ax.add_collection(LineCollection(lines, colors=[colour], linewidths=0.6, zorder=2.5))


def draw_gaps(brush: Brush, trace: Trace, window: TraceWindow) -> bool:
    """Draw the times of CPUs about which nothing is known; return whether there are any."""
    from matplotlib.collections import PolyCollection

    origin = int(trace.start.min())
    gaps = [
        bar(cpu, max(start - origin, window.begin), min(end - origin, window.end))
        for cpu, start, end in zip(
            trace.gaps.cpu.tolist(), trace.gaps.start.tolist(), trace.gaps.end.tolist(), strict=True
        )
        if end - origin > window.begin and start - origin < window.end
    ]
    if gaps:
        brush.ax.add_collection(
            PolyCollection(gaps, facecolors=PAPER, edgecolors=DOTS, hatch=GAPS, linewidths=0)
        )
    return bool(gaps)


def gap_entry() -> tuple[str, Artist]:
    """Return the entry of the legend for gaps."""
    from matplotlib.patches import Patch

    return "nothing is known", Patch(facecolor=PAPER, edgecolor=DOTS, hatch=GAPS, linewidth=0)


def legend_entries(
    brush: Brush,
    groups: Sequence[str],
    window: TraceWindow,
    *,
    has_moved: bool,
    has_columns: bool,
) -> Iterator[tuple[str, Artist]]:
    """Yield the entries of the legend: fragments if they are few, and what marks mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if not brush.names_groups:
        for name in groups:
            yield shown_name(name), Patch(color=brush.colours[name])
    else:
        yield f"{len(groups)} fragments, whose colours repeat", Patch(color=PAPER)
    if NO_FRAGMENT in window.group:
        yield NO_FRAGMENT, Patch(color=UNLABELLED)
    if (window.paid > window.start).any():
        hatch = HATCHES[ChargeKind.SWITCH]
        has_unit = brush.unit is None or brush.unit in NANOSECONDS
        yield (
            "switch penalty" if has_unit else f"switch penalty ({brush.unit})",
            Patch(facecolor=PAPER, edgecolor=SWITCHING, hatch=hatch, linewidth=0),
        )
        if has_columns:
            yield "switch penalties, as a share", Patch(color=SWITCHING)
    if has_moved:
        yield "migration", Line2D([], [], color=INK, marker="|", linewidth=0.6, markersize=7)
