"""What traces say of their jobs: the figures of Table 3 of Vaswani and Zahorjan, and a model.

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
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import fields

from dfopt.errors import FileError
from dfopt.structs import Record
from dfopt.table import Table, Value, columns
from dfopt.time_units import NANOSECONDS
from dfopt.trace import Trace
from dfopt.trace.events import latest_of_same
from dfopt.trace.trace import UNMANAGED
from dfopt_models.errors import ModelError
from dfopt_models.measure.penalties import MeasuredPenalties, with_penalties
from dfopt_models.response_time import (
    MEASURED_NUMBERS,
    JobParameters,
    Measured,
    PolicyParameters,
    ResponseModel,
)

NOWHERE = -1
"""The CPU of a task that has not run, and the job and the task of a CPU that has run nothing."""

RUN = re.compile(r"(.+)#([0-9]+)")
"""The name of a run of a simulated job: the job, and the number of the run."""

Column = npt.NDArray[Any]


class JobRun(Record):
    """One run of a job under a policy, or the mean of several.

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
    reallocations: float
    returning: float
    first: float

    def __post_init__(self) -> None:
        if not self.response_time > 0:
            raise FileError(f"job {self.job!r} has no length; leave it out of the labels")

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
    cpu, job, task, start, end = _labelled(trace)
    last_cpu = _before(task, cpu, NOWHERE)
    is_reallocation = _before(cpu, job, NOWHERE) != job
    runs = []
    for rows in _rows_by_job(job):
        moved = rows[is_reallocation[rows]]
        name, lengths = trace.fragments[job[rows[0]]], (end - start)[rows]
        own = start[rows], end[rows], lengths, last_cpu[moved], cpu[moved]
        runs.append(_run(name, *own, units=units))
    return tuple(runs)


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
    cpu, job, task, start, end = _labelled(trace)
    last_cpu = _before(task, cpu, NOWHERE)
    returns = last_cpu == cpu
    jobs = _rows_by_job(job)
    names = [_job_and_run(trace.fragments[job[rows[0]]]) for rows in jobs]
    cost, job_end = np.empty(len(job)), np.empty(len(job))
    for (name, _), rows in zip(names, jobs, strict=True):
        after = int((end - start)[rows].sum()) / len(rows) / units
        near, far = (penalties.cost(name, after, affinity=affinity) for affinity in (True, False))
        cost[rows] = np.where(returns[rows], near, far)
        job_end[rows] = end[rows].max() / units
    cost[returns & (_before(cpu, task, NOWHERE) == task)] = penalties.reallocation_time
    given = start / units - cost
    # A job holds a processor until the next stay there, or until it ends.
    taken = _before(cpu[::-1], given[::-1], np.inf)[::-1]
    held = np.minimum(taken, job_end) - given
    latest: dict[str, int] = {}
    for name, run in names:
        latest[name] = max(run, latest.get(name, run))
    return tuple(
        _run(name, given[rows], job_end[rows], held[rows], last_cpu[rows], cpu[rows])
        for (name, run), rows in zip(names, jobs, strict=True)
        if run < latest[name] or latest[name] == 1
    )


def _run(  # noqa: PLR0913, PLR0917 - columns of the job's rows, and of its reallocations
    job: str,
    begin: Column,
    end: Column,
    held: Column,
    came_from: Column,
    cpu: Column,
    *,
    units: float = 1.0,
) -> JobRun:
    return JobRun(
        job=job,
        response_time=float(end.max() - begin.min()) / units,
        processor_time=float(held.sum()) / units,
        reallocations=len(cpu),
        returning=int((came_from == cpu).sum()),
        first=int((came_from == NOWHERE).sum()),
    )


def _job_and_run(fragment: str) -> tuple[str, int]:
    found = RUN.fullmatch(fragment)
    return (found[1], int(found[2])) if found else (fragment, 1)


def _labelled(trace: Trace) -> list[Column]:
    """Return CPU, job, task, start and end of the dispatches that belong to a job."""
    columns = (trace.cpu, trace.fragment, trace.task, trace.start, trace.end)
    return [column[trace.fragment != UNMANAGED] for column in columns]


def _before(key: Column, values: Column, default: float) -> Column:
    """Return for each row the value of the row before it that has the same key."""
    latest = latest_of_same(key)
    return np.where(latest >= 0, values[latest], default)


