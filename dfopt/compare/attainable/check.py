"""Check a schedule that keeps cause and effect, by the definitions alone.

Nothing here is shared with the searches, nor with :func:`~dfopt.compare.paid.cost_of`: a mistake
there is not made again here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.dispatches import NONE, TRANSPARENT, Dispatches
from dfopt.structs import Record
from dfopt.trace.trace import UNMANAGED

FIXED = "something that keeps its place"

MOST_NAMED = 20
"""At most this number of dispatches are named for each rule that is broken."""


class WaitingLimit(Record):
    """How long dispatches may wait, in the trace's unit of time.

    Parameters
    ----------
    each
        No dispatch starts more than this after it was ready in the recording, or else later than
        it started there; 0: nobody waits longer than recorded. None: no such limit.
    total
        The waits of all dispatches add up to at most this; None: no such limit.
    long, most_long
        At most ``most_long`` dispatches wait longer than ``long``; None: no such limit.
    """

    each: int | None = None
    total: int | None = None
    long: int | None = None
    most_long: int | None = None


def check_schedule(dispatches: Dispatches, limit: WaitingLimit) -> list[str]:
    """Return what is wrong with a schedule, a sentence for each problem; none if all is well.

    Parameters
    ----------
    dispatches
        Where and when each dispatch runs, and what was recorded.
    limit
        How long they may wait.

    Returns
    -------
    list of str
        Which dispatch (its row in the trace), where and why. Times are in the trace's unit.
    """
    cpu = dispatches.cpu
    problems = _each(
        (cpu < 0) | (cpu >= dispatches.cpus),
        lambda j: (
            f"{_name(dispatches, j)} is on CPU {cpu[j]} of a trace with {dispatches.cpus} CPUs, "
            "which are counted from 0."
        ),
    )
    if problems:
        return problems
    problems += _early(dispatches)
    problems += _late(dispatches, limit)
    problems += _waits(dispatches, limit)
    problems += _overlaps(dispatches)
    return problems


def checked_cost(dispatches: Dispatches) -> int:
    """Return what all switches of a schedule cost, added up one after the other.

    Dispatches of a CPU, and what is fixed and evicts, stand in the order of their starts. Where two
    start at once, the shorter one stands first, then the one in the earlier row of the trace.
    """
    every = dispatches.with_fixed
    on_cpu: list[list[tuple[int, int, int, int]]] = [[] for _ in range(every.cpus)]
    cuts: list[list[int]] = [[] for _ in range(every.cpus)]
    for j in np.flatnonzero(every.fragment != TRANSPARENT).tolist():
        place = int(every.start[j]), int(every.length[j]), int(every.row[j]), j
        on_cpu[every.cpu[j]].append(place)
    for cpu, time in zip(every.cuts.cpu.tolist(), every.cuts.time.tolist(), strict=True):
        cuts[cpu].append(time)
    return sum(
        _cost_of_cpu(every, [j for *_, j in sorted(places)], sorted(times))
        for places, times in zip(on_cpu, cuts, strict=True)
    )


def _cost_of_cpu(every: Dispatches, order: list[int], cuts: list[int]) -> int:
    """Return what the switches of one CPU cost that runs dispatches in an order."""
    total, passed = 0, 0
    before = NONE
    for j in order:
        cut = False
        while passed < len(cuts) and cuts[passed] <= every.start[j]:
            passed, cut = passed + 1, True
        if before == NONE:
            if passed == 0:
                total += int(every.first[j])
        elif not cut:
            held, used = int(every.fragment[before]), int(every.fragment[j])
            if every.matrix.size:
                total += int(every.matrix[held, used])
            else:
                total += int(every.always[before])
                if held != used or used == UNMANAGED:
                    total += int(every.exit[before]) + int(every.entry[j])
        before = j
    if before != NONE and passed == len(cuts):
        total += int(every.last[before])
    return total


def _name(dispatches: Dispatches, j: int) -> str:
    """Return what a dispatch is called in a problem."""
    return f"The dispatch in row {dispatches.row[j]} (task {dispatches.task[j]})"


def _each(wrong: NDArray[np.bool_], sentence: Callable[[int], str]) -> list[str]:
    """Return a sentence for each dispatch that is wrong; at most ``MOST_NAMED``, and the rest."""
    numbers = np.flatnonzero(wrong).tolist()
    sentences = [sentence(j) for j in numbers[:MOST_NAMED]]
    if len(numbers) > MOST_NAMED:
        sentences.append(f"The same holds for {len(numbers) - MOST_NAMED} other dispatches.")
    return sentences


def _early(dispatches: Dispatches) -> list[str]:
    """Return which dispatches start before something that has to come first."""
    start, ready = dispatches.start, dispatches.ready_by
    problems = _each(
        start < ready,
        lambda j: (
            f"{_name(dispatches, j)} starts at {start[j]}, but it was ready only at {ready[j]}."
        ),
    )
    previous, waker = dispatches.previous, dispatches.waker
    end = dispatches.end[previous]
    problems += _each(
        (previous != NONE) & (start < end),
        lambda j: (
            f"{_name(dispatches, j)} starts at {start[j]}, but the dispatch before it of the same "
            f"task, in row {dispatches.row[previous[j]]}, ends only at {end[j]}."
        ),
    )
    woken = start[waker] + dispatches.waker_offset
    problems += _each(
        (waker != NONE) & (start < woken),
        lambda j: (
            f"{_name(dispatches, j)} starts at {start[j]}, but the dispatch in row "
            f"{dispatches.row[waker[j]]} wakes it only at {woken[j]}."
        ),
    )
    return problems


def _late(dispatches: Dispatches, limit: WaitingLimit) -> list[str]:
    """Return which dispatches start later than they may."""
    start, latest = dispatches.start, dispatches.latest
    problems = _each(
        start > latest,
        lambda j: (
            f"{_name(dispatches, j)} starts at {start[j]}, but something that keeps its time "
            f"follows it, so that it starts at {latest[j]} at the latest."
        ),
    )
    if limit.each is None:
        return problems
    permitted = np.maximum(dispatches.ready_from, dispatches.previous_end) + limit.each
    permitted = np.maximum(dispatches.recorded, permitted)
    problems += _each(
        start > permitted,
        lambda j: (
            f"{_name(dispatches, j)} starts at {start[j]}; if it may wait for {limit.each}, it has "
            f"to start by {permitted[j]}."
        ),
    )
    return problems


def _waits(dispatches: Dispatches, limit: WaitingLimit) -> list[str]:
    """Return which limits on all waits together are broken."""
    waits = dispatches.waits
    problems = []
    total = int(waits.sum())
    if limit.total is not None and total > limit.total:
        problems.append(f"All dispatches wait for {total} together; permitted is {limit.total}.")
    if limit.long is not None and limit.most_long is not None:
        number = int((waits > limit.long).sum())
        if number > limit.most_long:
            problems.append(
                f"{number} dispatches wait longer than {limit.long}; permitted is that "
                f"{limit.most_long} do."
            )
    return problems


def _overlaps(dispatches: Dispatches) -> list[str]:
    """Return which dispatches start while their CPU is taken, or run into what is fixed."""
    every, count = dispatches.with_fixed, len(dispatches)
    cpu, start, end = every.cpu, every.start, every.end
    overlapping = np.zeros(len(cpu), np.bool_)
    other = np.full(len(cpu), NONE)
    for number in range(every.cpus):
        own = np.flatnonzero(cpu == number)
        own = own[np.lexsort((end[own], start[own]))]
        # The one before that ends last is the first one from which this end is known.
        ends = np.maximum.accumulate(end[own])
        latest = np.searchsorted(ends, ends, side="left")[:-1]
        # What is fixed may overlap, as a gap does with what is known of the time within it.
        may_move = (own[1:] < count) | (own[latest] < count)
        wrong = np.flatnonzero((start[own[1:]] < ends[:-1]) & may_move)
        overlapping[own[1:][wrong]] = True
        other[own[1:][wrong]] = own[latest[wrong]]

    def describe(j: int) -> str:
        return (
            f"the dispatch in row {every.row[j]}" if j < count else "something that keeps its place"
        )

    def sentence(j: int) -> str:
        what = describe(j)
        return (
            f"{what[0].upper()}{what[1:]} starts at {start[j]} on CPU {every.cpu_number[cpu[j]]}, "
            f"which {describe(int(other[j]))} takes until {end[other[j]]}."
        )

    return _each(overlapping, sentence)
