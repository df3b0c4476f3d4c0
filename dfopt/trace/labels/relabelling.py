"""New labels for the rows of a trace, and rows cut where a label changes in the middle of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dfopt.structs import replace
from dfopt.trace.events import Flags, Integers, Marks, Numbers, Stop
from dfopt.trace.moments import Moments
from dfopt.trace.trace import UNMANAGED, Numbering, Trace

BEFORE_ALL = np.iinfo(np.int64).min


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
    numbers = Numbering()
    of_task = np.array([UNMANAGED if name is None else numbers[name] for name in names], np.int32)
    return with_fragments(trace, of_task[trace.task], numbers.names)


def label_changes(trace: Trace, changes: Marks) -> Trace:
    """Return a trace in which tasks change their fragments, and runs are cut where they do.

    Before its first change a task is not managed; nor is it after one to ``UNMANAGED``. Of several
    changes in one moment the last one counts.

    A change in the moment at which a run begins holds for the whole run. A change in the moment at
    which it ends does not touch it. So no part is empty.
    """
    changes = _in_effect(changes, len(trace.tasks))
    # The task's first change after each row starts, and the first one not before it ends.
    moments = Moments(changes.task, changes.time)
    first = moments.after(trace.task, trace.start)
    last = moments.since(trace.task, trace.end)
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
    cut = trace.chosen(row[order])
    stop = cut.stop
    if stop is not None:  # all but the last part of a run could go on
        stop = np.where(is_last[order], stop, np.int8(Stop.PREEMPTED))
    cut = replace(cut, start=start[order], end=end[order], stop=stop)
    return with_fragments(cut, changes.df[change[order]], changes.names)


def _in_effect(changes: Marks, tasks: int) -> Marks:
    """Return the changes that change anything, by task and time.

    Each task begins with a change to unmanaged before all times, so that it always has a change in
    effect.
    """
    before = Marks(
        task=np.arange(tasks, dtype=np.int32),
        time=np.full(tasks, BEFORE_ALL),
        df=np.full(tasks, UNMANAGED, np.int32),
        names=changes.names,
    )
    changes = before.joined(changes)
    changes = changes.chosen(np.lexsort((changes.time, changes.task)))
    overruled = np.roll(_repeats(changes.task) & _repeats(changes.time), -1)
    changes = changes.chosen(~overruled)
    idle = _repeats(changes.task) & _repeats(changes.df)
    return changes.chosen(~idle)


def _repeats(column: Numbers | Integers) -> Flags:
    """Return for each value whether it is that before it; False for the first."""
    repeats = np.zeros(len(column), bool)
    repeats[1:] = column[1:] == column[:-1]
    return repeats
