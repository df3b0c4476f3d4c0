"""The bars of a Gantt chart: dispatches, or where these are too many, shares of the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dfopt.trace.events import Integers
from dfopt.trace.trace import UNMANAGED, Trace

MOST_BARS = 40_000
"""At most this many bars are drawn, so that a report of a long trace can be sent around."""

MOST_GROUPS = 16
"""At most this many fragments have a colour of their own."""

OTHERS = "other fragments"
NO_FRAGMENT = "no fragment"

BAR_HEIGHT = 0.8


@dataclass(slots=True)
class Bars:
    """The bars of one colour; times are in the trace's unit, from its beginning on.

    Parameters
    ----------
    left, right
        When each begins and ends.
    low, high
        Its lower and upper end: CPU 0 lies around 0, CPU 1 around -1.
    cpu
        Where it ran.
    task
        What ran there, in words.
    """

    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    cpu: list[int] = field(default_factory=list)
    task: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class GanttBars:
    """What a chart shows.

    Parameters
    ----------
    bars
        For each name in the legend.
    length
        Of the trace, in its unit.
    column
        The width of a column in the same unit; None: every dispatch has a bar of its own.
    """

    bars: dict[str, Bars]
    length: int
    column: float | None


def gantt_bars(trace: Trace, fragments: Sequence[str], *, most: int = MOST_BARS) -> GanttBars:
    """Return the bars of a trace.

    Parameters
    ----------
    trace
        The trace.
    fragments
        Its fragments, those first that are to have colours.
    most
        At most this many bars are returned.

    Returns
    -------
    GanttBars
        If there are more dispatches than ``most``, narrow columns show how a CPU spent its time.
    """
    coloured = fragments if len(fragments) <= MOST_GROUPS else fragments[: MOST_GROUPS - 1]
    numbers = {name: number for number, name in enumerate(trace.fragments)}
    names = [*coloured, OTHERS, NO_FRAGMENT]
    group_of = np.full(len(numbers) + 1, len(coloured), np.int64)
    for place, name in enumerate(coloured):
        group_of[numbers[name]] = place
    group_of[UNMANAGED] = len(names) - 1  # UNMANAGED, which is -1, means the last
    group = group_of[trace.fragment]
    origin = int(trace.start.min()) if len(trace) else 0
    length = int(trace.end.max()) - origin if len(trace) else 0
    bars = {name: Bars() for name in names}
    if len(trace) <= most:
        for row in range(len(trace)):
            add(
                bars[names[int(group[row])]],
                (int(trace.start[row]) - origin, int(trace.end[row]) - origin),
                int(trace.cpu[row]),
                name_of(trace, row),
            )
        column = None
    else:
        # A column may hold several colours: fewer columns are taken until all bars have room.
        columns = max(1, min(most // trace.cpus, length))
        while True:
            edges = column_edges(origin, length, columns)
            shares = shares_of(trace, group, len(names), edges)
            if columns == 1 or np.count_nonzero(shares) <= most:
                break
            columns = max(1, columns * 3 // 4)
        # A fragment may be called what stands for all others; then both have one colour.
        add_columns([bars[name] for name in names], shares, edges, origin)
        column = length / columns
    return GanttBars(
        bars={name: own for name, own in bars.items() if own.left}, length=length, column=column
    )


def add(bars: Bars, times: tuple[int, int], cpu: int, task: str) -> None:
    """Add a bar of full height."""
    bars.left.append(times[0])
    bars.right.append(times[1])
    bars.low.append(-cpu - BAR_HEIGHT / 2)
    bars.high.append(-cpu + BAR_HEIGHT / 2)
    bars.cpu.append(cpu)
    bars.task.append(task)


def shares_of(trace: Trace, group: Integers, groups: int, edges: Integers) -> Integers:
    """Return for how long each group ran, by CPU, group and column."""
    shares = np.zeros((trace.cpus, groups, len(edges) - 1), np.int64)
    for cpu in range(trace.cpus):
        own = np.flatnonzero(trace.cpu == cpu)
        start, end, groups_of_own = trace.start[own], trace.end[own], group[own]
        for number in np.unique(groups_of_own).tolist():
            chosen = groups_of_own == number
            shares[cpu, number] = time_within(start[chosen], end[chosen], edges[:-1], edges[1:])
    return shares


def add_columns(
    bars: Sequence[Bars],
    shares: Integers,
    edges: Integers,
    origin: int,
) -> None:
    """Add a column's shares, one above the other."""
    width = np.maximum(edges[1:] - edges[:-1], 1)
    for cpu in range(len(shares)):
        low = np.full(len(width), -cpu - BAR_HEIGHT / 2)
        for own, used in zip(bars, shares[cpu], strict=True):
            high = low + BAR_HEIGHT * used / width
            shown = np.flatnonzero(used)
            own.left += (edges[:-1][shown] - origin).tolist()
            own.right += (edges[1:][shown] - origin).tolist()
            own.low += low[shown].tolist()
            own.high += high[shown].tolist()
            own.cpu += [cpu] * len(shown)
            own.task += [f"{part:.0%} of this time" for part in (used / width)[shown].tolist()]
            low = high


def name_of(trace: Trace, row: int) -> str:
    """Return the name of the thread of a dispatch: its comm if the trace has comms."""
    if trace.comm is not None and trace.comm[row] >= 0:
        return trace.comms[int(trace.comm[row])]
    return trace.tasks[int(trace.task[row])].name


def column_edges(begin: int, length: int, count: int) -> Integers:
    """Return where columns begin that divide a length of time evenly, and where the last one ends.

    Products of long times and many columns are beyond 64 bits, so they are Python's own integers.
    """
    return np.array([begin + length * number // count for number in range(count + 1)], np.int64)


def time_within(begins: Integers, ends: Integers, left: Integers, right: Integers) -> Integers:
    """Return for how long stretches that do not overlap, in their order, cover each column."""
    if not len(begins):
        return np.zeros(len(left), np.int64)
    before = np.concatenate([[0], np.cumsum(ends - begins)])

    def covered(time: Integers) -> Integers:
        last = np.searchsorted(begins, time, "right") - 1
        inside = np.clip(time, begins[last], ends[last]) - begins[last]
        found: Integers = np.where(last < 0, 0, before[last] + inside)
        return found

    return covered(right) - covered(left)
