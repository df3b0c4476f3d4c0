"""Simulations: replications of a mix under several policies, their mean figures, and tables.

A replication lasts from the first arrival until enough jobs have ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, field
from msgspec.structs import fields as struct_fields

from dfopt.confidence import CONFIDENCE, Interval, confidence_interval
from dfopt.errors import DfoptError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.parallel.pool import answers_in_order
from dfopt.structs import DocumentPart, Natural, NonNegative, Positive, Record, Share, written
from dfopt.table import Table, Uncertain, columns, facts
from dfopt.trace import write_trace
from dfopt.trace.trace import Dispatch, Trace, TraceHeader, trace_of_dispatches
from dfopt.user_code import naming_policy
from dfopt_models.response_time import (
    LEAST_REPLICATIONS,
    POLICY_NUMBERS,
    JobParameters,
    PolicyParameters,
    ResponseModel,
)
from dfopt_models.space_sharing.engine import AllocationPolicy, Engine
from dfopt_models.space_sharing.job import (
    EndedJob,
    ParallelJob,
    Worker,
    check_conservation,
    figures_of,
)
from dfopt_models.space_sharing.mix import AllocationParameters, JobEntry, Mix
from dfopt_models.space_sharing.policies import policy_named

LARGEST_SEED = 2**63
NANOSECONDS = 10**9


class Replication(Record):
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
        self._dispatches: list[Dispatch] = []

    def add(self, worker: Worker, processor: int, start: float, end: float) -> None:
        """Add a stay, in seconds; one that was over before it began is left out."""
        if end > start:
            job = worker.job.name
            times = round(start * NANOSECONDS), round(end * NANOSECONDS)
            self._dispatches.append(Dispatch(processor, *times, f"{job}/{worker.number}", job))

    def trace(self, *, name: str, policy: str, processors: int) -> Trace:
        """Return the stays as dispatches: workers are tasks, jobs are fragments."""
        return trace_of_dispatches(
            sorted(self._dispatches, key=lambda one: (one.start, one.cpu)),
            cpus=processors,
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
    entries = [entry for entry in mix.jobs for _ in range(entry.copies)]
    names = job_names(entries)
    wanted = mix.runs if mix.restart else 1
    unfinished = len(entries)  # jobs with fewer runs than wanted
    runs: Counter[int] = Counter()
    ended: list[EndedJob] = []

    def new_job(number: int) -> ParallelJob:
        own_seed = np.random.SeedSequence([seed, number, runs[number]]).generate_state(1, np.uint64)
        application = entries[number].application
        return ParallelJob(
            f"{names[number]}#{runs[number] + 1}",
            number,
            application,
            application.structure.program(int(own_seed[0])),
            processors=mix.machine.processors,
        )

    def end(job: ParallelJob) -> ParallelJob | None:
        nonlocal unfinished
        runs[job.entry] += 1
        ended.append(figures_of(job))
        unfinished -= runs[job.entry] == wanted
        if not unfinished:
            engine.stop()
            return None
        return new_job(job.entry) if mix.restart else None

    def arrive(numbers: Sequence[int]) -> None:
        engine.arrive(*map(new_job, numbers))

    engine = Engine(mix, made, seed=seed, on_end=end, on_stay=None if stays is None else stays.add)
    for time, numbers in arrivals(mix, seed).items():
        engine.call_after(time, partial(arrive, numbers))
    engine.run()
    for job in engine.jobs:
        # Idle ones first, so that no thread that is cut short elsewhere goes on there.
        for processor in (*job.idle, *(held for held in job.held if held not in job.idle)):
            engine.take(processor)
        check_conservation(job)
    return Replication(seed=seed, jobs=tuple(ended), events=engine.events, duration=engine.now)


def arrivals(mix: Mix, seed: int) -> dict[float, list[int]]:
    """Return the numbers of the jobs that arrive at each time."""
    draws = np.random.default_rng([seed, LARGEST_SEED])
    together: dict[float, list[int]] = {}
    numbers = count()
    for entry in mix.jobs:
        time = entry.arrival
        for copy in range(entry.copies):
            if copy and entry.interarrival:
                time += draws.exponential(entry.interarrival)
            together.setdefault(time, []).append(next(numbers))
    return together


def job_names(entries: Sequence[JobEntry]) -> list[str]:
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


COLUMNS = {
    "response_time": "response time [s] :,.2f",
    "work": "work :,.1f",
    "waste": "waste :,.1f",
    "overhead": "overhead :,.2f",
    "reallocations": "reallocated :,.0f",
    "allocation": "allocation :,.2f",
}
"""How the figures are shown."""


class ReplicationTask(Record):
    """One replication to do.

    Parameters
    ----------
    mix, seed
        As in :func:`replicate`.
    policy
        The policy as :func:`policy_named` takes it.
    trace
        File to write the trace to; its ending tells the format.
    """

    mix: Mix
    policy: str
    seed: int
    trace: Path | None = None

    def perform(self) -> Replication:
        """Simulate, and write the trace."""
        policy = policy_named(self.policy)
        stays = Stays() if self.trace is not None else None
        with naming_policy(policy):
            done = replicate(self.mix, policy, seed=self.seed, stays=stays)
        if self.trace is not None and stays is not None:
            processors = self.mix.machine.processors
            trace = stays.trace(name=self.mix.name, policy=policy.name, processors=processors)
            write_trace(trace, self.trace)
        return done


class JobSummary(DocumentPart):
    """The mean figures of an application's jobs under a policy.

    Parameters
    ----------
    application
        Its name.
    ended
        Number of jobs that ended, over all replications.
    response_time
        Seconds from arrival to end.
    work
        Processor-seconds that threads ran.
    waste
        Processor-seconds held without running anything.
    overhead
        Processor-seconds of path length and cache penalties.
    reallocations
        Number of processors given.
    affinity
        Share of these that returned a worker to the processor where it ran last.
    allocation
        Average number of processors.
    affinity_penalty
        Mean cache penalty of a reallocation with affinity, in seconds, of the jobs that have any.
    by_seed
        For each replication by its seed: the means of its jobs. A mean that no job has is None.
    """

    UNWRITTEN = ("by_seed",)

    application: str
    ended: Positive
    response_time: Interval
    work: Interval
    waste: Interval
    overhead: Interval
    reallocations: Interval
    affinity: Interval
    allocation: Interval
    affinity_penalty: Interval
    by_seed: dict[int, dict[str, float | None]] = field(default_factory=dict)

    @property
    def figures(self) -> dict[str, Interval]:
        """By name: the mean and confidence interval over the replications.

        Each replication counts with the mean of its jobs.
        """
        return {name: getattr(self, name) for name in FIGURES}


FIGURES = tuple(each.name for each in struct_fields(JobSummary) if each.type is Interval)
"""The names of the figures."""


class PolicySummary(DocumentPart):
    """The mean figures of a mix under a policy.

    Parameters
    ----------
    policy
        Its name.
    replications
        Number of finished replications.
    events, duration
        Events and simulated seconds of all replications together.
    jobs
        One for each application of the mix, in its order.
    """

    policy: str
    replications: Positive
    events: Natural
    duration: NonNegative = field(name="simulated_s")
    jobs: tuple[JobSummary, ...]

    def job(self, application: str) -> JobSummary:
        """Return the figures of an application's jobs."""
        return next(job for job in self.jobs if job.application == application)


