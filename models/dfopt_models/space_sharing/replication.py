"""One replication: a mix under a policy, from the first arrival until enough jobs have ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dfopt.errors import DfoptError
from dfopt_models.space_sharing.engine import AllocationPolicy, Engine
from dfopt_models.space_sharing.job import (
    JobFigures,
    ParallelJob,
    Worker,
    check_conservation,
    figures_of,
)
from dfopt_models.space_sharing.mix import AllocationParameters, JobEntry, Mix

if TYPE_CHECKING:
    from dfopt.trace import Trace

LARGEST_SEED = 2**63
NANOSECONDS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedJob:
    """A job that has ended, and what it cost."""

    application: str
    entry: int
    arrival: float
    end: float
    figures: JobFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """The figures of one replication.

    Parameters
    ----------
    seed
        The same seed gives the same replication.
    jobs
        The jobs that ended, in the order of their ends.
    events
        Number of events.
    duration
        Simulated seconds.
    """

    seed: int
    jobs: tuple[EndedJob, ...]
    events: int
    duration: float


class Stays:
    """The stays of workers on processors, kept as a trace of dispatches.

    A stay begins when the worker's start-up is over, and ends when the worker has no more threads
    to run there. A worker that keeps its processor and gets another thread later stays on.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, str, str]] = []

    def add(self, worker: Worker, processor: int, start: float, end: float) -> None:
        """Add a stay, in seconds; one that was over before it began is left out."""
        if end > start:
            first, last = round(start * NANOSECONDS), round(end * NANOSECONDS)
            job = worker.job.name
            self._rows.append((first, processor, last, f"{job}/{worker.number}", job))

    def trace(self, *, name: str, policy: str, processors: int) -> Trace:
        """Return the stays as dispatches: workers are tasks, jobs are fragments."""
        from dfopt.trace import Trace, TraceHeader
        from dfopt.trace.trace import Numbering

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


def replicate(
    mix: Mix,
    policy: Callable[[AllocationParameters], AllocationPolicy],
    *,
    seed: int,
    stays: Stays | None = None,
) -> Replication:
    """Simulate a mix once.

    With ``restart`` it lasts until every job has ended ``runs`` times, and jobs that are under way
    then do not count. Otherwise it lasts until the last job has ended.

    Parameters
    ----------
    mix
        The mix.
    policy
        Makes the policy from the mix's parameters.
    seed
        Seed of everything random. The threads of a run depend on it, on the entry of the mix, on
        the copy and on the number of the run alone, and so are the same under every policy.
    stays
        Gets every stay of a worker on a processor.

    Raises
    ------
    DfoptError
        When the policy cannot be made, asks for something impossible, or leaves jobs without
        processors for ever.
    ConservationError
        When the account of a job does not balance: a defect.
    """
    try:
        made = policy(mix.policy)
    except (TypeError, ValueError) as error:  # raised by a policy of the user
        raise DfoptError(
            f"the policy cannot be made of the mix's parameters ({error}); correct its constructor"
        ) from error
    return _Run(mix, made, seed, stays).replication()


class _Run:
    """The arrivals and ends of one replication."""

    def __init__(self, mix: Mix, policy: AllocationPolicy, seed: int, stays: Stays | None) -> None:
        self._mix = mix
        self._seed = seed
        self._entries = [entry for entry in mix.jobs for _ in range(entry.copies)]
        self._names = _names(self._entries)
        self._wanted = mix.runs if mix.restart else 1
        self._unfinished = len(self._entries)  # jobs with fewer runs than wanted
        self._ended: list[EndedJob] = []
        self._runs: Counter[int] = Counter()
        self._engine = Engine(
            mix, policy, seed=seed, on_end=self._end, on_stay=None if stays is None else stays.add
        )

    def replication(self) -> Replication:
        engine = self._engine
        for time, entries in self._arrivals().items():
            engine.call_after(time, partial(self._arrive, entries))
        engine.run()
        for job in engine.jobs:
            # Idle ones first, so that no thread that is cut short elsewhere goes on there.
            for processor in (*job.idle, *(held for held in job.held if held not in job.idle)):
                engine.take(processor)
            check_conservation(job)
        return Replication(
            seed=self._seed,
            jobs=tuple(self._ended),
            events=engine.events,
            duration=engine.now,
        )

    def _arrivals(self) -> dict[float, list[int]]:
        """Return the entries that arrive at each time."""
        draws = np.random.default_rng([self._seed, LARGEST_SEED])
        times = []
        for entry in self._mix.jobs:
            time = entry.arrival
            for copy in range(entry.copies):
                if copy:
                    time += draws.exponential(entry.interarrival) if entry.interarrival else 0.0
                times.append(time)
        together: dict[float, list[int]] = {}
        for number, time in enumerate(times):
            together.setdefault(time, []).append(number)
        return together

    def _arrive(self, entries: list[int]) -> None:
        self._engine.arrive(*map(self._job, entries))

    def _job(self, number: int) -> ParallelJob:
        entry, run = self._entries[number], self._runs[number]
        seed = np.random.SeedSequence([self._seed, number, run]).generate_state(1, np.uint64)[0]
        return ParallelJob(
            f"{self._names[number]}#{run + 1}",
            number,
            entry.application,
            entry.application.structure.program(int(seed)),
            processors=self._mix.machine.processors,
        )

    def _end(self, job: ParallelJob) -> ParallelJob | None:
        assert job.end is not None
        self._runs[job.entry] += 1
        self._ended.append(
            EndedJob(
                application=job.application.name,
                entry=job.entry,
                arrival=job.arrival,
                end=job.end,
                figures=figures_of(job),
            )
        )
        self._unfinished -= self._runs[job.entry] == self._wanted
        if not self._unfinished:
            self._engine.stop()
            return None
        return self._job(job.entry) if self._mix.restart else None


def _names(entries: Sequence[JobEntry]) -> list[str]:
    """Return the name of each job: its application's, with a number where there are several."""
    applications = [entry.application.name for entry in entries]
    counts, seen = Counter(applications), Counter[str]()
    names = []
    for name in applications:
        seen[name] += 1
        while f"{name}.{seen[name]}" in counts:  # the name of another application
            seen[name] += 1
        names.append(name if counts[name] == 1 else f"{name}.{seen[name]}")
    return names
