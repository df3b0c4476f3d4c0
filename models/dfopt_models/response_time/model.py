"""The parameters of the response-time model: jobs, and what each policy does to them.

All times are in seconds, work and waste in processor-seconds.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from dfopt.checks import check_name, described
from dfopt.errors import DfoptError
from dfopt_models.errors import ModelError
from dfopt_models.parameter_fields import Range
from dfopt_models.response_time.case import (
    JOB_NUMBERS,
    POLICY_NUMBERS,
    Case,
    check_parameter,
)
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.measured import MEASURED_NUMBERS, Measured
from dfopt_models.response_time.penalties import (
    PenaltyTable,
    check_penalty_table,
    penalties_at,
    penalties_of_policy,
)

T = TypeVar("T")

REPLICATED = (*POLICY_NUMBERS, "penalty_affinity")
"""Parameters that each replication of an experiment has."""

LEAST_REPLICATIONS = 2
"""At least this many replications, or nothing is known of their spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyParameters:
    """What a policy does to a job.

    Parameters
    ----------
    work, waste, reallocations, affinity, allocation
        As in :class:`Case`.
    baseline
        Values that replace the baseline's own when it is compared with this policy. Two
        measurements of one job rarely agree on its work, so that a policy can be compared with a
        baseline that does the very same work.
    ranges
        Parameters that are not known exactly: the least and the greatest value. Where the
        parameters follow from measurements, these are measurements.
    sources
        Where numbers come from, by their names.
    measured
        The measurements that the parameters follow from, see :meth:`from_measured`.
    own_work
        Whether the baseline does the policy's work, whatever it is, when compared with it.
    replications
        The same parameters, and perhaps ``penalty_affinity``, of each replication of an
        experiment; entries at one position, in all policies, belong together.
    """

    work: float
    waste: float
    reallocations: float
    affinity: float
    allocation: float
    baseline: Mapping[str, float] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    measured: Measured | None = None
    own_work: bool = False
    replications: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.measured is None:
            check_numbers(self, POLICY_NUMBERS)
        else:
            check_ranges(self.measured, self.ranges, MEASURED_NUMBERS)
        self._check_replications()
        for name, value in self.baseline.items():
            check_known(name, POLICY_NUMBERS, "x-baseline")
            check_parameter(name, value, f"x-baseline.{name}")
        if self.own_work and "work" in self.baseline:
            raise ModelError("is the policy's own, or a number; not both", place="x-baseline.work")

    @classmethod
    def from_measured(
        cls,
        measured: Measured,
        *,
        penalty_affinity: float,
        penalty_no_affinity: float,
        reallocation_time: float,
        **more: Any,
    ) -> PolicyParameters:
        """Return the parameters that follow from measurements, given the cost of a reallocation.

        Parameters
        ----------
        measured
            The measurements. They do not tell work from waste, so that work is both.
        penalty_affinity, penalty_no_affinity, reallocation_time
            As in :class:`.Case`, seconds.
        more
            Other parameters of the class.
        """
        case = measured.case(
            penalty_affinity=penalty_affinity,
            penalty_no_affinity=penalty_no_affinity,
            reallocation_time=reallocation_time,
        )
        numbers = {name: getattr(case, name) for name in POLICY_NUMBERS}
        return cls(**numbers, measured=measured, **more)

    def _check_replications(self) -> None:
        if not self.replications:
            return
        for name, values in self.replications.items():
            check_known(name, REPLICATED, "x-replications")
            for position, value in enumerate(values):
                check_parameter(name, value, f"x-replications.{name}[{position}]")
        lengths = {name: len(self.replications.get(name, ())) for name in POLICY_NUMBERS}
        for name, length in lengths.items():
            if length < LEAST_REPLICATIONS:
                raise ModelError(
                    f"must be at least {LEAST_REPLICATIONS} numbers, one for each replication",
                    place=f"x-replications.{name}",
                )
        if len({len(values) for values in self.replications.values()}) > 1:
            raise ModelError("must have arrays of one length", place="x-replications")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobParameters:
    """A job and what each policy does to it.

    Parameters
    ----------
    name
        Its name.
    penalty_affinity, penalty_no_affinity
        Cache penalty of a reallocation with and without affinity, seconds.
    policies
        The policies by name.
    ranges, sources
        As in :class:`PolicyParameters`.
    penalties
        Penalties by quantum, which then come in the place of those two: each policy has those at
        its own interval between reallocations.
    copies
        Number of such jobs that run at a time.
    """

    name: str
    penalty_affinity: float
    penalty_no_affinity: float
    policies: Mapping[str, PolicyParameters]
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    penalties: PenaltyTable | None = None
    copies: int = 1

    def __post_init__(self) -> None:
        check_label(self.name, "name")
        check_numbers(self, JOB_NUMBERS)
        if type(self.copies) is not int or self.copies < 1:
            raise ModelError(
                f"must be an integer of at least 1, not {described(self.copies)}", place="copies"
            )
        if self.penalties is not None:
            check_penalty_table(self.penalties, "penalties")
        for name in self.policies:
            check_label(name, "policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseModel:
    """Jobs of a mix under several policies, one of which is the baseline.

    Parameters
    ----------
    name
        Its name.
    baseline
        The policy that all others are compared with.
    reallocation_time
        Path length of a reallocation, seconds.
    jobs
        The jobs, each of which has the baseline among its policies.
    ranges, sources
        As in :class:`PolicyParameters`.
    processors
        Number of processors of the machine; None if it is not known.

    Raises
    ------
    ModelError
        When a value is impossible, two jobs have one name, or a job lacks the baseline.
    """

    name: str
    baseline: str
    reallocation_time: float
    jobs: tuple[JobParameters, ...]
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    processors: float | None = None

    def __post_init__(self) -> None:
        check_label(self.name, "name")
        check_label(self.baseline, "baseline")
        check_numbers(self, ("reallocation_time",))
        if self.processors is not None:
            check_parameter("processors", self.processors, "processors")
            if self.processors == 0:
                raise ModelError("must be more than 0", place="processors")
        if not self.jobs:
            raise ModelError("is missing; a model needs at least one job", place="job")
        names: dict[str, int] = {}
        for number, job in enumerate(self.jobs):
            if job.name in names:
                raise ModelError(
                    f"{described(job.name)} is also the name of job[{names[job.name]}]; "
                    "rename one of them",
                    place=f"job[{number}].name",
                )
            names[job.name] = number
            self._check_baseline(job, f"job[{number}].policy")

    def _check_baseline(self, job: JobParameters, place: str) -> None:
        if self.baseline in job.policies:
            baseline = job.policies[self.baseline]
            if baseline.baseline or baseline.own_work:
                raise ModelError(
                    "is for the other policies; this is the baseline itself",
                    place=f"{place}.{self.baseline}.x-baseline",
                )
            return
        has = f"has {', '.join(map(described, job.policies))}" if job.policies else "has none"
        raise ModelError(
            f"job {described(job.name)} {has}, but not the baseline {described(self.baseline)}; "
            "add it, or name another baseline",
            place=place,
        )

    def job(self, name: str) -> JobParameters:
        """Return a job by its name.

        Raises
        ------
        ModelError
            When there is no such job; the message names the existing ones.
        """
        return named(name, {job.name: job for job in self.jobs}, "job")

    def case(self, job: str, policy: str) -> Case:
        """Return a job under a policy.

        Raises
        ------
        ModelError
            When there is no such job or policy; the message names the existing ones.
        """
        chosen = self.job(job)
        return self._case(chosen, named(policy, chosen.policies, "policy"))

    def comparison(self, job: str, policy: str) -> PolicyComparison:
        """Return a job under a policy, and under the baseline.

        Raises
        ------
        ModelError
            When there is no such job or policy; the message names the existing ones.
        """
        chosen = self.job(job)
        parameters = named(policy, chosen.policies, "policy")
        baseline = chosen.policies[self.baseline]
        case = self._case(chosen, parameters)
        instead = dict(parameters.baseline)
        if parameters.own_work:
            instead["work"] = case.work
        return PolicyComparison(
            job=job,
            policy=policy,
            case=case,
            baseline=replace(self._case(chosen, baseline), **instead),
            ranges={**self.ranges, **chosen.ranges, **parameters.ranges},
            baseline_ranges={
                name: limits for name, limits in baseline.ranges.items() if name not in instead
            },
            measured=parameters.measured,
            baseline_measured=baseline.measured,
            penalties=chosen.penalties,
            own_work=parameters.own_work,
            replications=self._replications(chosen, parameters, baseline),
        )

    def comparisons(self) -> tuple[PolicyComparison, ...]:
        """Return every policy of every job with the baseline.

        Raises
        ------
        ModelError
            When a job has no policy besides the baseline.
        """
        for number, job in enumerate(self.jobs):
            if set(job.policies) == {self.baseline}:
                raise ModelError(
                    f"job {described(job.name)} has no policy besides the baseline "
                    f"{described(self.baseline)}; add one to compare",
                    place=f"job[{number}].policy",
                )
        return tuple(
            self.comparison(job.name, policy)
            for job in self.jobs
            for policy in job.policies
            if policy != self.baseline
        )

    def _case(self, job: JobParameters, policy: PolicyParameters) -> Case:
        numbers = {name: getattr(policy, name) for name in POLICY_NUMBERS}
        penalties = dict(zip(JOB_NUMBERS, self._penalties(job, policy), strict=True))
        return Case(reallocation_time=self.reallocation_time, **penalties, **numbers)

    def _penalties(self, job: JobParameters, policy: PolicyParameters) -> tuple[float, float]:
        if job.penalties is None:
            return job.penalty_affinity, job.penalty_no_affinity
        if policy.measured is not None:
            return penalties_at(job.penalties, policy.measured.interval)
        return penalties_of_policy(
            job.penalties,
            processor_seconds=policy.work + policy.waste,
            reallocations=policy.reallocations,
            affinity=policy.affinity,
            reallocation_time=self.reallocation_time,
        )

    def _replications(
        self, job: JobParameters, policy: PolicyParameters, baseline: PolicyParameters
    ) -> tuple[tuple[Case, Case], ...]:
        """Return the pairs of replications; none where only one of both has them."""
        both = policy.replications, baseline.replications
        if not all(both):
            return ()
        own, theirs = (
            [
                replace(self._case(job, each), **dict(zip(replications, values, strict=True)))
                for values in zip(*replications.values(), strict=True)
            ]
            for each, replications in zip((policy, baseline), both, strict=True)
        )
        if len(own) != len(theirs):
            raise ModelError(
                f"has {len(own)} replications, and the baseline {len(theirs)}; they must be pairs",
                place="x-replications",
            )
        return tuple(zip(own, theirs, strict=True))


class WithRanges(Protocol):
    """Anything that has parameters, some of them with ranges."""

    @property
    def ranges(self) -> Mapping[str, Range]:
        """The least and the greatest value of parameters, by their names."""


def named(name: str, things: Mapping[str, T], what: str) -> T:
    """Return the thing of this name."""
    if name not in things:
        nearest = difflib.get_close_matches(name, things, n=1)
        hint = f"; did you mean {described(nearest[0])}?" if nearest else ""
        known = ", ".join(map(described, things))
        raise ModelError(f"there is no {what} {described(name)}; known are {known}{hint}")
    return things[name]


def check_numbers(holder: WithRanges, names: tuple[str, ...]) -> None:
    """Refuse impossible numbers, and ranges that do not fit them."""
    for name in names:
        check_parameter(name, getattr(holder, name), name)
    check_ranges(holder, holder.ranges, names)


def check_ranges(holder: object, ranges: Mapping[str, Range], names: tuple[str, ...]) -> None:
    """Refuse ranges that do not fit the holder's numbers."""
    for name, limits in ranges.items():
        check_known(name, names, "x-range")
        check_range(name, limits, getattr(holder, name), f"x-range.{name}")


def check_range(name: str, limits: Range, value: float, place: str) -> None:
    """Refuse a range that is empty, or does not hold its parameter's value."""
    for end, limit in enumerate(limits):
        check_parameter(name, limit, f"{place}[{end}]")
    least, greatest = limits
    if least > greatest:
        raise ModelError(
            f"must be [least, greatest], but {least:g} is more than {greatest:g}", place=place
        )
    if not least <= value <= greatest:
        raise ModelError(
            f"must hold the value of {name}, {value:g}; it is from {least:g} to {greatest:g}",
            place=place,
        )


def check_known(name: str, known: Iterable[str], place: str) -> None:
    """Refuse the name of a parameter that is not here."""
    known = tuple(known)
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"known are {', '.join(known)}"
        raise ModelError(f"there is no parameter {described(name)} here; {hint}", place=place)


def check_label(value: object, place: str) -> None:
    """Refuse anything but a name."""
    try:
        check_name(value, place)
    except DfoptError as error:
        raise ModelError(error.problem, place=error.place) from None
    if not value:
        raise ModelError("is empty; give it a name", place=place)