class SimulationFigures(DocumentPart):
    """What policies did with a mix.

    Parameters
    ----------
    mix
        Its name.
    seed
        Of the first replication; the others count on.
    confidence
        Of the intervals.
    policies
        One summary for each.
    """

    mix: str
    seed: Natural
    confidence: Share = written(CONFIDENCE)
    policies: Annotated[tuple[PolicySummary, ...], Meta(min_length=1)]


SIMULATIONS = DocumentType(Format.SIMULATION, SimulationFigures)


def simulate(  # noqa: PLR0913 - all but two are options
    mix: Mix,
    policies: Sequence[str],
    *,
    seeds: range = range(10),
    processes: int | None = None,
    trace_folder: Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[tuple[PolicySummary, ...], bool]:
    """Simulate a mix under each policy, one replication for each seed.

    Parameters
    ----------
    mix
        The mix.
    policies
        The policies as :func:`policy_named` takes them.
    seeds
        Seeds of the replications. The same seed gives the same threads under every policy.
    processes
        Number of processes that work at the same time; by default one for each CPU.
    trace_folder
        Where to write a trace of each replication.
    on_progress
        Called with the number of finished replications, and the number of all.

    Returns
    -------
    tuple
        A summary for each policy that has a finished replication, and whether all were finished:
        Ctrl-C ends the simulation with those that are.

    Raises
    ------
    DfoptError
        When a policy cannot be loaded, has the name of another one, or leaves jobs without
        processors for ever.
    """
    names = _names(policies)
    tasks = [
        ReplicationTask(
            mix=mix,
            policy=source,
            seed=number,
            trace=trace_folder and trace_folder / trace_name(mix.name, names[source], number),
        )
        for number in seeds
        for source in names
    ]
    done = answers_in_order(tasks, processes, on_progress)
    found: dict[str, list[Replication]] = {source: [] for source in names}
    for task, replication in zip(tasks, done, strict=True):
        if replication is not None:
            found[task.policy].append(replication)
    summaries = tuple(summary(names[source], found[source]) for source in names if found[source])
    return summaries, None not in done


def _names(policies: Sequence[str]) -> dict[str, str]:
    """Return the name of each policy, which tells its figures and traces from others."""
    sources: dict[str, str] = {}
    for source in policies:
        name = policy_named(source).name
        if sources.setdefault(name, source) != source:
            raise DfoptError(
                f"{sources[name]!r} and {source!r} are both called {name!r}; rename one of these "
                "policies"
            )
    return {source: name for name, source in sources.items()}


def trace_name(mix: str, policy: str, seed: int) -> str:
    """Return the name of a replication's trace."""
    plain = "-".join(mix.replace("/", "-").split())
    return f"{plain}.{policy.replace('/', '-')}.{seed}.jsonl"


def summary(policy: str, replications: Sequence[Replication]) -> PolicySummary:
    """Return the mean figures of replications."""
    applications = dict.fromkeys(
        job.application
        for replication in replications
        for job in sorted(replication.jobs, key=lambda job: job.entry)
    )
    return PolicySummary(
        policy=policy,
        replications=len(replications),
        events=sum(replication.events for replication in replications),
        duration=sum(replication.duration for replication in replications),
        jobs=tuple(_job_summary(application, replications) for application in applications),
    )


def _job_summary(application: str, replications: Sequence[Replication]) -> JobSummary:
    runs = [
        [job for job in replication.jobs if job.application == application]
        for replication in replications
    ]
    by_seed = {
        replication.seed: {name: _mean(name, together) for name in FIGURES}
        for replication, together in zip(replications, runs, strict=True)
    }
    return JobSummary(
        application=application,
        ended=sum(map(len, runs)),
        by_seed=by_seed,
        **{name: _interval([means[name] for means in by_seed.values()]) for name in FIGURES},
    )


def _mean(name: str, runs: Sequence[EndedJob]) -> float | None:
    """Return the mean of a figure over the runs of a replication."""
    # A run without any reallocation with affinity says nothing about their penalty.
    values = [getattr(run, name) for run in runs if name != "affinity_penalty" or run.affinity]
    return sum(values) / len(values) if values else None


def _interval(means: Sequence[float | None]) -> Interval:
    """Return the mean of a figure over replications, each of which counts with its runs' mean."""
    known = [mean for mean in means if mean is not None]
    return confidence_interval(known or [0.0] * len(means))


def simulation_tables(mix: Mix, summaries: Sequence[PolicySummary]) -> list[Table]:
    """Return the figures as tables, one for each application."""
    simulated = facts(
        {
            "processors": mix.machine.processors,
            "simulated [s]": round(sum(summary.duration for summary in summaries)),
            "events": sum(summary.events for summary in summaries),
        },
        mix.name,
    )
    tables = [
        Table(
            job.application,
            columns("policy", *COLUMNS.values(), "affinity :.0%"),
            [
                (
                    summary.policy,
                    *(Uncertain(figures[name].mean, figures[name].half_width) for name in COLUMNS),
                    figures["affinity"].mean,
                )
                for summary in summaries
                for figures in [summary.job(job.application).figures]
            ],
        )
        for job in summaries[0].jobs
    ]
    note = "work, waste and overhead in processor-seconds; ± 95 % confidence"
    return [simulated, *tables, Table("", notes=[note])]


BASELINE = "equipartition"

MODEL_FIGURES = {name: name for name in POLICY_NUMBERS} | {"penalty_affinity": "affinity_penalty"}
"""What a replication says of a policy: the model's name of each figure, and the simulation's."""


def response_model(mix: Mix, summaries: Sequence[PolicySummary]) -> ResponseModel:
    """Return the model whose parameters a simulation has measured.

    The baseline is Equipartition, or the first policy where that was not simulated. A replication
    with one seed has the same threads under every policy, so that the replications of policies are
    pairs.

    Parameters
    ----------
    mix
        The simulated mix.
    summaries
        The figures of each policy.
    """
    names = [summary.policy for summary in summaries]
    entries = [entry.application for entry in mix.jobs]
    applications = {application.name: application for application in entries}
    copies: Counter[str] = Counter()
    for entry in mix.jobs:
        copies[entry.application.name] += entry.copies
    return ResponseModel(
        name=mix.name,
        baseline=BASELINE if BASELINE in names else names[0],
        reallocation_time=mix.machine.path_length,
        # Work is conserved by the machine as a whole if each job that ends is replaced.
        processors=mix.machine.processors if mix.restart else None,
        jobs=tuple(
            _job_parameters(name, application.penalties.no_affinity, summaries, copies[name])
            for name, application in applications.items()
        ),
    )


def _job_parameters(
    name: str, no_affinity: float, summaries: Sequence[PolicySummary], copies: int
) -> JobParameters:
    jobs = {summary.policy: summary.job(name) for summary in summaries}
    # The cost of a reallocation with affinity depends on the job that ran there in between, and
    # so a little on the policy; the model has one number for all.
    returning = [
        (job.affinity_penalty.mean, job.affinity.mean * job.reallocations.mean)
        for job in jobs.values()
        if job.affinity_penalty.mean > 0
    ]
    weight = sum(count for _, count in returning)
    total = sum(penalty * count for penalty, count in returning)
    mean_penalty = total / weight if weight else 0.0
    seeds = [
        seed
        for seed in next(iter(jobs.values())).by_seed
        if all(seed in job.by_seed for job in jobs.values())
    ]
    means: dict[str, dict[str, Any]] = {
        policy: {number: job.figures[number].mean for number in POLICY_NUMBERS}
        for policy, job in jobs.items()
    }
    return JobParameters(
        name=name,
        penalty_affinity=mean_penalty,
        penalty_no_affinity=no_affinity,
        copies=copies,
        policies={
            policy: PolicyParameters(
                **means[policy],
                replications=_replications(job, seeds, mean_penalty),
            )
            for policy, job in jobs.items()
        },
    )


def _replications(
    job: JobSummary, seeds: Sequence[int], mean_penalty: float
) -> dict[str, tuple[float, ...]]:
    """Return the figures of replications; none if there are too few of them."""
    if len(seeds) < LEAST_REPLICATIONS:
        return {}
    return {
        figure: tuple(
            mean_penalty if (mean := job.by_seed[seed][name]) is None else mean for seed in seeds
        )
        for figure, name in MODEL_FIGURES.items()
    }
