"""Between which times each dispatch of a trace starts, in every schedule within a waiting limit.

No dispatch starts before it is ready, nor later than the limit permits. Where it is unknown when it
was ready, a bound for any lengths takes the times that permit the most, and a bound for recorded
lengths those that schedules take. With lengths, three things raise the earliest start, and the
first of them lowers the latest one.

- *Causes.* A dispatch starts after the one before it of its task has ended, and after its waker has
  run for the recorded time.
- *Work ahead.* By time t, the dispatches have certainly run for N(t), the sum of min(p, t - d) over
  those with a latest start d before t. They cannot have run for more than C(t), the least over all
  s ≤ t of R(s) + (what CPUs have free from s to t), where R(s), the sum of min(p, s - r), is all
  that can have run by s. CPUs are not free while blocks keep them. So the dispatches are *ahead* by
  at most a(t) = C(t) - N(t), all together and each of them. A dispatch with d ≥ t has run by t for
  min(p, t - start) if it started before. Where a(t) < p, that is at most a(t) only if it starts no
  earlier than t - a(t).
- *Busy times* (timetable reasoning). A dispatch with d < r + p runs from d to r + p in every
  schedule, so it keeps a CPU then; and blocks keep theirs. Another dispatch fits only where some
  CPU has no block from its start to its end, and where at none of these times all CPUs are kept.
"""

from __future__ import annotations

import numpy as np

from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.trace.events import Integers

Blocks = tuple[tuple[Integers, Integers], ...]
"""For each CPU begin and end of its blocks, ordered and disjoint."""

Causes = list[tuple[int, int, int]]
"""Pairs of dispatches, and how long after the first one the second starts at the earliest; ordered
by the second one."""

MOST_ROUNDS = 10
"""Earliest starts are raised at most this number of times."""

LARGEST = 2**61
"""Sums of times that could exceed this are not formed, so that 64 bits hold them."""

NEVER = 2**62
"""A time after all others."""


def start_windows(
    dispatches: Dispatches, wait: int, *, uses_lengths: bool, as_in_schedules: bool = True
) -> tuple[Integers, Integers]:
    """Return the earliest and the latest start of each dispatch if none waits longer than ``wait``.

    Without ``uses_lengths`` a preempted task may go on as soon as the first part of its work was
    ready, since that part could have been shorter. With it both times are those of
    :func:`~dfopt.compare.attainable.check.check_schedule`, unless ``as_in_schedules`` is false:
    then the times are as without lengths, and wakers count for nothing.
    """
    if not uses_lengths:
        return dispatches.ready_from, dispatches.latest_starts_for_bounds(wait)
    earliest, latest = dispatches.ready_from, dispatches.latest_starts_for_bounds(wait)
    causes = causes_of(dispatches, with_wakers=as_in_schedules)
    if as_in_schedules:
        earliest = dispatches.ready_by
        latest = before_effects(causes, dispatches.latest_starts(wait))
    earliest = _after_causes(causes, earliest)
    blocks = blocks_by_cpu(dispatches)
    for _ in range(MOST_ROUNDS):
        before = earliest
        for raised in (_after_work, _after_busy_times):
            found = raised(blocks, dispatches.length, earliest, latest)
            earliest = _after_causes(causes, found)
        if (earliest == before).all():
            break
    return earliest, latest


def blocks_by_cpu(dispatches: Dispatches) -> Blocks:
    """Return for each CPU begin and end of the times for which blocks keep it, each time once."""
    fixed, found = dispatches.fixed, []
    for cpu in range(dispatches.cpus):
        own = fixed.chosen(fixed.cpu == cpu)
        begin, end = own.start, np.maximum.accumulate(own.end)
        # Where blocks overlap, the later one counts from the end of the earlier ones on.
        begin[1:] = np.maximum(begin[1:], end[:-1])
        found.append((begin[begin < end], end[begin < end]))
    return tuple(found)


def _after_causes(causes: Causes, ready: Integers) -> Integers:
    """Return ``ready``, or when what has to come before has come at the earliest, if later."""
    times: list[int] = ready.tolist()
    for before, after, lag in causes:
        times[after] = max(times[after], times[before] + lag)
    return np.array(times, np.int64)


def before_effects(causes: Causes, latest: Integers) -> Integers:
    """Return ``latest``, or when what has to come after has to come at the latest, if earlier."""
    times: list[int] = latest.tolist()
    for before, after, lag in reversed(causes):
        times[before] = min(times[before], times[after] - lag)
    return np.array(times, np.int64)


