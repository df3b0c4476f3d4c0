"""The tasks of a trace that a thread's number means, or an expression on the comm."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from dfopt.errors import DfoptWarning, FileError
from dfopt.render import counted
from dfopt.trace.events import Flags
from dfopt.trace.labels.relabelling import with_fragments
from dfopt.trace.trace import UNMANAGED, Trace

TIDS = re.compile(r"\d+(\.\d+)?(,\d+(\.\d+)?)*")


class Tids:
    """Finds tasks by the number of the thread, or by the name of one life of it.

    A number means every life of the thread, except those that are named as well: ``12`` beside
    ``12.2`` means all lives but the second.

    Parameters
    ----------
    trace
        The trace with the tasks.
    named
        All numbers and names that the file holds.
    """

    def __init__(self, trace: Trace, named: Iterable[str]) -> None:
        self._by_name = {task.name: number for number, task in enumerate(trace.tasks)}
        self._by_tid: defaultdict[str, list[int]] = defaultdict(list)
        named = set(named)
        for number, task in enumerate(trace.tasks):
            if task.tid is not None and not (task.name != str(task.tid) and task.name in named):
                self._by_tid[str(task.tid)].append(number)

    def tasks(self, tid: str) -> Sequence[int]:
        """Return the tasks with this number or name; none if the trace has no such task."""
        if tid in self._by_tid:
            return self._by_tid[tid]
        return [self._by_name[tid]] if tid in self._by_name else []


def report_unknown(unknown: Sequence[tuple[int, str]], named: int, file: str) -> None:
    """Warn of lines about threads that are not in the trace; refuse a file with only such lines.

    Parameters
    ----------
    unknown
        Line and ``tid``, in the order of the file.
    named
        The number of lines in all.
    file
        The name of the file in warnings.

    Raises
    ------
    FileError
        When the trace has no thread of the file.
    """
    if not unknown:
        return
    line, tid = unknown[0]
    if len(unknown) == named:
        raise FileError(
            f"none of the threads that it names is in the trace, the first is {tid}; name a file "
            "that was made for this trace",
            place=f"line {line}",
        )
    others = f", and {counted(len(unknown) - 1, 'more line')}" if len(unknown) > 1 else ""
    warnings.warn(
        f"{file}: line {line}: thread {tid} is not in the trace{others}",
        DfoptWarning,
        stacklevel=3,
    )


def keep_only(trace: Trace, chosen: str, *, is_chosen: bool = False) -> Trace:
    """Return a trace in which the dispatches of all other tasks are not managed.

    Parameters
    ----------
    trace
        With labels.
    chosen
        Numbers of threads with commas between them, such as ``12,13.2``, or a regular
        expression that is searched for in the comm of each dispatch, or in the name of its task
        if the trace has no comms.
    is_chosen
        Whether the trace came with its labels, as a simulated one does. Without comms, and without
        a task of such a name, it then stays as it is, with a warning.

    Raises
    ------
    FileError
        When the expression is invalid, when the trace has no such thread, or when no dispatch is
        left managed.
    """
    if TIDS.fullmatch(chosen):
        kept = _by_tid(trace, chosen.split(","))
    else:
        expression = compiled_pattern(chosen)
        kept = _by_comm(trace, expression)
        if trace.comm is None and not any(expression.search(task.name) for task in trace.tasks):
            if not is_chosen:
                raise FileError(
                    f"has no comms, and no task whose name fits {chosen!r}; give the numbers of "
                    "threads, or to each trace its own source of labels (own for simulated ones)"
                )
            warnings.warn(
                f"has no comms to choose {chosen!r} by; all its own labels are kept",
                DfoptWarning,
                stacklevel=2,
            )
            return trace
    fragment = np.where(kept, trace.fragment, np.int32(UNMANAGED))
    if (fragment == UNMANAGED).all():
        raise FileError(f"has no managed dispatch of {chosen}; choose other threads or labels")
    return with_fragments(trace, fragment, trace.fragments)


def _by_tid(trace: Trace, wanted: list[str]) -> Flags:
    tids = Tids(trace, wanted)
    is_kept = np.zeros(len(trace.tasks), bool)
    for tid in wanted:
        tasks = tids.tasks(tid)
        if not tasks:
            raise FileError(f"has no thread {tid}; take it out of the list")
        is_kept[tasks] = True
    kept: Flags = is_kept[trace.task]
    return kept


def _by_comm(trace: Trace, expression: re.Pattern[str]) -> Flags:
    """Return the dispatches with such a comm, or of tasks with such a name without comms."""
    names, numbers = trace.comms, trace.comm
    if numbers is None:
        names, numbers = tuple(task.name for task in trace.tasks), trace.task
    # One more at the end, for dispatches without a comm.
    fits = np.array([*(bool(expression.search(name)) for name in names), False], bool)
    kept: Flags = fits[numbers]
    return kept


def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """Return the compiled regular expression.

    Raises
    ------
    FileError
        When the expression is invalid, with the position of the mistake.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        at = "" if error.pos is None else f" at character {error.pos + 1}"
        raise FileError(
            f"{pattern!r} is no regular expression: {error.msg}{at}; correct it"
        ) from None
