"""One replication: a mix under a policy, from the first arrival until enough has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dfopt.errors import DfoptError
from dfopt_models.space_sharing.engine import Engine
from dfopt_models.space_sharing.figures import Figures, check_conservation, figures_of
from dfopt_models.space_sharing.job import Job
from dfopt_models.space_sharing.parameters import JobEntry, Mix, PolicyParameters
from dfopt_models.space_sharing.policy import Policy
from dfopt_models.space_sharing.stays import Stays

LARGEST_SEED = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A job that has ended, and what it cost."""

    application: str
    entry: int
    arrival: float
    end: float
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """What one replication showed.

    Parameters
    ----------
    seed
        With which it can be had again.
    jobs
        Those that ended, in that order.
    events
        How many events the engine dealt with.
    duration
        Simulated seconds.
    """

    seed: int
    jobs: tuple[Ended, ...]
    events: int
    duration: float


def replicate(
    mix: Mix,
    policy: Callable[[PolicyParameters], Policy],
    *,
    seed: int,
    stays: Stays | None = None,
) -> Replication:
    """Simulate a mix once.

    With ``restart``, until every job has ended ``runs`` times; those under way then do not count.
    Otherwise until the last job has ended.

    Parameters
    ----------
    mix
        What runs where.
    policy
        Makes the policy from the mix's parameters.
    seed
        Of everything random. The threads of a job's run depend on it, on the entry of the mix,
        on the copy and on the number of the run alone, and so are the same under every policy.
    stays
        Where to note who held which processor when.

    Raises
    ------
    DfoptError
        When the policy cannot be made, asks for what cannot be done, or leaves jobs without
        processors for ever.
    ConservationError
        When the account of a job does not balance: a defect.
    """
    try:
        made = policy(mix.policy)
    except (TypeError, ValueError) as error:  # of somebody's own
        raise DfoptError(
            f"the policy cannot be made of the mix's parameters ({error}); correct its constructor"
        ) from error
    return _Run(mix, made, seed, stays).replication()


class _Run:
    """The arrivals and ends of one replication."""

    def __init__(self, mix: Mix, policy: Policy, seed: int, stays: Stays | None) -> None:
        self._mix = mix
        self._seed = seed
        self._entries = [entry for entry in mix.jobs for _ in range(entry.copies)]
        self._names = _names(self._entries)
        self._wanted = mix.runs if mix.restart else 1
        self._unfinished = len(self._entries)  # those that have not ended so often yet
        self._ended: list[Ended] = []
        self._runs: Counter[int] = Counter()
        self._engine = Engine(mix, policy, seed=seed, on_end=self._end, stays=stays)

    def replication(self) -> Replication:
        engine = self._engine
        for time, numbers in self._arrivals().items():
            engine.call_after(time, partial(self._arrive, numbers))
        engine.run()
        for job in engine.jobs:
            # Idle ones first: nobody goes on there with what is cut short on the others.
            for processor in (*job.idle, *(one for one in job.held if one not in job.idle)):
                engine.take(processor)
            check_conservation(job)
        return Replication(
            seed=self._seed,
            jobs=tuple(self._ended),
            events=engine.events,
            duration=engine.now,
        )

    def _arrivals(self) -> dict[float, list[int]]:
        """Return which jobs arrive when."""
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

    def _arrive(self, numbers: list[int]) -> None:
        self._engine.arrive(*map(self._job, numbers))

    def _job(self, number: int) -> Job:
        entry, run = self._entries[number], self._runs[number]
        seed = np.random.SeedSequence([self._seed, number, run]).generate_state(1, np.uint64)[0]
        return Job(
            f"{self._names[number]}#{run + 1}",
            number,
            entry.application,
            entry.application.structure.program(int(seed)),
            processors=self._mix.machine.processors,
        )

    def _end(self, job: Job) -> Job | None:
        assert job.end is not None
        self._runs[job.entry] += 1
        self._ended.append(
            Ended(
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
        while f"{name}.{seen[name]}" in counts:  # another application is called so
            seen[name] += 1
        names.append(name if counts[name] == 1 else f"{name}.{seen[name]}")
    return names