def causes_of(dispatches: Dispatches, *, with_wakers: bool = True) -> Causes:
    """Return what has to come first: the dispatch before of the same task, and the waker."""
    found = []
    for before, lag in (
        (dispatches.previous, dispatches.length[dispatches.previous]),
        (dispatches.waker, dispatches.waker_offset),
    )[: 2 if with_wakers else 1]:
        after = np.flatnonzero(before != NONE)
        found.append(np.stack([before[after], after, lag[after]]))
    pairs = np.concatenate(found, axis=1)
    return [*zip(*pairs[:, np.argsort(pairs[1], kind="stable")].tolist(), strict=True)]


def _after_work(blocks: Blocks, length: Integers, earliest: Integers, latest: Integers) -> Integers:
    """Return earliest starts that respect how far ahead dispatches can be, if they are later."""
    busy_begin, busy_end = (np.concatenate(part) for part in zip(*blocks, strict=True))
    ends = latest + length
    times = _distinct(
        np.concatenate([earliest, earliest + length, latest, ends, busy_begin, busy_end])
    )
    times = times[times >= earliest.min()]
    if len(earliest) > LARGEST // (int(times[-1]) - int(times[0]) + 1):
        return earliest
    free = len(blocks) * (times - times[0]) - _running(times, busy_begin, busy_end)
    certain = _running(times, latest, ends)
    possible = _running(times, earliest, earliest + length)
    ahead = free + np.minimum.accumulate(possible - free) - certain
    return np.maximum(earliest, _latest_known(times, ahead, latest, length))


def _distinct(times: Integers) -> Integers:
    """Return times in order, each once; `numpy.unique` takes several times as long for many."""
    ordered: Integers = np.sort(times)
    return ordered[np.diff(ordered, append=NEVER) > 0]


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
    first, matters = times[0], ahead < length.max()
    times, ahead = times[matters], ahead[matters]
    if not len(times):
        return np.full(len(latest), first)
    # The least a(t) of the last 1, 2, 4, … times up to each time.
    least = [ahead]
    while (width := 2 ** (len(least) - 1)) < len(times):
        before = np.concatenate([least[-1][:width], least[-1][:-width]])
        least.append(np.minimum(least[-1], before))
    # Times are passed over, the most at once first, among which all a(t) are too large.
    found = np.searchsorted(times, latest, "right") - 1
    for number in reversed(range(len(least))):
        is_passed = (found >= 0) & (least[number][found] >= length)
        found = np.maximum(found - 2**number * is_passed, -1)
    return np.where(found >= 0, times[found] - ahead[found], first)


def _after_busy_times(
    blocks: Blocks, length: Integers, earliest: Integers, latest: Integers
) -> Integers:
    """Return earliest starts at which dispatches fit, if they are later."""
    certain = latest < earliest + length
    begins = np.sort(np.concatenate([latest[certain], *(begin for begin, _ in blocks)]))
    ends = np.sort(np.concatenate([(earliest + length)[certain], *(end for _, end in blocks)]))
    times = _distinct(np.concatenate([begins, ends]))
    kept = np.searchsorted(begins, times, "right") - np.searchsorted(ends, times, "right")
    # A dispatch of no length may start between two of these slots.
    full = np.flatnonzero(kept >= len(blocks))
    all_kept = times[full], times[full + 1]
    # From its latest start on, it is the dispatch itself that keeps a CPU.
    own = np.where(certain, latest, NEVER)
    fits = latest
    for cpu_blocks in blocks:
        start = earliest.copy()
        rows = np.arange(len(start))
        while len(rows):
            now = start[rows]
            end = now + length[rows]
            later = np.maximum(
                _beyond(cpu_blocks, now, end), _beyond(all_kept, now, np.minimum(end, own[rows]))
            )
            start[rows] = later
            rows = rows[(later > now) & (later < fits[rows])]
        fits = np.minimum(fits, start)
    return fits


def _beyond(intervals: tuple[Integers, Integers], start: Integers, end: Integers) -> Integers:
    """Return the ends of the first intervals after ``start`` that begin before ``end``, or it."""
    begins, ends = (np.append(times, NEVER) for times in intervals)
    first = np.searchsorted(ends, start, "right")
    return np.where(begins[first] < end, ends[first], start)
