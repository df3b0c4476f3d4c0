"""What a trace says of its jobs: the figures of Table 3 of Vaswani and Zahorjan, measured.

A job is a fragment of the trace: a process, the threads with a name, or whatever the labels say. It
ran from the start of its first dispatch to the end of its last. A *reallocation* is a dispatch
whose predecessor on its CPU belonged to another job. It has *affinity* if its thread last ran on
this CPU.

Traces of simulated space sharing are read in another way. There every dispatch is a worker's stay
on a processor, and so a reallocation. Its job keeps the processor, idle or not, until another job
gets it, or until the job ends. Before the stay came the path length and the cache penalty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dfopt.errors import FileError
from dfopt.time_units import NANOSECONDS
from dfopt.trace import Trace
from dfopt.trace.trace import UNMANAGED
from dfopt_models.measure.penalties import MeasuredPenalties

NOWHERE = -1
"""The CPU of a task that has not run, and the task of a CPU that has run nothing."""

RUN = re.compile(r"(.+)#([0-9]+)")
"""The name of a run of a simulated job: the job, and the number of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One run of a job under a policy.

    Parameters
    ----------
    job
        Its name.
    response_time
        Seconds from its first start to its last end.
    processor_time
        Processor-seconds that it was given.
    reallocations
        Dispatches whose predecessor on the CPU was another job.
    returning
        Those of them whose thread last ran on this CPU.
    first
        Those of them whose thread had not run before.
    """

    job: str
    response_time: float
    processor_time: float
    reallocations: int
    returning: int
    first: int

    @property
    def allocation(self) -> float:
        """The average number of processors."""
        return self.processor_time / self.response_time

    @property
    def affinity(self) -> float:
        """The share of reallocations with affinity; 1 where there are none."""
        return self.returning / self.reallocations if self.reallocations else 1.0

    @property
    def interval(self) -> float | None:
        """Average seconds between two reallocations; None where there are none."""
        return self.processor_time / self.reallocations if self.reallocations else None


@dataclass(slots=True)
class _Count:
    """What has been seen of a job so far; times are in the trace's unit."""

    start: int
    end: int
    run_time: int = 0
    reallocations: int = 0
    returning: int = 0
    first: int = 0


def runs_from_dispatches(trace: Trace) -> tuple[JobRun, ...]:
    """Return the runs of the jobs of a recorded trace, in the order in which they started.

    Dispatches that are not labelled belong to no job and part none: a kernel thread between two
    dispatches of a job is no reallocation.

    Raises
    ------
    FileError
        When no dispatch is labelled, times have no unit, or a job took no time.
    """
    units = _units_per_second(trace)
    counts: dict[int, _Count] = {}
    on_cpu = np.full(trace.cpus, UNMANAGED).tolist()
    last_cpu = [NOWHERE] * len(trace.tasks)
    for cpu, job, task, start, end in _rows(trace):
        if job == UNMANAGED:
            continue
        count = counts.setdefault(job, _Count(start, end))
        count.end = max(count.end, end)
        count.run_time += end - start
        if on_cpu[cpu] != job:
            count.reallocations += 1
            count.returning += last_cpu[task] == cpu
            count.first += last_cpu[task] == NOWHERE
        on_cpu[cpu], last_cpu[task] = job, cpu
    return tuple(
        _run(
            trace.fragments[job],
            count,
            response_time=(count.end - count.start) / units,
            processor_time=count.run_time / units,
        )
        for job, count in counts.items()
    )


