"""Numbers of threads for tasks that may have other names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

import numpy as np

from dfopt.trace.trace import Trace, TraceTask

MOST = 999_999_999
"""The largest number that readers take for a thread's."""

NUMBERED = re.compile(r"([1-9][0-9]{0,8})(?:\.[1-9][0-9]*)?")
"""A thread's number, perhaps with that of its life."""


def thread_numbers(trace: Trace) -> list[int]:
    """Return a thread's number for each task.

    Tasks that are lives of one thread share its number if one is over when the next begins;
    else, and where a task is called by no number, it gets one that is free.
    """
    first, last = _lifetimes(trace)
    wanted = [_wanted(task) for task in trace.tasks]
    taken = {number for number in wanted if number}
    above = max(taken, default=0)
    # Those above look like what they stand beside, but may not suffice.
    free = count(above + 1) if above + len(wanted) <= MOST else count(1)
    numbers = [0] * len(wanted)
    over: dict[int, int] = {}
    for task in np.argsort(first, kind="stable").tolist():
        number = wanted[task]
        if number is None or over.get(number, -1) >= first[task]:
            number = next(one for one in free if one not in taken)
        numbers[task] = number
        over[number] = last[task]
    return numbers


def free_number(numbers: Sequence[int]) -> int:
    """Return a thread's number that is none of these."""
    above = max(numbers, default=0) + 1
    return above if above <= MOST else min(set(range(1, len(numbers) + 2)) - set(numbers))


def _wanted(task: TraceTask) -> int | None:
    if task.tid is not None and 0 < task.tid <= MOST:
        return task.tid
    match = NUMBERED.fullmatch(task.name)
    return int(match[1]) if match else None


def _lifetimes(trace: Trace) -> tuple[list[int], list[int]]:
    """Return when each task first starts and when it last ends; -1 if it never runs."""
    first = np.full(len(trace.tasks), np.iinfo(np.int64).max)
    last = np.full(len(trace.tasks), -1)
    np.minimum.at(first, trace.task, trace.start)
    np.maximum.at(last, trace.task, trace.end)
    return np.where(last < 0, -1, first).tolist(), last.tolist()