def _rows_by_job(job: Column) -> list[Column]:
    """Return the rows of each job, in the order in which jobs begin."""
    order = np.argsort(job, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(job[order])) + 1)
    return sorted(groups, key=lambda rows: int(rows[0]))


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


def model_from_runs(
    runs: Mapping[str, Sequence[JobRun]],
    *,
    baseline: str,
    penalties: MeasuredPenalties,
    name: str,
    processors: int | None = None,
) -> ResponseModel:
    """Return the model whose parameters were measured in traces.

    Parameters
    ----------
    runs
        By policy: the runs of its jobs. Several runs of one job count with their mean, and have
        the least and the greatest of them as their range.
    baseline
        The policy that all others are compared with.
    penalties
        What a reallocation costs.
    name
        The name of the model.
    processors
        Processors of the machine, if they are known.

    Raises
    ------
    ModelError
        When there is no such baseline, or a job ran under some policies only.
    """
    if baseline not in runs:
        raise ModelError(
            f"there is no policy {baseline!r} to compare with; the traces have {', '.join(runs)}"
        )
    by_policy: dict[str, dict[str, list[JobRun]]] = {policy: {} for policy in runs}
    for policy, found in runs.items():
        for run in found:
            by_policy[policy].setdefault(run.job, []).append(run)
    jobs = dict.fromkeys(job for found in by_policy.values() for job in found)
    for policy, jobs_of_policy in by_policy.items():
        missing = [job for job in jobs if job not in jobs_of_policy]
        if missing:
            raise ModelError(
                f"job {missing[0]!r} does not run under {policy!r}; label the traces alike, or "
                "leave it out of the labels"
            )
    model = ResponseModel(
        name=name,
        baseline=baseline,
        reallocation_time=0.0,
        jobs=tuple(
            JobParameters(
                name=job,
                penalty_affinity=0.0,
                penalty_no_affinity=0.0,
                policies={policy: _policy(found[job]) for policy, found in by_policy.items()},
            )
            for job in jobs
        ),
        processors=processors,
    )
    return with_penalties(model, penalties)


def mean_run(runs: Sequence[JobRun]) -> JobRun:
    """Return the mean of runs of one job."""
    numbers = fields(JobRun)[1:]
    means = {each.name: fmean(getattr(run, each.name) for run in runs) for each in numbers}
    return JobRun(job=runs[0].job, **means)


def _policy(runs: Sequence[JobRun]) -> PolicyParameters:
    mean = mean_run(runs)
    if mean.interval is None:
        return PolicyParameters(
            work=mean.processor_time,
            waste=0.0,
            reallocations=0.0,
            affinity=1.0,
            allocation=mean.allocation,
        )
    measured = Measured(**{name: getattr(mean, name) for name in MEASURED_NUMBERS})
    number = f"{len(runs)} runs in traces" if len(runs) > 1 else "one run in a trace"
    return PolicyParameters(
        measured=measured,
        ranges=_ranges(runs, measured),
        sources=dict.fromkeys(MEASURED_NUMBERS, f"measured: {number}"),
    )


def _ranges(runs: Sequence[JobRun], measured: Measured) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest value of each measurement, where runs differ."""
    counting = [run for run in runs if run.reallocations]
    ranges = {}
    for name in MEASURED_NUMBERS:
        values = [getattr(run, name) for run in counting] + [getattr(measured, name)]
        if min(values) < max(values):
            ranges[name] = min(values), max(values)
    return ranges


def runs_table(runs: Mapping[str, Sequence[JobRun]]) -> Table:
    """Return what was measured, a row for each job under each policy: the mean of its runs."""
    rows: list[tuple[Value, ...]] = []
    for job in dict.fromkeys(run.job for found in runs.values() for run in found):
        for policy, found in runs.items():
            own = [run for run in found if run.job == job]
            mean = mean_run(own)
            rows.append((
                *(job, policy, len(own), mean.response_time, mean.allocation, mean.reallocations),
                *(mean.affinity if mean.interval else None, mean.interval),
            ))  # fmt: skip
    headings = columns(
        *("job", "policy", "runs", "response time [s] :time", "processors :.3f"),
        *("reallocations :,.6g", "with affinity :.0%", "interval [s] :time"),
    )
    return Table("", headings, rows)