def runs_from_stays(trace: Trace, penalties: MeasuredPenalties) -> tuple[JobRun, ...]:
    """Return the runs of jobs in a trace of simulated space sharing.

    Fragments are called ``job#run``. Where a job has several runs, the last one does not count,
    because nothing says whether it had ended.

    Parameters
    ----------
    trace
        Its dispatches are stays of workers on processors.
    penalties
        What a reallocation costs. A worker that comes back to a processor which nobody else used
        meanwhile pays no penalty, and one that never ran there has no affinity.

    Raises
    ------
    FileError, ModelError
        When times have no unit, a job took no time, or its penalties are not known.
    """
    units = _units_per_second(trace)
    ends: dict[int, int] = {}
    lengths: dict[int, list[int]] = {}
    for _, job, _, start, end in _rows(trace):
        ends[job] = max(ends.get(job, 0), end)
        lengths.setdefault(job, []).append(end - start)
    names = {job: _job_and_run(trace.fragments[job])[0] for job in ends if job != UNMANAGED}
    after = {job: sum(lengths[job]) / len(lengths[job]) / units for job in names}
    # By processor: the task that ran there last, and who holds the processor since when.
    last_task = [NOWHERE] * trace.cpus
    holders: list[tuple[int, float]] = [(UNMANAGED, 0.0)] * trace.cpus
    last_cpu = [NOWHERE] * len(trace.tasks)
    counts: dict[int, _Count] = {}
    given_at: dict[int, float] = {}
    held = dict.fromkeys(names, 0.0)
    for cpu, job, task, start, end in _rows(trace):
        if job == UNMANAGED:
            continue
        returns = last_cpu[task] == cpu
        cost = penalties.cost(names[job], after[job], affinity=returns)
        if returns and last_task[cpu] == task:
            cost = penalties.reallocation_time
        given = start / units - cost
        before, since = holders[cpu]
        if before != UNMANAGED:
            held[before] += min(given, ends[before] / units) - since
        count = counts.setdefault(job, _Count(start, end))
        count.reallocations += 1
        count.returning += returns
        count.first += last_cpu[task] == NOWHERE
        given_at[job] = min(given_at.get(job, given), given)
        holders[cpu] = job, given
        last_task[cpu], last_cpu[task] = task, cpu
    for job, since in holders:
        if job != UNMANAGED:
            held[job] += ends[job] / units - since
    known = _ended(trace, counts)
    return tuple(
        _run(
            names[job],
            count,
            response_time=ends[job] / units - given_at[job],
            processor_time=held[job],
        )
        for job, count in counts.items()
        if job in known
    )


def _ended(trace: Trace, jobs: Iterable[int]) -> set[int]:
    """Return the jobs that have ended: all but the last of several runs."""
    latest: dict[str, int] = {}
    runs = {job: _job_and_run(trace.fragments[job]) for job in jobs}
    for name, run in runs.values():
        latest[name] = max(run, latest.get(name, run))
    return {job for job, (name, run) in runs.items() if run < latest[name] or latest[name] == 1}


def _job_and_run(fragment: str) -> tuple[str, int]:
    found = RUN.fullmatch(fragment)
    return (found[1], int(found[2])) if found else (fragment, 1)


def _run(name: str, count: _Count, *, response_time: float, processor_time: float) -> JobRun:
    if not response_time > 0:
        raise FileError(f"job {name!r} has no length; leave it out of the labels")
    return JobRun(
        job=name,
        response_time=response_time,
        processor_time=processor_time,
        reallocations=count.reallocations,
        returning=count.returning,
        first=count.first,
    )


def _rows(trace: Trace) -> Iterable[tuple[int, int, int, int, int]]:
    columns = (trace.cpu, trace.fragment, trace.task, trace.start, trace.end)
    return zip(*(column.tolist() for column in columns), strict=True)


def _units_per_second(trace: Trace) -> float:
    if not (trace.fragment != UNMANAGED).any():
        raise FileError("no dispatch belongs to a job; choose other labels (`labels`)")
    unit = trace.header.time_unit or "ns"
    if unit not in NANOSECONDS:
        raise FileError(
            f"times are in {unit!r}, which is no part of a second; a model needs one of "
            f"{', '.join(NANOSECONDS)}"
        )
    return NANOSECONDS["s"] / NANOSECONDS[unit]
