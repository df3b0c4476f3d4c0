"""The names of processes, for fragments that are processes."""

from __future__ import annotations

import numpy as np

from dfopt.trace.trace import UNMANAGED, Trace


def process_names(trace: Trace) -> tuple[str | None, ...]:
    """Return the name of each fragment that is a process; None for other fragments.

    A fragment is a process if its label is the ``tgid`` of all tasks that use it. Its name is the
    comm of the thread whose ``tid`` is the ``tgid``, the commonest one if it had several. Where
    the trace has no such thread, it is the commonest comm of all threads of the process.
    """
    numbers = _processes(trace)
    if trace.comm is None or not any(number is not None for number in numbers):
        return (None,) * len(trace.fragments)
    known = trace.comm >= 0
    pairs = np.stack([trace.task[known], trace.comm[known]], axis=1)
    found, counts = np.unique(pairs, axis=0, return_counts=True)
    of_leader: dict[int, dict[int, int]] = {}
    of_group: dict[int, dict[int, int]] = {}
    for (number, comm), count in zip(found.tolist(), counts.tolist(), strict=True):
        task = trace.tasks[number]
        if task.tgid is None:
            continue
        for comms in [of_group] if task.tid != task.tgid else [of_group, of_leader]:
            dispatches = comms.setdefault(task.tgid, {})
            dispatches[comm] = dispatches.get(comm, 0) + count

    def name(tgid: int | None) -> str | None:
        if tgid is None:
            return None
        dispatches = of_leader.get(tgid) or of_group.get(tgid)
        return None if not dispatches else trace.comms[max(dispatches, key=dispatches.__getitem__)]

    return tuple(map(name, numbers))


def _processes(trace: Trace) -> list[int | None]:
    """Return the process that each fragment is."""
    managed = trace.fragment != UNMANAGED
    pairs = np.unique(np.stack([trace.fragment[managed], trace.task[managed]], axis=1), axis=0)
    processes: list[int | None] = [None] * len(trace.fragments)
    others = set()
    for fragment, task in pairs.tolist():
        tgid = trace.tasks[task].tgid
        if tgid is None or str(tgid) != trace.fragments[fragment]:
            others.add(fragment)
        processes[fragment] = tgid
    return [None if number in others else tgid for number, tgid in enumerate(processes)]
