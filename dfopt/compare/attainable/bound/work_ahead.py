"""How far ahead of their latest starts dispatches can be, given how busy the CPUs must be.

By time t, the dispatches have certainly run for N(t), the sum of min(p, t - d) over those with a
latest start d before t. They cannot have run for more than C(t), the least over all s ≤ t of R(s) +
(what CPUs have free from s to t), where R(s), the sum of min(p, s - r), is all that can have run by
s. CPUs are not free while blocks keep them. So the dispatches are *ahead* by at most
a(t) = C(t) - N(t), all together and each of them.

A dispatch with d ≥ t has run by t for min(p, t - start) if it started before. Where a(t) < p, that
is at most a(t) only if it starts no earlier than t - a(t).
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.timetable import blocks_by_cpu
from dfopt.trace.events import Integers

LARGEST = 2**61
"""Sums of times that could exceed this are not formed, so that 64 bits hold them."""


def after_work(arrivals: Arrivals, earliest: Integers, latest: Integers) -> Integers:
    """Return earliest starts that respect how far ahead dispatches can be, if they are later.

    Parameters
    ----------
    arrivals
        The dispatches, at least one; the lengths are as recorded.
    earliest, latest
        Times between which each of them starts.
    """
    length = arrivals.length
    blocks = blocks_by_cpu(arrivals)
    busy_begin, busy_end = (np.concatenate(part) for part in zip(*blocks, strict=True))
    ends = latest + length
    times = np.unique(
        np.concatenate([earliest, earliest + length, latest, ends, busy_begin, busy_end])
    )
    times = times[times >= earliest.min()]
    if len(earliest) > LARGEST // (int(times[-1]) - int(times[0]) + 1):
        return earliest
    free = arrivals.cpus * (times - times[0]) - _running(times, busy_begin, busy_end)
    certain = _running(times, latest, ends)
    possible = _running(times, earliest, earliest + length)
    ahead = free + np.minimum.accumulate(possible - free) - certain
    return np.maximum(earliest, _latest_known(times, ahead, latest, length))


def _running(times: Integers, begin: Integers, end: Integers) -> Integers:
    """Return the sum over intervals of what lies before each time, from the first time on."""
    first = times[0]
    total = np.zeros(len(times), np.int64)
    for edges, sign in ((begin, 1), (end, -1)):
        # All times from the first one on, so that their sums are small.
        ordered = np.sort(np.clip(edges, first, None)) - first
        sums = np.concatenate([[0], np.cumsum(ordered)])
        before = np.searchsorted(ordered, times - first)
        total += sign * ((times - first) * before - sums[before])
    return total


def _latest_known(times: Integers, ahead: Integers, latest: Integers, length: Integers) -> Integers:
    """Return t - a(t) for the latest time t ≤ d of each dispatch with a(t) < p, or its start."""
    known = np.full(len(latest), times[0])
    # Of the times so far, those with no later one at which dispatches are ahead by less or as much.
    least: list[int] = []
    candidates: list[int] = []
    position = 0
    time, by = times.tolist(), ahead.tolist()
    order = np.argsort(latest, kind="stable")
    due, needs = latest[order].tolist(), length[order].tolist()
    for row, last, needed in zip(order.tolist(), due, needs, strict=True):
        while position < len(time) and time[position] <= last:
            while least and least[-1] >= by[position]:
                least.pop()
                candidates.pop()
            least.append(by[position])
            candidates.append(time[position])
            position += 1
        found = bisect_left(least, needed) - 1
        if found >= 0:
            known[row] = candidates[found] - least[found]
    return known
