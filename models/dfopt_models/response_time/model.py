"""The response-time model: the jobs of a mix under several policies, compared with one of them.

Which results rest on assumptions is said by the sources of the numbers that they follow from.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import field

from dfopt.checks import described
from dfopt.errors import DfoptError
from dfopt.structs import replace, shown_place
from dfopt_models.errors import ModelError
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.parameters import (
    JOB_NUMBERS,
    POLICY_NUMBERS,
    AboveZero,
    Amount,
    Case,
    JobParameters,
    PolicyParameters,
    Ranged,
    check_label,
    penalties_of_policy,
)

T = TypeVar("T")


class ResponseModel(Ranged):
    """Jobs of a mix under several policies, one of which is the baseline.

    Parameters
    ----------
    name
        Its name; the file's name if it is left out.
    baseline
        The policy that all others are compared with.
    reallocation_time
        Path length of a reallocation, seconds.
    processors
        Number of processors of the machine, if it is known.
    jobs
        The jobs, each of which has the baseline among its policies.

    Raises
    ------
    ModelError
        When a value is impossible, two jobs have one name, or a job lacks the baseline.
    """

    name: str = "model"
    baseline: str
    reallocation_time: Amount
    processors: AboveZero | None = None
    jobs: tuple[JobParameters, ...] = field(name="job")

    def __post_init__(self) -> None:
        """Check that jobs have names of their own, and the baseline."""
        super().__post_init__()
        check_label(self.name, "name")
        check_label(self.baseline, "baseline")
        self.check_ranges(self, ("reallocation_time",))
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
            for name, policy in job.policies.items():
                if policy.measured is not None:
                    try:
                        self._case(job, policy)
                    except DfoptError as error:
                        place = f"job[{number}].{shown_place(('policy', name))}.measured"
                        raise error.within(place) from None

    def _check_baseline(self, job: JobParameters, place: str) -> None:
        if self.baseline in job.policies:
            baseline = job.policies[self.baseline]
            if baseline.baseline:
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
        own = {"work": case.work} if parameters.own_work else {}
        instead: dict[str, Any] = parameters.baseline | own
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
        time = self.reallocation_time
        if policy.measured is not None:
            costs = job.penalties_after(policy.measured.interval)
            return policy.measured.case(reallocation_time=time, **costs)
        numbers = {name: getattr(policy, name) for name in POLICY_NUMBERS}
        if job.penalties is None:
            return Case(reallocation_time=time, **job.penalties_after(0.0), **numbers)
        both = penalties_of_policy(
            job.penalties,
            processor_seconds=numbers["work"] + numbers["waste"],
            reallocations=numbers["reallocations"],
            affinity=numbers["affinity"],
            reallocation_time=time,
        )
        penalties = dict(zip(JOB_NUMBERS, both, strict=True))
        return Case(reallocation_time=time, **penalties, **numbers)

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


def assumptions_of_case(model: ResponseModel, job: str, policy: str) -> tuple[str, ...]:
    """Return the assumptions that the response time of a job under a policy rests on.

    Each is a text such as ``"waste of MATRIX under equipartition"``.
    """
    chosen = model.job(job)
    return (
        *(name for name in model.assumed if name == "reallocation_time"),
        *(f"{name} of {job}" for name in chosen.assumed),
        *(f"{name} of {job} under {policy}" for name in chosen.policies[policy].assumed),
    )


def assumptions_of_comparison(model: ResponseModel, job: str, policy: str) -> tuple[str, ...]:
    """Return the assumptions that a policy's response time beside the baseline's rests on."""
    parameters = model.job(job).policies[policy]
    replaced = parameters.baseline.keys()
    theirs = (
        text
        for text in assumptions_of_case(model, job, model.baseline)
        if text.split(" of ", maxsplit=1)[0] not in replaced
    )
    return tuple(dict.fromkeys((*assumptions_of_case(model, job, policy), *theirs)))


def assumptions_of_use(model: ResponseModel, policy: str) -> tuple[str, ...]:
    """Return the assumptions that the useful share of a machine rests on, besides the mix."""
    cases = (text for job in model.jobs for text in assumptions_of_case(model, job.name, policy))
    return tuple(dict.fromkeys((*(name for name in model.assumed if name == "processors"), *cases)))
