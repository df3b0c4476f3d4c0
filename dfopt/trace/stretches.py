"""What readers and writers of traces ask: whether dispatches and gaps overlap, order, times."""

from __future__ import annotations

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.structs import Record
from dfopt.time_units import NANOSECONDS
from dfopt.trace.events import Integers
from dfopt.trace.quality import Quality
from dfopt.trace.trace import BROKEN_CHAIN, CLOCK_WENT_BACK, LOST_EVENTS, Trace


class Disorder(Record):
    """A dispatch or gap that cannot be true beside the others.

    Parameters
    ----------
    row
        The number of the dispatch, or of the gap.
    is_gap
        Whether it is a gap.
    problem
        The mistake, and its remedy.
    """

    row: int
    is_gap: bool = False
    problem: str


def first_disorder(trace: Trace) -> Disorder | None:
    """Return the first dispatch or gap that overlaps others of its CPU."""
    cpu, start, end, gaps = trace.cpu, trace.start, trace.end, trace.gaps
    by_cpu = np.argsort(cpu, kind="stable")
    same_cpu = cpu[by_cpu[1:]] == cpu[by_cpu[:-1]]
    early = start[by_cpu[1:]] < end[by_cpu[:-1]]
    overlaps = np.flatnonzero(same_cpu & early)
    if len(overlaps):
        first = overlaps[np.argmin(by_cpu[1:][overlaps])]
        before, row = int(by_cpu[first]), int(by_cpu[first + 1])
        return Disorder(
            row=row,
            problem=f"starts at {start[row]} on CPU {cpu[row]}, where another dispatch runs until "
            f"{end[before]}; a CPU runs one at a time",
        )
    for number in np.unique(gaps.cpu):
        mine = by_cpu[slice(*np.searchsorted(cpu[by_cpu], [number, number + 1]))]
        # A gap without length is a moment: what was known before it is not known after it.
        of_cpu = np.flatnonzero((gaps.cpu == number) & (gaps.end > gaps.start))
        begun = np.searchsorted(start[mine], gaps.end[of_cpu], side="left")
        over = np.searchsorted(end[mine], gaps.start[of_cpu], side="right")
        overlaps = np.flatnonzero(begun > over)
        if len(overlaps):
            row = int(of_cpu[overlaps[0]])
            return Disorder(
                row=row,
                is_gap=True,
                problem=f"a dispatch runs on CPU {number} between {gaps.start[row]} and "
                f"{gaps.end[row]}, about which nothing is known; cut the gap shorter",
            )
    return None


def stretches_in_order(trace: Trace) -> Integers:
    """Return dispatches and gaps in order of time; those of a CPU stand in their true order.

    Returns
    -------
    Integers
        The numbers of the dispatches, and for the gap i the number ``len(trace) + i``.
    """
    starts = np.concatenate([trace.start, trace.gaps.start])
    ends = np.concatenate([trace.end, trace.gaps.end])
    return np.lexsort((ends, starts))


def paid_so_far(trace: Trace, costs: Integers) -> list[int]:
    """Return for each dispatch what its CPU has paid for switches since the trace began."""
    sums = [0] * trace.cpus
    paid = []
    for cpu, cost in zip(trace.cpu.tolist(), costs.tolist(), strict=True):
        sums[cpu] += cost
        paid.append(sums[cpu])
    return paid


def quality_of(trace: Trace, lines: int) -> Quality:
    """Return the quality of a trace in a format that tells only about gaps.

    Parameters
    ----------
    trace
        The trace.
    lines
        Lines of its file.
    """
    gaps = trace.gaps
    counts = {reason: int((gaps.reason == n).sum()) for n, reason in enumerate(gaps.reasons)}
    seen = np.concatenate([trace.cpu, gaps.cpu])
    return Quality(
        lines=lines,
        events=len(trace),
        breaks=counts.get(BROKEN_CHAIN, 0),
        losses=counts.get(LOST_EVENTS, 0),
        clock_steps=counts.get(CLOCK_WENT_BACK, 0),
        silent_cpus=tuple(np.setdiff1d(np.arange(trace.cpus), seen).tolist()),
    )


def nanoseconds_per_unit(trace: Trace) -> int:
    """Return the number of nanoseconds in a trace's unit of time.

    It is 1 for units that are no fraction of a second, such as cycles or lines.

    Raises
    ------
    FileError
        When a time of the trace in nanoseconds is beyond 2^62.
    """
    factor = NANOSECONDS.get(trace.header.time_unit or "ns", 1)
    latest = max(int(np.max(column, initial=0)) for column in (trace.end, trace.gaps.end))
    if latest * factor > LARGEST_TOTAL:
        raise FileError(
            f"the trace ends at {latest} {trace.header.time_unit}, in nanoseconds beyond 2^62; "
            "write it as .jsonl"
        )
    return factor
