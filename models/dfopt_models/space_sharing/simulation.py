"""Simulations: replications of a mix under several policies, their mean figures, and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from msgspec import Meta, field

from dfopt.confidence import CONFIDENCE, Interval, confidence_interval
from dfopt.errors import DfoptError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.parallel import available_processors
from dfopt.parallel.pool import performed
from dfopt.structs import DocumentPart, Natural, NonNegative, Positive, Share, written
from dfopt.table import Table, Uncertain, columns, facts
from dfopt.user_code import naming_policy
from dfopt_models.space_sharing.job import JobFigures
from dfopt_models.space_sharing.mix import Mix
from dfopt_models.space_sharing.policies import POLICIES, policy_named
from dfopt_models.space_sharing.replication import Replication, Stays, replicate

FIGURES = tuple(field.name for field in fields(JobFigures))

COLUMNS = {
    "response_time": "response time [s] :,.2f",
    "work": "work :,.1f",
    "waste": "waste :,.1f",
    "overhead": "overhead :,.2f",
    "reallocations": "reallocated :,.0f",
    "allocation": "allocation :,.2f",
}
"""How the figures are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationTask:
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
        # An error of a policy of dfopt is a defect of dfopt, so keep its traceback.
        is_own = policy not in POLICIES.values()
        with naming_policy(policy) if is_own else nullcontext():
            done = replicate(self.mix, policy, seed=self.seed, stays=stays)
        if self.trace is not None and stays is not None:
            from dfopt.trace import write_trace

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
    found: dict[str, list[Replication]] = {source: [] for source in names}
    complete = True
    try:
        answers = performed(tasks, processes or available_processors())
        for done, (task, replication) in enumerate(answers, 1):
            assert isinstance(task, ReplicationTask)
            found[task.policy].append(replication)
            if on_progress is not None:
                on_progress(done, len(tasks))
    except KeyboardInterrupt:
        complete = False
    summaries = tuple(summary(names[source], found[source]) for source in names if found[source])
    return summaries, complete


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


def summary(policy: str, replications: Iterable[Replication]) -> PolicySummary:
    """Return the mean figures of replications, whatever the order in which they ended."""
    ordered = sorted(replications, key=lambda replication: replication.seed)
    applications = dict.fromkeys(
        job.application
        for replication in ordered
        for job in sorted(replication.jobs, key=lambda job: job.entry)
    )
    return PolicySummary(
        policy=policy,
        replications=len(ordered),
        events=sum(replication.events for replication in ordered),
        duration=sum(replication.duration for replication in ordered),
        jobs=tuple(_job_summary(application, ordered) for application in applications),
    )


def _job_summary(application: str, replications: Sequence[Replication]) -> JobSummary:
    runs = [
        [job.figures for job in replication.jobs if job.application == application]
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


def _mean(name: str, runs: Sequence[JobFigures]) -> float | None:
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
