"""Bounds on the response time under an online policy, and what a policy can afford.

On a given machine equal response times lie on straight lines in the plane of reallocations and
waste. Their slope is the exchange rate, see :func:`.exchange_rate`. The line on which a policy is
as fast as the baseline begins at the :func:`.waste_budget`.

How much of a machine does work is another bound. Where every job that ends is replaced at once by
one like it, a job with response time RT ends 1/RT
times a second, and each time w processor-seconds of work are done. A machine of P processors of
speed s does at most P·s of them a second. So the useful share

    E = Σ n w / (s · RT · P),

n the copies of a job, is at most 1 under every policy. A policy that does the same work and
shortens all response times by the factor γ has the useful share E / γ, so that γ ≥ E: no policy
makes all response times shorter than E times what they are, whether it knows the future or not.

The bound needs a closed and constant mix. It does not hold for jobs that run once: there a policy
may give the machine to one job after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dfopt.structs import DocumentPart, replace
from dfopt_models.errors import ModelError
from dfopt_models.response_time import equations
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import (
    Numbers,
    exchange_rate,
    machines,
    response_time,
    waste_budget,
)
from dfopt_models.response_time.parameters import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Response times of a job: under a policy, and with fewer and fewer costs.

    All are in seconds and hold for the policy's own average allocation.

    Parameters
    ----------
    response_time
        Under the policy.
    perfect_affinity
        If every reallocation resumed a task where it has affinity (α = 1). It is a bound wherever
        affinity saves anything, P^A / c ≤ P^NA · √c. If P^A ≤ P^NA, that is on today's machine
        and on all larger ones.
    zero_yield
        If no processor were held without work, with the policy's reallocations.
    ideal
        Without waste and without reallocations: the work alone.
    """

    response_time: Numbers
    perfect_affinity: Numbers
    zero_yield: Numbers
    ideal: Numbers

    def headroom(self, bound: Numbers) -> Numbers:
        """Return by which fraction of the response time the policy is slower than a bound."""
        return 1 - bound / self.response_time


def bounds(case: Case, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0) -> Bounds:
    """Return how fast a job could be under a policy with perfect affinity, without waste, or both.

    Parameters
    ----------
    case
        A job under a policy.
    speed, cache
        Relative to today's machine; any shapes that go together.

    Raises
    ------
    ModelError
        When a speed or a cache is not more than 0.
    """
    return Bounds(
        response_time=response_time(case, speed, cache),
        perfect_affinity=response_time(replace(case, affinity=1.0), speed, cache),
        zero_yield=response_time(replace(case, waste=0.0), speed, cache),
        ideal=response_time(replace(case, waste=0.0, reallocations=0.0), speed, cache),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """What a policy can afford on a machine before it is slower than the baseline.

    Parameters
    ----------
    exchange_rate
        How much waste costs as much as one reallocation, in processor-seconds of today.
    waste_budget
        How much waste makes it as slow as the baseline without any reallocation, in
        processor-seconds of today. Negative if it is slower without waste, too.
    """

    exchange_rate: Numbers
    waste_budget: Numbers

    def most_waste(self, reallocations: ArrayLike) -> Numbers:
        """Return the waste that makes a policy with these reallocations as slow as the baseline."""
        return self.waste_budget - np.asarray(reallocations, np.float64) * self.exchange_rate

    def most_reallocations(self, waste: ArrayLike = 0.0) -> Numbers:
        """Return the reallocations at which a policy with this waste is as slow as the baseline.

        Negative if it is slower without any; infinite or undefined if they cost nothing.
        """
        with np.errstate(all="ignore"):
            return (self.waste_budget - np.asarray(waste, np.float64)) / self.exchange_rate


def trade(
    comparison: PolicyComparison,
    speed: ArrayLike = 1.0,
    cache: ArrayLike = 1.0,
    *,
    affinity: float | None = None,
) -> Trade:
    """Return what a policy can afford before it is slower than the baseline.

    Parameters
    ----------
    comparison
        A policy and the baseline; the policy's own waste and reallocations do not matter.
    speed, cache
        Relative to today's machine; any shapes that go together.
    affinity
        Another fraction of reallocations with affinity.

    Raises
    ------
    ModelError
        When a speed or a cache is not more than 0, or the affinity not from 0 to 1.
    """
    case = comparison.case
    if affinity is not None:
        case = replace(case, affinity=affinity)
    return Trade(
        exchange_rate=exchange_rate(case, speed, cache),
        waste_budget=waste_budget(replace(comparison, case=case), speed, cache),
    )


def pareto_front(model: ResponseModel, job: str) -> tuple[str, ...]:
    """Return the policies of a job that no other one beats in both waste and reallocations.

    A policy that is left out has at least as much of both as another policy, and more of one. Waste
    is compared together with work, because measurements cannot always tell one from the other, and
    all policies do the same job.

    Raises
    ------
    ModelError
        When there is no such job.
    """
    cases = {name: model.case(job, name) for name in model.job(job).policies}
    return non_dominated({
        name: (case.work + case.waste, case.reallocations) for name, case in cases.items()
    })  # fmt: skip


def non_dominated(points: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """Return the names of the points that no other point is below or beside in both coordinates."""
    if not points:
        raise ModelError("there are no points")
    return tuple(
        name
        for name, point in points.items()
        if not any(
            other != point and other[0] <= point[0] and other[1] <= point[1]
            for other in points.values()
        )
    )


class MachineUse(DocumentPart):
    """How much of a machine does work under a policy.

    Parameters
    ----------
    policy
        Its name.
    speed, cache
        The machine, relative to today's.
    useful
        The share of its processors that does work, on average.
    allocated
        The share that jobs hold, on average; it does not depend on speed and cache.
    """

    policy: str
    speed: float
    cache: float
    useful: float
    allocated: float


def useful_share(
    model: ResponseModel, policy: str, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0
) -> Numbers:
    """Return the share of processors that does work under a policy, in a closed, constant mix.

    No policy that does this work shortens all response times by more than to this share of them.

    Parameters
    ----------
    model
        A model that says how many processors the machine has. Where work and waste were not told
        apart, the share is too large, and the bound too low.
    policy
        A policy that every job has.
    speed, cache
        Relative to today's machine; any shapes that go together.

    Raises
    ------
    ModelError
        When the model does not give the processors, a job lacks the policy, or a speed or a cache
        is not more than 0.
    """
    if model.processors is None:
        raise ModelError("is missing; say how many there are", place="processors")
    speeds, caches = machines(speed, cache)
    total = np.zeros(speeds.shape)
    for job in model.jobs:
        case = model.case(job.name, policy)
        time = response_time(case, speeds, caches)
        total = total + equations.useful_share(
            case, time, speed=speeds, processors=model.processors, copies=job.copies
        )
    return np.asarray(total)


def machine_uses(
    model: ResponseModel, places: tuple[tuple[float, float], ...]
) -> tuple[MachineUse, ...]:
    """Return the use of some machines under every policy that all jobs have.

    Parameters
    ----------
    model
        The model; without a number of processors there is nothing to return.
    places
        Speed and cache of each machine, relative to today's.
    """
    if model.processors is None:
        return ()
    common = [
        policy
        for policy in model.jobs[0].policies
        if all(policy in job.policies for job in model.jobs)
    ]
    return tuple(
        MachineUse(
            policy=policy,
            speed=speed,
            cache=cache,
            useful=float(useful_share(model, policy, speed, cache)),
            allocated=sum(
                job.copies * model.case(job.name, policy).allocation for job in model.jobs
            )
            / model.processors,
        )
        for speed, cache in places
        for policy in common
    )
