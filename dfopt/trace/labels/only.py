"""Leaves only some tasks of a trace managed."""

from __future__ import annotations

import re

import numpy as np

from dfopt.errors import FileError
from dfopt.trace.events import Flags
from dfopt.trace.labels.comm import compiled_pattern
from dfopt.trace.labels.relabelling import with_fragments
from dfopt.trace.labels.tids import Tids
from dfopt.trace.trace import UNMANAGED, Trace

TIDS = re.compile(r"\d+(\.\d+)?(,\d+(\.\d+)?)*")


def keep_only(trace: Trace, chosen: str) -> Trace:
    """Return a trace in which the dispatches of all other tasks are not managed.

    Parameters
    ----------
    trace
        With labels.
    chosen
        Numbers of threads with commas between them, such as ``12,13.2``, or a regular
        expression that is searched for in the comm of each dispatch.

    Raises
    ------
    FileError
        When the expression is none, the trace has no comms or no such thread, or no dispatch is
        left managed.
    """
    kept = _by_tid(trace, chosen.split(",")) if TIDS.fullmatch(chosen) else _by_comm(trace, chosen)
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


def _by_comm(trace: Trace, pattern: str) -> Flags:
    expression = compiled_pattern(pattern)
    if trace.comm is None:
        raise FileError("has no comms to look at; give the numbers of threads")
    # One more at the end, for dispatches without a comm.
    is_kept = np.array([*(bool(expression.search(comm)) for comm in trace.comms), False], bool)
    kept: Flags = is_kept[trace.comm]
    return kept
