"""Response times and crossovers of a whole model: the rows of the commands and their documents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from dfopt.files.formats import Format
from dfopt_models.growth import KNOWN_DIGITS, GrowthPath
from dfopt_models.response_time.assumptions import assumptions_of_comparison
from dfopt_models.response_time.bounds import bounds, pareto_front, trade
from dfopt_models.response_time.crossover import Crossover, crossovers
from dfopt_models.response_time.machine_use import machine_uses
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import machines as checked_machines
from dfopt_models.response_time.numeric import relative_along, relative_response_time
from dfopt_models.response_time.ranges import possible_crossovers

FULL_DIGITS = 4
"""Significant digits of a product that follows from exact parameters."""

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
        With how many reallocations the policy would be as slow as the baseline, its waste
        unchanged; None if it is slower without any, or if they cost nothing.
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
    """Return today's machine, and those of speeds and caches in pairs; 1 if one is missing.

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
    places = tuple(dict.fromkeys((row.speed, row.cache) for row in rows))
    uses = machine_uses(model, places)
    document: dict[str, Any] = {
        "format": Format.RESPONSE_TIME,
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
    if uses:
        document["x-machine-use"] = [
            {
                "policy": use.policy,
                "speed": use.speed,
                "cache": use.cache,
                "useful": use.useful,
                "allocated": use.allocated,
            }
            for use in uses
        ]
    return document


def _row(
    model: ResponseModel, job: str, policy: str, machine: tuple[float, float]
) -> ResponseTimeRow:
    comparison = model.comparison(job, policy)
    possible = bounds(comparison.case, *machine)
    affordable = trade(comparison, *machine)
    most = float(affordable.most_reallocations(comparison.case.waste))
    return ResponseTimeRow(
        job=job,
        policy=policy,
        speed=machine[0],
        cache=machine[1],
        response_time=float(possible.response_time),
        relative=float(relative_response_time(comparison, *machine)),
        perfect_affinity=float(possible.perfect_affinity),
        zero_yield=float(possible.zero_yield),
        ideal=float(possible.ideal),
        exchange_rate=float(affordable.exchange_rate),
        most_reallocations=most if math.isfinite(most) and most >= 0 else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossoverRow:
    """The crossovers of a policy for one job, and those that the ranges allow.

    Parameters
    ----------
    job, policy
        Their names.
    today
        Response time under the policy over that under the baseline, where the path begins.
    crossovers
        By their product; empty if there is none.
    possible
        Where a crossover is possible with parameters within their ranges: intervals of the
        product, the last of which may be infinite. None without ranges.
    assumptions
        What it rests on that is assumed, a text each.
    """

    job: str
    policy: str
    today: float
    crossovers: tuple[Crossover, ...]
    possible: tuple[tuple[float, float], ...] | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def digits(self) -> int:
        """Significant digits of its products that mean anything."""
        return KNOWN_DIGITS if self.possible is not None else FULL_DIGITS


def crossover_table(
    model: ResponseModel, path: GrowthPath = GrowthPath.EQUAL
) -> tuple[CrossoverRow, ...]:
    """Return the crossovers of every policy of every job with the baseline.

    Raises
    ------
    ModelError
        When a job has no policy besides the baseline.
    """
    return tuple(
        CrossoverRow(
            job=comparison.job,
            policy=comparison.policy,
            today=float(relative_along(comparison, 1.0, path)),
            crossovers=crossovers(comparison, path),
            possible=possible_crossovers(comparison, path) if comparison.has_ranges else None,
            assumptions=assumptions_of_comparison(model, comparison.job, comparison.policy),
        )
        for comparison in model.comparisons()
    )


def crossover_document(
    model: ResponseModel, path: GrowthPath, rows: Sequence[CrossoverRow]
) -> dict[str, Any]:
    """Return the crossovers as a document of the format ``dfopt-crossover/1``."""
    document: dict[str, Any] = {
        "format": Format.CROSSOVER,
        "model": model.name,
        "baseline": model.baseline,
        "path": str(path),
        "crossovers": [
            {"job": row.job, "policy": row.policy, "product": product}
            for row in rows
            for product in _products(row)
        ],
    }
    ranges = [
        {"job": row.job, "policy": row.policy, "products": _finite(row.possible)}
        for row in rows
        if row.possible is not None
    ]
    return document | ({"x-ranges": ranges} if ranges else {})


def _products(row: CrossoverRow) -> list[float | None]:
    return [crossing.product for crossing in row.crossovers] or [None]


def _finite(intervals: Iterable[tuple[float, float]]) -> list[list[float | None]]:
    return [[end if math.isfinite(end) else None for end in interval] for interval in intervals]
