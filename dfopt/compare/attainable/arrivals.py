"""The managed dispatches of a trace, with the times at which each could have started."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dfopt.trace.events import Flags, Integers, Numbers

Rows = NDArray[np.intp]

NONE = -1
"""Stands for a dispatch where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwitchCosts:
    """The costs of one dispatch after another on a CPU, as columns with a row for each dispatch.

    Parameters
    ----------
    entry
        Paid by a dispatch that follows one of another fragment.
    exit
        Paid after a dispatch that is followed by one of another fragment.
    always
        Paid after a dispatch that is followed by any other one.
    first, last
        Paid by the first dispatch of a CPU, and after its last one.
    matrix
        Under a matrix, the cost of fragment ``column`` after fragment ``row``; it replaces
        ``entry``, ``exit`` and ``always``. Otherwise of shape (0, 0).
    """

    entry: Integers
    exit: Integers
    always: Integers
    first: Integers
    last: Integers
    matrix: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """What keeps its CPU and its time in every schedule, ordered by CPU and start.

    These are the dispatches of tasks without a fragment, and the gaps of the recording.

    Parameters
    ----------
    row
        The row in the trace, or ``NONE`` for a gap.
    cpu, start, end
        The CPU is taken from ``start`` to just before ``end``.
    evicts
        Whether it leaves none of the fragments in the cache.
    entry, exit
        If it evicts: its own costs, and the cost after it if another dispatch follows.
    first, last
        If it evicts: the costs if it is the first of its CPU, and after it if it is the last.
    """

    row: Rows
    cpu: Numbers
    start: Integers
    end: Integers
    evicts: Flags
    entry: Integers
    exit: Integers
    first: Integers
    last: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrivals:
    """The managed dispatches of a trace, and when each was ready.

    They are ordered by recorded start, those of no length first. So each stands after ``previous``
    and ``waker``.

    A task runs its dispatches in their order. One that was woken became ready at some time from
    ``ready_from`` to ``ready_by``; the two are equal where the wake-up is recorded. A dispatch that
    was preempted goes on as the next dispatch of its task, which has the ready times of the first
    one: in other schedules it may follow directly.

    Parameters
    ----------
    cpus
        Number of CPUs that appear in the trace; here they are numbered from 0.
    cpu_number
        The number of each of them in the trace.
    row
        The row of each dispatch in the trace.
    fragment, task
        As in the trace.
    cpu, start
        Where and when it ran.
    length
        The time for which it ran.
    ready_from, ready_by
        It was certainly not ready before the first time, and certainly ready at the second one.
    previous
        The dispatch of the same task before it, which ends before it starts; or ``NONE``.
    previous_end
        The recorded end of the task's dispatch before it, managed or not; the smallest integer if
        there is none.
    waker, waker_offset
        The dispatch that woke it, and how long this one had run by then. It starts only after
        its waker has run for that time. ``NONE`` and 0 where an interrupt or a block woke it.
    continues
        Whether it goes on with what the dispatch before it was preempted in.
    latest
        It starts at the latest then, because something that keeps its time follows it; the largest
        integer if there is nothing.
    costs
        What switches cost.
    blocks
        What keeps its place in every schedule.
    cut_cpu, cut_time
        Nothing is known about the cache of this CPU at this time: no switch across it is charged.
    """

    cpus: int
    cpu_number: Numbers
    row: Rows
    fragment: Numbers
    task: Numbers
    cpu: Numbers
    start: Integers
    length: Integers
    ready_from: Integers
    ready_by: Integers
    previous: Rows
    previous_end: Integers
    waker: Rows
    waker_offset: Integers
    continues: Flags
    latest: Integers
    costs: SwitchCosts
    blocks: Blocks
    cut_cpu: Numbers
    cut_time: Integers

    def __len__(self) -> int:
        """Return the number of dispatches."""
        return len(self.row)

    def latest_starts(self, wait: int) -> Integers:
        """Return when each dispatch may start at the latest if ``wait`` is permitted.

        That is ``wait`` after it was ready in the recording, or its recorded start if that is
        later. Where it is unknown when it was ready, the earliest possible time counts.
        """
        ready = np.maximum(self.ready_from, self.previous_end)
        times: Integers = np.minimum(self.latest, np.maximum(self.start, ready + wait))
        return times

    def latest_starts_for_bounds(self, wait: int) -> Integers:
        """Return times that are no earlier than :meth:`latest_starts`, whatever was missing."""
        ready = np.maximum(self.ready_by, self.previous_end)
        times: Integers = np.maximum(self.start, ready + wait)
        return times
