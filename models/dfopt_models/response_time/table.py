"""Response times and crossovers of a whole model: the rows of the commands and their documents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from dfopt.files.formats import Format
from dfopt.structs import replace
from dfopt.table import Table, TableColumn, Uncertain, Value, columns, facts
from dfopt_models.growth import KNOWN_DIGITS, GrowthPath, growth_text
from dfopt_models.response_time.assumptions import (
    assumed_names,
    assumptions_of_case,
    assumptions_of_comparison,
    assumptions_of_use,
)
from dfopt_models.response_time.bounds import bounds, pareto_front, trade
from dfopt_models.response_time.crossover import Crossover, crossovers
from dfopt_models.response_time.machine_use import machine_uses
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import machines as checked_machines
from dfopt_models.response_time.numeric import relative_along, relative_response_time
from dfopt_models.response_time.ranges import possible_crossovers

FULL_DIGITS = 4
"""Significant digits of a product that follows from exact parameters."""

MILLISECONDS = 1000
ROUNDING = 1e-12

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


def response_time_tables(model: ResponseModel, rows: Sequence[ResponseTimeRow]) -> list[Table]:
    """Return response times as tables, one for every machine, and what policies trade."""
    assumed = [
        text for row in rows for text in assumptions_of_comparison(model, row.job, row.policy)
    ]
    policies = dict.fromkeys(row.policy for row in rows)
    if model.processors is not None:
        assumed += [text for policy in policies for text in assumptions_of_use(model, policy)]
    machines = dict.fromkeys((row.speed, row.cache) for row in rows)
    fronts = {
        f"least of both, {job.name}": ", ".join(pareto_front(model, job.name)) for job in model.jobs
    }
    explained = "no other policy has less work and waste together, and fewer reallocations"
    own = any(
        policy.baseline or policy.own_work for job in model.jobs for policy in job.policies.values()
    )
    return [
        _parameters(model),
        *(_on_machine(model, machine, rows) for machine in machines),
        *_useful_share(model, tuple(machines)),
        replace(facts(fronts), notes=[f"least of both: {explained}"]),
        Table(
            "",
            notes=[
                *[
                    "÷ base: response time over that of the baseline, which here has the values "
                    "that the file gives it for the policy (x-baseline)"
                ]
                * own,
                "saved by: how much of the response time perfect affinity would save, or no waste, "
                "or (ideal) no waste and no reallocations",
                "switch: waste of the policy that costs as much as one reallocation",
                "break-even: reallocations at which the policy would be as slow as the baseline, "
                "waste as it is",
                *_foot(assumed),
            ],
        ),
    ]


def _parameters(model: ResponseModel, **more: str) -> Table:
    return facts({"baseline": model.baseline} | more, model.name)


def _foot(assumptions: Iterable[str]) -> list[str]:
    named = "; ".join(dict.fromkeys(assumptions))
    return [f"~: rests on what the file assumes: {named}"] if named else []


def _machine_text(speed: float, cache: float) -> str:
    today = " (today)" if (speed, cache) == TODAY else ""
    return f"speed × {growth_text(speed)}, cache × {growth_text(cache)}{today}"


def _on_machine(
    model: ResponseModel, machine: tuple[float, float], rows: Sequence[ResponseTimeRow]
) -> Table:
    headings = (
        *columns("job", "policy"),
        TableColumn("time", "s", lambda time: ",.2f" if time >= 1 else ".3g"),
        *columns("÷ base :.3f", "saved by affinity :.2%", "by no waste :.2%", "by ideal :.2%"),
        *columns("switch [ms] :.3g", "break-even :,.0f"),
    )
    values: list[tuple[Value, ...]] = []
    for row in rows:
        if (row.speed, row.cache) != machine:
            continue
        own = bool(assumptions_of_case(model, row.job, row.policy))
        beside = bool(assumptions_of_comparison(model, row.job, row.policy))
        compared: tuple[Value, Value] = (None, None)
        if row.policy != model.baseline:
            most = "none" if row.most_reallocations is None else row.most_reallocations
            compared = (Uncertain(row.relative, None, beside), Uncertain(most, None, beside))
        bounds = (row.perfect_affinity, row.zero_yield, row.ideal)
        saved = (Uncertain(row.headroom(bound), None, own) for bound in bounds)
        time = Uncertain(row.response_time, None, own)
        costs = row.exchange_rate * MILLISECONDS
        values.append((row.job, row.policy, time, compared[0], *saved, costs, compared[1]))
    return Table(_machine_text(*machine), headings, values)


def _useful_share(model: ResponseModel, machines: tuple[tuple[float, float], ...]) -> list[Table]:
    uses = machine_uses(model, machines)
    if not uses:
        return []
    mark = "~" if assumed_names(model.sources, {"processors"}) else ""
    rows: dict[str, list[Value]] = {}
    for use in uses:
        assumed = bool(assumptions_of_use(model, use.policy))
        rows.setdefault(use.policy, [use.policy]).append(Uncertain(use.useful, None, assumed))
    return [
        Table(
            f"useful share of {mark}{model.processors:g} processors",
            columns("policy", *(f"{_machine_text(*machine)} :.1%" for machine in machines)),
            list(rows.values()),
            [
                "useful: share of the processors that does work, in a closed and constant mix (an "
                "assumption); no policy that does this work shortens all response times to less "
                "than this share of them"
            ],
        )
    ]


def crossover_tables(
    model: ResponseModel, path: GrowthPath, rows: Sequence[CrossoverRow]
) -> list[Table]:
    """Return the crossovers as tables."""
    begin = "at 1" if path == "limit" else "today"  # without the affinity term it is not today
    headings = columns(
        *("job", "policy", f"÷ base {begin} :.3f", "speed × cache :,.10g"),
        *("there the policy", "possible crossovers"),
    )
    values: list[tuple[Value, ...]] = []
    for row in rows:
        crossings: list[tuple[Value, str]] = [
            (
                Uncertain(float(f"{each.product:.{row.digits}g}"), None, bool(row.assumptions)),
                str(each.direction),
            )
            for each in row.crossovers
        ]
        values += [
            (
                *(row.job, row.policy, Uncertain(row.today, None, bool(row.assumptions))),
                *(*crossing, _intervals(row)),
            )
            for crossing in crossings or [("none", _without(row))]
        ]
    assumed = (text for row in rows for text in row.assumptions)
    return [
        _parameters(model, path=f"{path}, {path.meaning}"),
        Table("", headings, values, _foot(assumed)),
    ]


def _without(row: CrossoverRow) -> str:
    """Say what the lack of a crossover means."""
    if math.isclose(row.today, 1, rel_tol=ROUNDING):
        return "is as fast as the baseline"
    return f"is {'faster' if row.today < 1 else 'slower'} on every machine"


def _intervals(row: CrossoverRow) -> str | None:
    """Return where a crossover can be."""
    if row.possible is None:
        return None
    return ", ".join(_interval(*products) for products in row.possible) or "none"


def _interval(least: float, most: float) -> str:
    """Return an interval of products; there is none below 1."""
    low, high = (growth_text(end, KNOWN_DIGITS) for end in (least, most))
    if math.isinf(most):
        return "any" if least <= 1 else f"{low} or more"
    if least <= 1 < most:
        return f"up to {high}"
    return low if low == high else f"{low} to {high}"
