"""Replications of a mix under several policies, and what they show together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from dfopt.errors import DfoptError
from dfopt.parallel.processes import performed
from dfopt.simulate.policy_source import naming_policy
from dfopt.simulate.statistics import Interval, confidence_interval
from dfopt_models.space_sharing.figures import Figures
from dfopt_models.space_sharing.parameters import Mix
from dfopt_models.space_sharing.policy_source import policy_named
from dfopt_models.space_sharing.replication import Replication, replicate
from dfopt_models.space_sharing.stays import Stays

FIGURES = tuple(field.name for field in fields(Figures))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationTask:
    """One replication to do.

    Parameters
    ----------
    mix, seed
        Of the replication.
    policy
        As :func:`policy_named` takes it.
    trace
        File to write the trace to; its ending says in which format.
    """

    mix: Mix
    policy: str
    seed: int
    trace: Path | None = None

    def perform(self) -> Replication:
        """Do it."""
        policy = policy_named(self.policy)
        stays = Stays() if self.trace is not None else None
        with naming_policy(policy):
            done = replicate(self.mix, policy, seed=self.seed, stays=stays)
        if self.trace is not None and stays is not None:
            from dfopt.trace import write_trace

            processors = self.mix.machine.processors
            trace = stays.trace(name=self.mix.name, policy=policy.name, processors=processors)
            write_trace(trace, self.trace)
        return done


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary:
    """What the jobs of one application got under a policy.

    Parameters
    ----------
    application
        What they run.
    ended
        How many ended, over all replications.
    figures
        By the names of :class:`Figures`: mean and confidence interval over the replications, of
        which each counts with the mean of its jobs; for ``affinity_penalty``, of those that have
        any reallocation with affinity.
    """

    application: str
    ended: int
    figures: dict[str, Interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySummary:
    """What a policy did with a mix.

    Parameters
    ----------
    policy
        Its name.
    replications
        How many were finished.
    events, duration
        Events and simulated seconds of all replications together.
    jobs
        One for each application of the mix, in its order.
    """

    policy: str
    replications: int
    events: int
    duration: float
    jobs: tuple[JobSummary, ...]

    def job(self, application: str) -> JobSummary:
        """Return what an application's jobs got."""
        return next(job for job in self.jobs if job.application == application)


def simulate(  # noqa: PLR0913 - what, how often, and where
    mix: Mix,
    policies: Sequence[str],
    *,
    seeds: range = range(10),
    processes: int | None = None,
    trace_folder: Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[tuple[PolicySummary, ...], bool]:
    """Simulate a mix under each policy, over and over.

    Parameters
    ----------
    mix
        What runs where.
    policies
        As :func:`policy_named` takes them.
    seeds
        Of the replications of each policy. The same seed gives the same threads under all of them.
    processes
        How many to use at once; by default one a processor.
    trace_folder
        Where to write a trace of each replication.
    on_progress
        Called with the number of replications that are done, and of all.

    Returns
    -------
    tuple
        A summary for each policy that has a finished replication, and whether all were finished:
        Ctrl-C ends the simulation with those that are.

    Raises
    ------
    DfoptError
        When a policy cannot be had, has the name of another, or leaves jobs without processors
        for ever.
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
        answers = performed(tasks, processes or os.cpu_count() or 1)
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
    """Return the name of each policy, which figures and traces are told apart by."""
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
    """Return what replications show together, whatever the order in which they ended."""
    ordered = sorted(replications, key=lambda one: one.seed)
    applications = dict.fromkeys(
        job.application for one in ordered for job in sorted(one.jobs, key=lambda job: job.entry)
    )
    return PolicySummary(
        policy=policy,
        replications=len(ordered),
        events=sum(one.events for one in ordered),
        duration=sum(one.duration for one in ordered),
        jobs=tuple(_job_summary(application, ordered) for application in applications),
    )


def _job_summary(application: str, replications: Sequence[Replication]) -> JobSummary:
    runs = [
        [job.figures for job in one.jobs if job.application == application] for one in replications
    ]
    return JobSummary(
        application=application,
        ended=sum(map(len, runs)),
        figures={name: _interval(name, runs) for name in FIGURES},
    )


def _interval(name: str, runs: Sequence[Sequence[Figures]]) -> Interval:
    """Return a figure's mean over replications, of which each has one for the mean of its runs."""
    # A run without any reallocation with affinity says nothing of what these cost.
    counting = [
        [getattr(run, name) for run in one if name != "affinity_penalty" or run.affinity]
        for one in runs
    ]
    means = [sum(one) / len(one) for one in counting if one]
    return confidence_interval(means or [0.0] * len(runs))
