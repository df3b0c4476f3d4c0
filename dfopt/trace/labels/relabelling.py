"""New labels for the rows of a trace, and rows cut where a label changes in the middle of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dfopt.structs import replace
from dfopt.trace.events import Flags, Integers, Numbers, Stop, Stops
from dfopt.trace.trace import UNMANAGED, Trace

BEFORE_ALL = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Changes:
    """The moments from which on tasks use another fragment.

    Parameters
    ----------
    task, time
        The task and the moment. Before its first change a task is not managed. Of several changes
        in one moment the last one counts.
    fragment
        Index into the fragments, or ``UNMANAGED``.
    """

    task: Numbers
    time: Integers
    fragment: Numbers


def with_fragments(trace: Trace, fragment: Numbers, names: Sequence[str]) -> Trace:
    """Return a trace with these labels; names that no dispatch uses are left out.

    Parameters
    ----------
    trace
        The trace.
    fragment
        Index into ``names`` for each row, or ``UNMANAGED``.
    names
        Names of fragments; the same name may stand there twice.
    """
    numbers: dict[str, int] = {}
    # One more entry at the end, for index -1.
    new = np.full(len(names) + 1, UNMANAGED, np.int32)
    used = np.unique(fragment)
    for index in used[used != UNMANAGED].tolist():
        new[index] = numbers.setdefault(names[index], len(numbers))
    return replace(trace, fragment=new[fragment], fragments=tuple(numbers))


def label_tasks(trace: Trace, names: Sequence[str | None]) -> Trace:
    """Return a trace in which each task uses one fragment all the time, or None."""
    found = tuple(dict.fromkeys(name for name in names if name is not None))
    numbers = {name: number for number, name in enumerate(found)}
    of_task = np.array([UNMANAGED if name is None else numbers[name] for name in names], np.int32)
    return with_fragments(trace, of_task[trace.task], found)


def label_changes(trace: Trace, changes: Changes, names: Sequence[str]) -> Trace:
    """Return a trace in which tasks change their fragments, and runs are cut where they do.

    A change in the moment at which a run begins holds for the whole run. A change in the moment at
    which it ends does not touch it. So no part is empty.
    """
    changes = _in_effect(changes, len(trace.tasks))
    first, last = _changes_within(trace, changes)
    parts = np.maximum(last - first, 0) + 1
    row = np.repeat(np.arange(len(trace)), parts)
    part = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    # The change in effect during each part; the first part's came before the run.
    change = first[row] - 1 + part
    start = np.where(part == 0, trace.start[row], changes.time[change])
    is_last = part == parts[row] - 1
    following = np.minimum(change + 1, len(changes.time) - 1)
    end = np.where(is_last, trace.end[row], changes.time[following])
    # The parts of a run are consecutive, so a stable sort keeps each CPU's order.
    order = np.argsort(start, kind="stable")
    row = row[order]
    cut = replace(
        trace,
        cpu=trace.cpu[row],
        start=start[order],
        end=end[order],
        task=trace.task[row],
        comm=None if trace.comm is None else trace.comm[row],
        lines=None if trace.lines is None else trace.lines[row],
        leaves=None if trace.leaves is None else trace.leaves[row],
        stop=None if trace.stop is None else _stops(trace.stop[row], is_last[order]),
    )
    return with_fragments(cut, changes.fragment[change[order]], names)


def _stops(stop: Stops, is_last: Flags) -> Stops:
    """Return why the parts of runs stop; all but the last part of a run could go on."""
    return np.where(is_last, stop, np.int8(Stop.PREEMPTED))


def _in_effect(changes: Changes, tasks: int) -> Changes:
    """Return the changes that change anything, by task and time.

    Each task begins with a change to unmanaged before all times, so that it always has a change in
    effect.
    """
    task = np.concatenate([np.arange(tasks, dtype=np.int32), changes.task])
    time = np.concatenate([np.full(tasks, BEFORE_ALL), changes.time])
    fragment = np.concatenate([np.full(tasks, UNMANAGED, np.int32), changes.fragment])
    order = np.lexsort((time, task))
    task, time, fragment = task[order], time[order], fragment[order]
    overruled = np.zeros(len(task), bool)
    overruled[:-1] = (task[1:] == task[:-1]) & (time[1:] == time[:-1])
    task, time, fragment = task[~overruled], time[~overruled], fragment[~overruled]
    idle = np.zeros(len(task), bool)
    idle[1:] = (task[1:] == task[:-1]) & (fragment[1:] == fragment[:-1])
    return Changes(task=task[~idle], time=time[~idle], fragment=fragment[~idle])


def _changes_within(trace: Trace, changes: Changes) -> tuple[Integers, Integers]:
    """Return for each row its task's first change after it starts, and not before it ends."""
    first = np.empty(len(trace), np.int64)
    last = np.empty(len(trace), np.int64)
    begins = np.searchsorted(changes.task, np.arange(len(trace.tasks) + 1))
    by_task = np.argsort(trace.task, kind="stable")
    rows_begin = np.searchsorted(trace.task[by_task], np.arange(len(trace.tasks) + 1))
    for task in np.unique(trace.task).tolist():
        rows = by_task[rows_begin[task] : rows_begin[task + 1]]
        low, high = begins[task], begins[task + 1]
        time = changes.time[low:high]
        first[rows] = low + np.searchsorted(time, trace.start[rows], side="right")
        last[rows] = low + np.searchsorted(time, trace.end[rows], side="left")
    return first, last
