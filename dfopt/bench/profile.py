"""Performance profiles: which share of instances each method solves, and how much later."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence

from dfopt.bench.rows import Row
from dfopt.problem.result import StopReason
from dfopt.render import counted
from dfopt.table import Table, Value, columns

FACTORS = (1, 2, 5, 10, 100)
"""The factors that a table shows."""

SHORTEST_S = 0.01
"""Shorter times count as this one, since their ratios say more of the machine than of methods."""

SOLVED = (StopReason.PROOF, StopReason.GAP_LIMIT)


def performance_ratios(rows: Sequence[Row]) -> dict[str, list[float]]:
    r"""Return how many times as long as the fastest method each one took, instance by instance.

    Parameters
    ----------
    rows
        The rows of several methods. Where those of a method have several settings, each of them
        counts as a method. An instance that some method lacks is left out.

    Returns
    -------
    dict[str, list[float]]
        By method the ratios :math:`r_{p,s} = t_{p,s} / \min_{s'} t_{p,s'}` of all instances p, in
        the same order. A ratio is infinite where the method s did not solve p: where the search
        ended before its proof, and before the gap that was asked for.

    References
    ----------
    E. D. Dolan and J. J. Moré, Benchmarking optimization software with performance profiles,
    Mathematical Programming 91, 2002, pages 201 to 213, section 2.
    """
    methods = {row.label: row.method for row in rows}
    if len(set(methods.values())) < len(methods):
        methods = {label: label for label in methods}
    times: dict[str, dict[str, float]] = {}
    for row in rows:
        is_solved = row.stop_reason in SOLVED and not row.is_wrong
        time = max(row.wall_time_s, SHORTEST_S) if is_solved else math.inf
        times.setdefault(row.sha256, {})[methods[row.label]] = time
    known = [own for own in times.values() if len(own) == len(methods)]
    return {
        method: [
            own[method] / min(own.values()) if own[method] < math.inf else math.inf for own in known
        ]
        for method in methods.values()
    }


def share_within(ratios: Sequence[float], factor: float) -> float:
    """Return the share of instances with a ratio of at most a factor: their profile there."""
    return sum(ratio <= factor for ratio in ratios) / len(ratios)


def profile_table(ratios: Mapping[str, Sequence[float]]) -> Table:
    """Return the profile of each method at the usual factors, and the share that it solved."""
    headings = columns("method", *(f"{factor}× :.0%" for factor in FACTORS), "solved :.0%")
    factors = (*FACTORS, sys.float_info.max)
    rows: list[tuple[Value, ...]] = [
        (method, *(share_within(own, factor) for factor in factors))
        for method, own in ratios.items()
    ]
    count = max(map(len, ratios.values()))
    note = (
        f"of {counted(count, 'instance')}; 1×: how often a method is the fastest; "
        f"times below {SHORTEST_S:g} s count as {SHORTEST_S:g} s"
    )
    title = "solved within these multiples of the fastest method's time"
    return Table(title, headings, rows, [note])
