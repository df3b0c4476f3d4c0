"""Labels from what threads are called."""

from __future__ import annotations

import re

import numpy as np

from dfopt.errors import FileError
from dfopt.trace.labels.relabelling import with_fragments
from dfopt.trace.trace import UNMANAGED, Trace

GROUP = "df"
"""The group of a regular expression that names the fragment, if it has one of this name."""


def label_by_comm(trace: Trace, pattern: str) -> Trace:
    """Return a trace labelled by a regular expression on the comm.

    Parameters
    ----------
    trace
        What to label.
    pattern
        Searched for in the comm of each dispatch. The fragment is its group ``df``, or its first
        group, or the whole match. Where nothing matches, or the group is empty, the dispatch is
        not managed.

    Raises
    ------
    FileError
        When the expression is none, or the trace has no comms.
    """
    expression = compiled_pattern(pattern)
    if trace.comm is None:
        raise FileError("has no comms to look at; take another source of labels")
    group: str | int = GROUP if GROUP in expression.groupindex else min(expression.groups, 1)
    # One more at the end, for dispatches without a comm.
    of_comm = np.full(len(trace.comms) + 1, UNMANAGED, np.int32)
    names = []
    for number, comm in enumerate(trace.comms):
        found = expression.search(comm)
        names.append((found[group] or "") if found else "")
        if names[-1]:
            of_comm[number] = number
    return with_fragments(trace, of_comm[trace.comm], names)


def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """Return a regular expression, or say in one line what is wrong with it."""
    try:
        return re.compile(pattern)
    except re.error as error:
        at = "" if error.pos is None else f" at character {error.pos + 1}"
        raise FileError(
            f"{pattern!r} is no regular expression: {error.msg}{at}; correct it"
        ) from None
