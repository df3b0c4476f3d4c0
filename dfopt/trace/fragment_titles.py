"""What people call a fragment: its label, with the names of who uses it where a label says nothing.

Labels in files stay as they are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter

from dfopt.structs import DocumentPart, Natural
from dfopt.trace.events import pairs_of
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
    if any(is_inferred):
        comms = {task: comm for task, comm, _ in sorted(_comms(trace), key=itemgetter(2))}
        for fragment, task in _users(trace):
            if is_inferred[fragment] and task in comms:
                found[fragment][trace.comms[comms[task]]] += 1
    return tuple(
        tuple(
            CommCount(comm=comm, tasks=tasks)
            for comm, tasks in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        )
        for counts in found
    )


def process_names(trace: Trace) -> tuple[str | None, ...]:
    """Return the name of each fragment that is a process; None for other fragments.

    A fragment is a process if its label is the ``tgid`` of all tasks that use it. Its name is the
    comm of the thread whose ``tid`` is the ``tgid``, the commonest one if it had several. Where
    the trace has no such thread, it is the commonest comm of all threads of the process.
    """
    processes: list[int | None] = [None] * len(trace.fragments)
    others = set()
    for fragment, number in _users(trace):
        processes[fragment] = tgid = trace.tasks[number].tgid
        if str(tgid) != trace.fragments[fragment]:
            others.add(fragment)
    of_leader: defaultdict[int | None, Counter[int]] = defaultdict(Counter)
    of_group: defaultdict[int | None, Counter[int]] = defaultdict(Counter)
    for number, comm, count in _comms(trace):
        task = trace.tasks[number]
        of_group[task.tgid][comm] += count
        if task.tid == task.tgid:
            of_leader[task.tgid][comm] += count
    names: list[str | None] = []
    for fragment, tgid in enumerate(processes):
        counts = of_leader.get(tgid) or of_group.get(tgid)
        is_process = tgid is not None and fragment not in others
        names.append(
            trace.comms[max(counts, key=counts.__getitem__)] if is_process and counts else None
        )
    return tuple(names)


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


def _users(trace: Trace) -> Iterable[tuple[int, int]]:
    """Return the fragments with the tasks that use them."""
    managed = trace.fragment != UNMANAGED
    pairs, _ = pairs_of(trace.fragment[managed], trace.task[managed])
    return zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)


def _comms(trace: Trace) -> Iterable[tuple[int, int, int]]:
    """Return the tasks with the comms that they have, and in how many dispatches."""
    if trace.comm is None:
        return ()
    pairs, _ = pairs_of(trace.task[trace.comm >= 0], trace.comm[trace.comm >= 0])
    columns = pairs.first, pairs.second, pairs.count
    return zip(*(column.tolist() for column in columns), strict=True)
