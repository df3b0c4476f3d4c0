"""What people call a fragment: its label, with the names of who uses it where a label says nothing.

Labels in files stay as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from dfopt.structs import DocumentPart, Natural
from dfopt.trace.process_names import process_names
from dfopt.trace.trace import UNMANAGED, Trace

INFERRED_LABEL = re.compile(r"g\d+", re.ASCII)
"""The labels of fragments that are inferred from wake-ups: numbers that say nothing."""

MOST_COMMS = 2
"""At most this many comms stand behind a label."""


class CommCount(DocumentPart):
    """How many tasks of a fragment have a comm.

    Parameters
    ----------
    comm
        The comm.
    tasks
        How many have it.
    """

    comm: str
    tasks: Natural


def comms_of_inferred(trace: Trace) -> tuple[tuple[CommCount, ...], ...]:
    """Return how many tasks of each inferred fragment have which comm, the commonest comm first.

    A fragment is inferred if its label is one of g0, g1 and so on. A task has the comm of most of
    its dispatches. Other fragments have none, nor have those of a trace without comms.
    """
    found: list[Counter[str]] = [Counter() for _ in trace.fragments]
    is_inferred = [INFERRED_LABEL.fullmatch(df) is not None for df in trace.fragments]
    if trace.comm is not None and any(is_inferred):
        comms = _comms_of_tasks(trace)
        pairs = _pairs(trace.fragment, trace.task, trace.fragment != UNMANAGED)
        for fragment, task in pairs[0]:
            if is_inferred[fragment] and task in comms:
                found[fragment][comms[task]] += 1
    return tuple(map(_commonest_first, found))


def title(df: str, name: str | None = None, comms: Sequence[CommCount] = ()) -> str:
    """Return what people call a fragment.

    Parameters
    ----------
    df
        Its label.
    name
        The name of the process, if the fragment is one.
    comms
        How many of its tasks have each comm, if it was inferred.

    Examples
    --------
    >>> title("4711", "nginx")
    '4711 nginx'
    >>> title("g0", comms=[CommCount(comm="python", tasks=12), CommCount(comm="sh", tasks=1)])
    'g0 (python ×12, sh)'
    """
    if name is not None:
        return f"{df} {name}"
    if not comms:
        return df
    shown = [
        f"{found.comm} ×{found.tasks:,}" if found.tasks > 1 else found.comm
        for found in comms[:MOST_COMMS]
    ]
    if len(comms) > MOST_COMMS:
        shown.append("…")
    return f"{df} ({', '.join(shown)})"


def titles(trace: Trace) -> tuple[str, ...]:
    """Return what people call each fragment of a trace."""
    named = zip(trace.fragments, process_names(trace), comms_of_inferred(trace), strict=True)
    return tuple(title(df, name, comms) for df, name, comms in named)


def _commonest_first(counted: Counter[str]) -> tuple[CommCount, ...]:
    by_count = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(CommCount(comm=comm, tasks=tasks) for comm, tasks in by_count)


def _comms_of_tasks(trace: Trace) -> dict[int, str]:
    """Return the comm of most dispatches of each task."""
    assert trace.comm is not None
    pairs, counts = _pairs(trace.task, trace.comm, trace.comm >= 0)
    by_count = sorted(zip(pairs, counts, strict=True), key=lambda found: found[1])
    return {task: trace.comms[comm] for (task, comm), _ in by_count}


def _pairs(
    first: np.ndarray, second: np.ndarray, chosen: np.ndarray
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the pairs of numbers that occur in the chosen rows, and how often each does."""
    key, counts = np.unique(
        first[chosen].astype(np.int64) << 32 | second[chosen], return_counts=True
    )
    pairs = zip((key >> 32).tolist(), (key & 0xFFFFFFFF).tolist(), strict=True)
    return [*pairs], counts.tolist()
