"""Response times, bounds and trades of a whole model on some machines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from dfopt.files.formats import Format
from dfopt_models.response_time.bounds import bounds
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import machines as checked_machines
from dfopt_models.response_time.numeric import relative_response_time
from dfopt_models.response_time.trade import pareto_front, trade

FORMAT = Format.RESPONSE_TIME

TODAY = (1.0, 1.0)
"""Speed and cache of the machine that all others are relative to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseTimeRow:
    """A job under a policy on a machine.

    Parameters
    ----------
    job, policy
        Their names.
    speed, cache
        The machine, relative to today's.
    response_time
        Seconds.
    relative
        Response time over that under the baseline.
    perfect_affinity, zero_yield, ideal
        The bounds, seconds; see :class:`.Bounds`.
    exchange_rate
        How much waste costs as much as one reallocation, processor-seconds of today.
    most_reallocations
        With how many reallocations the policy would be as slow as the baseline, its waste as it
        is; None where it is slower without any, or they cost nothing.
    """

    job: str
    policy: str
    speed: float
    cache: float
    response_time: float
    relative: float
    perfect_affinity: float
    zero_yield: float
    ideal: float
    exchange_rate: float
    most_reallocations: float | None

    def headroom(self, bound: float) -> float:
        """Return by which fraction of the response time the policy is slower than a bound."""
        return 1 - bound / self.response_time


def machines_of(
    speeds: Sequence[float], caches: Sequence[float]
) -> tuple[tuple[float, float], ...]:
    """Return today's machine, and those of speeds and caches taken in pairs; 1 where one lacks.

    Raises
    ------
    ModelError
        When a speed or a cache is none.
    """
    pairs = [TODAY, *zip_longest(speeds, caches, fillvalue=1.0)]
    checked_machines(*zip(*pairs, strict=True))
    return tuple(dict.fromkeys((float(speed), float(cache)) for speed, cache in pairs))


def response_time_table(
    model: ResponseModel, machines: Sequence[tuple[float, float]] = (TODAY,)
) -> tuple[ResponseTimeRow, ...]:
    """Return every job under every policy on every machine, one machine after the other.

    Parameters
    ----------
    model
        The model.
    machines
        Speed and cache of each, relative to today's.

    Raises
    ------
    ModelError
        When a speed or a cache is not more than 0.
    """
    return tuple(
        _row(model, job.name, policy, machine)
        for machine in machines
        for job in model.jobs
        for policy in job.policies
    )


def response_time_document(model: ResponseModel, rows: Sequence[ResponseTimeRow]) -> dict[str, Any]:
    """Return response times as a document of the format ``dfopt-response-time/1``."""
    return {
        "format": FORMAT,
        "model": model.name,
        "baseline": model.baseline,
        "response_times": [
            {
                "job": row.job,
                "policy": row.policy,
                "speed": row.speed,
                "cache": row.cache,
                "response_time_s": row.response_time,
                "relative": row.relative,
                "perfect_affinity_s": row.perfect_affinity,
                "zero_yield_s": row.zero_yield,
                "ideal_s": row.ideal,
                "exchange_rate_s": row.exchange_rate,
                "most_reallocations": row.most_reallocations,
            }
            for row in rows
        ],
        "pareto_fronts": [
            {"job": job.name, "policies": list(pareto_front(model, job.name))} for job in model.jobs
        ],
    }


def _row(
    model: ResponseModel, job: str, policy: str, machine: tuple[float, float]
) -> ResponseTimeRow:
    comparison = model.comparison(job, policy)
    at_best = bounds(comparison.case, *machine)
    affordable = trade(comparison, *machine)
    most = float(affordable.most_reallocations(comparison.case.waste))
    return ResponseTimeRow(
        job=job,
        policy=policy,
        speed=machine[0],
        cache=machine[1],
        response_time=float(at_best.response_time),
        relative=float(relative_response_time(comparison, *machine)),
        perfect_affinity=float(at_best.perfect_affinity),
        zero_yield=float(at_best.zero_yield),
        ideal=float(at_best.ideal),
        exchange_rate=float(affordable.exchange_rate),
        most_reallocations=most if math.isfinite(most) and most >= 0 else None,
    )
