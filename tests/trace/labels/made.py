"""Small traces to label, and how to look at the labels."""

import numpy as np

from dfopt.trace import trace_of
from dfopt.trace.events import Forks, KernelEvents, Marks, Stop, Switches, ThreadGroups, Wakeups


def made(  # noqa: PLR0913 -- each is a kind of event
    runs, *, marks=(), forks=(), wakeups=(), groups=(), last_runs=()
):
    """Return the trace of one CPU on which ``runs`` (comm, pid, end) follow each other from 0 on.

    Threads in ``last_runs``, numbers of runs, end for ever with them.
    """
    comms = tuple(dict.fromkeys(comm for comm, _, _ in runs))
    pids = [pid for _, pid, _ in runs]
    count = len(runs)
    names = tuple(dict.fromkeys(df for _, _, df in marks))

    def column(rows, place, kind):
        return np.array([row[place] for row in rows], kind)

    def timed(rows, kind, *fields):
        columns = {name: column(rows, at, np.int32) for at, name in enumerate(fields, start=1)}
        return kind(time=column(rows, 0, np.int64), **columns)

    return trace_of(
        KernelEvents(
            switches=Switches(
                cpu=np.zeros(count + 1, np.int32),
                time=np.array([0, *(end for _, _, end in runs)], np.int64),
                previous=np.array([0, *pids], np.int32),
                previous_comm=np.array([0, *(comms.index(run[0]) for run in runs)], np.int32),
                previous_stop=np.where(
                    np.isin(np.arange(-1, count), last_runs),
                    np.int8(Stop.ENDS),
                    np.int8(Stop.SLEEPS),
                ),
                next=np.array([*pids, 0], np.int32),
                next_priority=np.full(count + 1, 120, np.int32),
            ),
            forks=timed(forks, Forks, "parent", "child"),
            wakeups=timed(wakeups, Wakeups, "waker", "woken"),
            groups=timed(groups, ThreadGroups, "pid", "tgid"),
            marks=Marks(
                time=column(marks, 0, np.int64),
                task=column(marks, 1, np.int32),
                df=np.array([names.index(df) for _, _, df in marks], np.int32),
                names=names,
            ),
            comms=comms,
        )
    )


def dispatches(trace):
    """Return the rows as (name of the task, start, end, fragment or None)."""
    return [
        (trace.tasks[task].name, start, end, None if df < 0 else trace.fragments[df])
        for task, start, end, df in zip(
            trace.task.tolist(),
            trace.start.tolist(),
            trace.end.tolist(),
            trace.fragment.tolist(),
            strict=True,
        )
    ]


def labels(trace):
    """Return the fragment of each row, or None."""
    return [df for _, _, _, df in dispatches(trace)]
