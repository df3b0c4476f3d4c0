"""The recordings of hackbench in ``docs/examples``, for pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dfopt import replace
from dfopt.compare import compare_trace, parse_window
from dfopt.compare.written_times import usual_waits
from dfopt.plot import plot_foresight, plot_frontier
from dfopt.trace import Trace, read_trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

PROCESSES = 40
"""Processes of a group; hackbench makes one group after the other."""


def recording(kind: str) -> Trace:
    """Return a recording in which each dispatch uses the data of its group.

    Parameters
    ----------
    kind
        What follows ``hackbench-`` in its name: the number of groups first.
    """
    trace = read_trace(EXAMPLES / f"hackbench-{kind}.txt.gz")
    number, _, policy = kind.partition("-")
    coordinator = np.bincount(trace.forks.parent).argmax()
    children = trace.forks.child[trace.forks.parent == coordinator]
    assert len(children) == int(number) * PROCESSES
    fragment_of = np.full(len(trace.tasks), -1, np.int32)
    fragment_of[children] = np.arange(len(children)) // PROCESSES
    name = f"hackbench, {number} groups" + f", {policy}" * bool(policy)
    return replace(
        trace,
        fragment=fragment_of[trace.task],
        fragments=tuple(f"group-{group}" for group in range(int(number))),
        header=replace(trace.header, name=name),
    )


def frontier(kinds: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw what was attainable for recordings, at which waiting."""
    traces = map(recording, kinds)
    return plot_frontier(
        [compare_trace(trace, windows=(), waits=usual_waits(trace)) for trace in traces], ax=ax
    )


def foresight(kinds: Sequence[str]) -> Axes:
    """Draw what recordings paid by cause, beside what look-ahead would have made of them."""
    windows = [parse_window(length) for length in ("5", "10", "20", "50", "100")]
    traces = map(recording, kinds)
    return plot_foresight([compare_trace(trace, windows=windows, waits=None) for trace in traces])
