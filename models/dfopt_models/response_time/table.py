"""Response times and crossovers of a whole model: results, and their tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from msgspec import field

from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import DocumentPart, replace
from dfopt.table import Table, TableColumn, Uncertain, Value, columns, facts
from dfopt_models.errors import ModelError, OptionError
from dfopt_models.growth import KNOWN_DIGITS, GrowthPath, growth_text
from dfopt_models.model import AnalyticModel
from dfopt_models.response_time.bounds import (
    MachineUse,
    bounds,
    machine_uses,
    pareto_front,
    trade,
)
from dfopt_models.response_time.crossover import Crossover, crossovers
from dfopt_models.response_time.equations import CROSSOVER_FORMULAS, RESPONSE_TIME_FORMULAS
from dfopt_models.response_time.model import (
    ResponseModel,
    assumptions_of_case,
    assumptions_of_comparison,
    assumptions_of_use,
)
from dfopt_models.response_time.numeric import machines as checked_machines
from dfopt_models.response_time.numeric import relative_along, relative_response_time
from dfopt_models.response_time.ranges import possible_crossovers

FULL_DIGITS = 4
"""Significant digits of a product that follows from exact parameters."""

MILLISECONDS = 1000
ROUNDING = 1e-12

TODAY = (1.0, 1.0)
"""Speed and cache of the machine that all others are relative to."""


class ResponseTimeRow(DocumentPart):
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
    response_time: float = field(name="response_time_s")
    relative: float
    perfect_affinity: float = field(name="perfect_affinity_s")
    zero_yield: float = field(name="zero_yield_s")
    ideal: float = field(name="ideal_s")
    exchange_rate: float = field(name="exchange_rate_s")
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


class ParetoFront(DocumentPart):
    """The policies of a job that no other one beats in both waste and reallocations.

    Parameters
    ----------
    job
        The job.
    policies
        These policies.
    """

    job: str
    policies: tuple[str, ...]


class ResponseTimeResult(DocumentPart):
    """What ``dfopt model response-time --json`` prints.

    Parameters
    ----------
    model
        Its name.
    baseline
        The policy that all others are compared with.
    response_times
        By machine, job and policy.
    pareto_fronts
        By job.
    uses
        How much of each machine does work, if its processors are known.
    """

    model: str
    baseline: str
    response_times: tuple[ResponseTimeRow, ...]
    pareto_fronts: tuple[ParetoFront, ...]
    uses: tuple[MachineUse, ...] = field(name="x-machine-use", default=())

    def tables(self, model: ResponseModel) -> list[Table]:
        """Return response times as tables, one for every machine, and what policies trade."""
        rows = self.response_times
        assumed = [
            text for row in rows for text in assumptions_of_comparison(model, row.job, row.policy)
        ]
        policies = dict.fromkeys(row.policy for row in rows)
        if model.processors is not None:
            assumed += [text for policy in policies for text in assumptions_of_use(model, policy)]
        machines = dict.fromkeys((row.speed, row.cache) for row in rows)
        fronts = {
            f"least of both, {front.job}": ", ".join(front.policies) for front in self.pareto_fronts
        }
        explained = "no other policy has less work and waste together, and fewer reallocations"
        own = any(policy.baseline for job in model.jobs for policy in job.policies.values())
        return [
            _parameters(model),
            *(_on_machine(model, machine, rows) for machine in machines),
            *self._useful_share(model, tuple(machines)),
            replace(facts(fronts), notes=[f"least of both: {explained}"]),
            Table(
                "",
                notes=[
                    *[
                        "÷ base: response time over that of the baseline, which here has the "
                        "values that the file gives it for the policy (x-baseline)"
                    ]
                    * own,
                    "saved by: how much of the response time perfect affinity would save, or no "
                    "waste, or (ideal) no waste and no reallocations",
                    "switch: waste of the policy that costs as much as one reallocation",
                    "break-even: reallocations at which the policy would be as slow as the "
                    "baseline, waste as it is",
                    *_foot(assumed),
                ],
            ),
        ]

    def _useful_share(
        self, model: ResponseModel, machines: tuple[tuple[float, float], ...]
    ) -> list[Table]:
        if not self.uses:
            return []
        mark = "~" if "processors" in model.assumed else ""
        rows: dict[str, list[Value]] = {}
        for use in self.uses:
            assumed = bool(assumptions_of_use(model, use.policy))
            rows.setdefault(use.policy, [use.policy]).append(Uncertain(use.useful, None, assumed))
        return [
            Table(
                f"useful share of {mark}{model.processors:g} processors",
                columns("policy", *(f"{_machine_text(*machine)} :.1%" for machine in machines)),
                list(rows.values()),
                [
                    "useful: share of the processors that does work, in a closed and constant mix "
                    "(an assumption); no policy that does this work shortens all response times "
                    "to less than this share of them"
                ],
            )
        ]


def response_time_result(
    model: ResponseModel,
    *,
    speed: Sequence[float] | None = None,
    cache: Sequence[float] | None = None,
) -> ResponseTimeResult:
    """Return response times of jobs, today and on other machines.

    Parameters
    ----------
    model
        The parameters.
    speed, cache
        Of other machines in pairs, relative to today's; 1 if one is missing.

    Raises
    ------
    OptionError
        When a speed or a cache is none.
    """
    try:
        machines = machines_of(speed or (), cache or ())
    except ModelError as error:
        raise OptionError(error.problem) from None
    return ResponseTimeResult(
        model=model.name,
        baseline=model.baseline,
        response_times=response_time_table(model, machines),
        pareto_fronts=tuple(
            ParetoFront(job=job.name, policies=pareto_front(model, job.name)) for job in model.jobs
        ),
        uses=machine_uses(model, machines),
    )


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


class CrossingProduct(DocumentPart):
    """A machine on which a policy is as fast as the baseline.

    Parameters
    ----------
    job, policy
        Their names.
    product
        Speed times cache; null if there is no such machine.
    """

    job: str
    policy: str
    product: float | None


class PossibleProducts(DocumentPart):
    """Where a crossover is possible with parameters within their ranges.

    Parameters
    ----------
    job, policy
        Their names.
    products
        Intervals of the product; the last of which may have no end.
    """

    job: str
    policy: str
    products: tuple[tuple[float | None, float | None], ...]


class CrossoverResult(DocumentPart, dict=True):
    """What ``dfopt model crossover --json`` prints.

    Parameters
    ----------
    model
        Its name.
    baseline
        The policy that all others are compared with.
    path
        How speed and cache grow.
    crossovers
        By job and policy.
    ranges
        By job and policy, where parameters have ranges.
    """

    model: str
    baseline: str
    path: GrowthPath
    crossovers: tuple[CrossingProduct, ...]
    ranges: tuple[PossibleProducts, ...] = field(name="x-ranges", default=())

    def tables(self, model: ResponseModel) -> list[Table]:
        """Return the crossovers as tables."""
        path = self.path
        begin = "at 1" if path == "limit" else "today"  # without the affinity term it is not today
        headings = columns(
            *("job", "policy", f"÷ base {begin} :.3f", "speed × cache :,.10g"),
            *("there the policy", "possible crossovers"),
        )
        rows: tuple[CrossoverRow, ...] = self.__dict__["rows"]
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
                    *(*found, _intervals(row)),
                )
                for found in crossings or [("none", _without(row))]
            ]
        assumed = (text for row in rows for text in row.assumptions)
        return [
            _parameters(model, path=f"{path}, {path.meaning}"),
            Table("", headings, values, _foot(assumed)),
        ]


def crossover_result(
    model: ResponseModel, *, path: GrowthPath = GrowthPath.EQUAL
) -> CrossoverResult:
    """Return where policies become as fast as the baseline.

    Raises
    ------
    ModelError
        When a job has no policy besides the baseline.
    """
    rows = crossover_table(model, path)
    result = CrossoverResult(
        model=model.name,
        baseline=model.baseline,
        path=path,
        crossovers=tuple(
            CrossingProduct(job=row.job, policy=row.policy, product=product)
            for row in rows
            for product in [each.product for each in row.crossovers] or (None,)
        ),
        ranges=tuple(
            PossibleProducts(job=row.job, policy=row.policy, products=row.possible)
            for row in rows
            if row.possible is not None
        ),
    )
    result.__dict__["rows"] = rows  # more than the document has
    return result


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


PARAMETERS = DocumentType(Format.RESPONSE_MODEL, ResponseModel)

RESPONSE_TIME = AnalyticModel(
    name="response-time",
    parameters=PARAMETERS,
    results=DocumentType(Format.RESPONSE_TIME, ResponseTimeResult),
    says=response_time_result,
    formulas=RESPONSE_TIME_FORMULAS,
)

CROSSOVER = AnalyticModel(
    name="crossover",
    parameters=PARAMETERS,
    results=DocumentType(Format.CROSSOVER, CrossoverResult),
    says=crossover_result,
    formulas=CROSSOVER_FORMULAS,
)
