"""Who held which processor when, kept as a trace of dispatches."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dfopt.trace import Trace
    from dfopt_models.space_sharing.job import Worker

NANOSECONDS = 10**9


class Stays:
    """The stays of workers on processors: from when their threads run until they have no more.

    A worker that has no thread for a while and keeps its processor stays on.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, str, str]] = []

    def add(self, worker: Worker, processor: int, start: float, end: float) -> None:
        """Note a stay, in seconds; one that was over before it began is left out."""
        if end > start:
            first, last = round(start * NANOSECONDS), round(end * NANOSECONDS)
            job = worker.job.name
            self._rows.append((first, processor, last, f"{job}/{worker.number}", job))

    def trace(self, *, name: str, policy: str, processors: int) -> Trace:
        """Return the stays as dispatches: workers are tasks, jobs are fragments."""
        import numpy as np

        from dfopt.trace import Trace, TraceHeader
        from dfopt.trace.numbering import Numbering

        rows = sorted(self._rows)
        tasks, jobs = Numbering(), Numbering()
        return Trace(
            cpus=processors,
            cpu=np.array([row[1] for row in rows], np.int32),
            start=np.array([row[0] for row in rows], np.int64),
            end=np.array([row[2] for row in rows], np.int64),
            task=np.array([tasks[row[3]] for row in rows], np.int32),
            fragment=np.array([jobs[row[4]] for row in rows], np.int32),
            tasks=tasks.tasks,
            fragments=jobs.names,
            header=TraceHeader(name=name, policy=policy, time_unit="ns"),
        )
