"""The response-time model: the jobs of a mix under several policies, compared with one of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from dfopt.checks import described
from dfopt.short_repr import short_repr
from dfopt.structs import replace
from dfopt_models.errors import ModelError
from dfopt_models.parameter_fields import Range
from dfopt_models.response_time.case import JOB_NUMBERS, POLICY_NUMBERS, Case, check_parameter
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.parameters import (
    JobParameters,
    PolicyParameters,
    check_label,
    check_numbers,
)
from dfopt_models.response_time.penalties import penalties_at, penalties_of_policy

T = TypeVar("T")


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

    __repr__ = short_repr

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


def named(name: str, things: Mapping[str, T], what: str) -> T:
    """Return the thing of this name."""
    if name not in things:
        nearest = difflib.get_close_matches(name, things, n=1)
        hint = f"; did you mean {described(nearest[0])}?" if nearest else ""
        known = ", ".join(map(described, things))
        raise ModelError(f"there is no {what} {described(name)}; known are {known}{hint}")
    return things[name]
