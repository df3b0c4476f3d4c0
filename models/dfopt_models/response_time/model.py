"""The parameters of the response-time model: jobs, and what each policy does to them.

All times are in seconds, work and waste in processor-seconds.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from dfopt.checks import LARGEST_TOTAL, check_name, described
from dfopt.errors import DfoptError
from dfopt_models.errors import ModelError
from dfopt_models.parameter_fields import Range

T = TypeVar("T")

JOB_NUMBERS = ("penalty_affinity", "penalty_no_affinity")
POLICY_NUMBERS = ("work", "waste", "reallocations", "affinity", "allocation")
SHARED_NUMBERS = ("reallocation_time", *JOB_NUMBERS)
"""Parameters that a job has under every policy."""

POSITIVE = ("work", "allocation")
"""Parameters that must be more than 0, so that no division is by 0."""

LEAST_POSITIVE = 1 / LARGEST_TOTAL
"""A smaller value counts as 0, because its reciprocal may be infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A job under a policy: the parameters of equations (1) and (2).

    Parameters
    ----------
    work
        Useful work, processor-seconds.
    waste
        Time for which processors were held without work, processor-seconds.
    reallocations
        Reallocations of a processor that the job sees; a mean need not be an integer.
    affinity
        The fraction of them that resume a task where it has affinity, 0 to 1.
    allocation
        The average number of processors.
    reallocation_time
        Path length of a reallocation, seconds.
    penalty_affinity, penalty_no_affinity
        Cache penalty of a reallocation with and without affinity, seconds.
    """

    work: float
    waste: float
    reallocations: float
    affinity: float
    allocation: float
    reallocation_time: float
    penalty_affinity: float
    penalty_no_affinity: float

    def __post_init__(self) -> None:
        for name in (*POLICY_NUMBERS, *SHARED_NUMBERS):
            check_parameter(name, getattr(self, name), name)


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
        Parameters that are not known exactly: the least and the greatest value.
    sources
        Where numbers come from, by their names.
    """

    work: float
    waste: float
    reallocations: float
    affinity: float
    allocation: float
    baseline: Mapping[str, float] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_numbers(self, POLICY_NUMBERS)
        for name, value in self.baseline.items():
            check_known(name, POLICY_NUMBERS, "x-baseline")
            check_parameter(name, value, f"x-baseline.{name}")


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
    """

    name: str
    penalty_affinity: float
    penalty_no_affinity: float
    policies: Mapping[str, PolicyParameters]
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_label(self.name, "name")
        check_numbers(self, JOB_NUMBERS)
        for name in self.policies:
            check_label(name, "policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyComparison:
    """A policy and the baseline it is measured against, for one job.

    Parameters
    ----------
    job, policy
        Their names.
    case, baseline
        The job under this policy and under the baseline; the penalties and the reallocation time
        are the same in both.
    ranges, baseline_ranges
        Parameters that are not known exactly, by the names that :class:`Case` has for them. Those
        that both cases share are in ``ranges`` alone.
    """

    job: str
    policy: str
    case: Case
    baseline: Case
    ranges: Mapping[str, Range] = field(default_factory=dict)
    baseline_ranges: Mapping[str, Range] = field(default_factory=dict)

    @property
    def has_ranges(self) -> bool:
        """Whether anything is not known exactly."""
        return bool(self.ranges or self.baseline_ranges)


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

    def __post_init__(self) -> None:
        check_label(self.name, "name")
        check_label(self.baseline, "baseline")
        check_numbers(self, ("reallocation_time",))
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
            if job.policies[self.baseline].baseline:
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
        return self._case(chosen, named(policy, chosen.policies, "policy"), {})

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
        return PolicyComparison(
            job=job,
            policy=policy,
            case=self._case(chosen, parameters, {}),
            baseline=self._case(chosen, baseline, parameters.baseline),
            ranges={**self.ranges, **chosen.ranges, **parameters.ranges},
            baseline_ranges={
                name: limits
                for name, limits in baseline.ranges.items()
                if name not in parameters.baseline
            },
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

    def _case(
        self, job: JobParameters, policy: PolicyParameters, instead: Mapping[str, float]
    ) -> Case:
        numbers = {name: getattr(policy, name) for name in POLICY_NUMBERS} | dict(instead)
        penalties = {name: getattr(job, name) for name in JOB_NUMBERS}
        return Case(reallocation_time=self.reallocation_time, **penalties, **numbers)


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
    for name, limits in holder.ranges.items():
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


def check_parameter(name: str, value: object, place: str) -> None:
    """Refuse a number that a parameter cannot have."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(f"must be a number, not {described(value)}", place=place)
    if not abs(value) <= LARGEST_TOTAL:  # NaN is neither more nor less
        raise ModelError(f"must be finite and at most 2^62, not {described(value)}", place=place)
    if value < 0:
        raise ModelError(f"must not be negative; it is {value:g}", place=place)
    if name in POSITIVE and value < LEAST_POSITIVE:
        least = "more than 0" if value == 0 else f"at least 2^-62, not {value:g}"
        raise ModelError(f"must be {least}", place=place)
    if name == "affinity" and value > 1:
        raise ModelError(f"must be a fraction from 0 to 1, not {value:g}", place=place)


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
