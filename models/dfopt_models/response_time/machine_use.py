"""How much of a machine does work: the bound that no policy with this work beats.

Where every job that ends is replaced at once by one like it, a job with response time RT ends 1/RT
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

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dfopt_models.errors import ModelError
from dfopt_models.response_time import equations
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import Numbers, machines, response_time


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineUse:
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
            allocated=sum(job.copies * job.policies[policy].allocation for job in model.jobs)
            / model.processors,
        )
        for speed, cache in places
        for policy in common
    )
