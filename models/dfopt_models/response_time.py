"""Response times under space sharing: the model of Vaswani and Zahorjan.

A job does work under a policy, wastes time of its processors, and pays for reallocations of
processors. All times are in seconds, work and waste in processor-seconds. On future machines
processors are faster and caches larger; :mod:`dfopt_models.crossover` says where policies are
equally fast.

A table of measurements has the average interval between two reallocations of a processor, not the
allocation. But every reallocation ends one interval. So interval times reallocations is the number
of processor-seconds that the job was given. Divided by the response time it is the average
allocation; minus the cost of the reallocations it is work and waste. So an error of a measurement
moves work and allocation together. Ranges of measurements therefore say more than ranges of what
follows from them.

A task that runs longer loads more of its data, so that a reallocation costs more after a longer
interval. A table has the penalties for some intervals (quanta, where the measurement chose them).
Between two of these a penalty is taken to be linear in the logarithm of the interval. The first and
the last stretch of the table go on for a factor of two; still shorter or longer intervals have the
penalties at that end, because nothing is known there.

On a given machine equal response times lie on straight lines in the plane of reallocations and
waste. Their slope is the exchange rate, see :func:`exchange_rate`. The line on which a policy is
as fast as the baseline begins at the :func:`waste_budget`.

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

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta, field
from msgspec.structs import fields
from numpy.typing import ArrayLike, NDArray

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import DfoptError, FileError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import Checked, DocumentPart, NonNegative, Positive, Record, Share, replace
from dfopt.table import Table, TableColumn, Uncertain, Value, columns, facts
from dfopt.type_reader import at, reader, shown_place
from dfopt_models.errors import ModelError, OptionError, check_known
from dfopt_models.formulas import Equations
from dfopt_models.growth import growth_text
from dfopt_models.model import AnalyticModel, Sourced

Numbers = NDArray[np.float64]

PAPER = "Vaswani and Zahorjan (1991)"

HALF = 0.5
"""The exponent of a square root."""

TODAY = (1.0, 1.0)
"""Speed and cache of the machine that all others are relative to."""

EXTREME = 1e100
"""The greatest speed and cache, and 1 over the least: no result overflows."""

OF_POLICY = {
    "work": "w{} [processor-seconds]: useful work{}",
    "waste": "W{} [processor-seconds]: time of processors that are held without work{}",
    "reallocations": "N{}: reallocations{}",
    "affinity": "alpha{}: fraction of them with affinity{}",
    "allocation": "a{}: average number of processors{}",
}

WHOSE = {"": "", "_d": " under the policy", "_e": " under the baseline"}

QUANTITIES = {
    "time": "RT [s]: response time",
    "exchange_rate": "h [s]: waste that costs as much as one reallocation",
    "waste_budget": r"W_max [processor-seconds] $W_{\max}$: "
    "waste that makes a policy without reallocations as slow as the baseline",
    "polynomial": "p $p(v)$: response time × s × a power of v, where policies are compared",
    "root": r"sqrt_x_star $\sqrt{x^{*}}$: root of the product s·c at the crossover",
    "useful_share": "E_j: share of the machine that does the work of a job j",
    "processors": "P: processors of the machine",
    "copies": "n: copies of the job that run at a time",
    **{
        f"{name}{mark}": written.format(mark, whose)
        for mark, whose in WHOSE.items()
        for name, written in OF_POLICY.items()
    },
    "reallocation_time": "t_re [s] $t_{re}$: path length of a reallocation",
    "penalty_affinity": "P_A [s] $P^{A}$: cache penalty of a reallocation with affinity",
    "penalty_no_affinity": "P_NA [s] $P^{NA}$: cache penalty of one without affinity",
    "speed": "s: speed of a processor, relative to today's",
    "cache": "c: size of a cache, relative to today's",
    "product": "x: speed times cache",
    "v": "v: root of 1/(s·c): the fourth where s = c, else the square root",
}


today = Equations(QUANTITIES, PAPER)


def cache_penalty(case: Any, cache: Any = 1) -> Any:
    """Return the cache penalty of a reallocation in seconds, before memory becomes faster.

    Equation (2) on today's machine. A cache c times as large keeps more data, so that P^A falls
    as 1/c; it also loses more data, so that P^NA grows as √c (Figure 7).
    """
    return (
        case.penalty_no_affinity * cache**HALF * (1 - case.affinity)
        + case.penalty_affinity * case.affinity / cache
    )


@today(
    "response time on today's machine",
    name="today",
    source=f"{PAPER}, equations (1) and (2)",
    left="time",
)
def response_time_today(case: Any) -> Any:
    """Return the response time of equations (1) and (2), of symbols."""
    from sympy import Integer

    return response_time(case, Integer(1), Integer(1))


@today(
    "response time on a machine of speed s and cache c",
    name="future",
    source=f"{PAPER}, Figure 7",
    left="time",
)
def response_time(case: Any, speed: Any = 1, cache: Any = 1) -> Any:
    """Return the response time of a job on machines of some speed and cache.

    The model of Figure 7, which at speed 1 and cache 1 is that of equations (1) and (2).

    Parameters
    ----------
    case
        A job under a policy: a :class:`Case`, or symbols.
    speed
        Speed of a processor, relative to today's machine: numbers in any shape, or a symbol.
    cache
        Size of a cache, relative to today's machine; any shape that goes with that of ``speed``.

    Returns
    -------
    float or numpy.ndarray
        Seconds, in the shape of both together.

    Raises
    ------
    ModelError
        When a speed or a cache is not more than 0.
    """
    speed, cache = machines(speed, cache)
    reallocation = case.reallocation_time / speed + cache_penalty(case, cache) / speed**HALF
    return (case.reallocations * reallocation + (case.waste + case.work) / speed) / case.allocation


@today(
    "what a reallocation is worth in waste",
    source="derived: minus the slope of a line of equal response time",
)
def exchange_rate(case: Any, speed: Any = 1, cache: Any = 1) -> Any:
    """Return the waste that costs as much as one reallocation, in today's processor-seconds.

    It is minus the slope of a line of equal response time in the plane of reallocations and waste.
    Parameters and errors are those of :func:`response_time`.
    """
    speed, cache = machines(speed, cache)
    return speed**HALF * cache_penalty(case, cache) + case.reallocation_time


@today(
    "the waste that a policy can afford without reallocations",
    source="derived: equal response times of the policy and the baseline",
    case="policy",
)
def waste_budget(case: Any, baseline: Any, speed: Any = 1, cache: Any = 1) -> Any:
    """Return the waste that makes a policy without reallocations as slow as the baseline.

    It is in today's processor-seconds; each reallocation takes its exchange rate from it. It is
    negative where the policy cannot be as fast as the baseline. Parameters and errors are those of
    :func:`response_time`.
    """
    speed, cache = machines(speed, cache)
    cost = baseline.reallocations * exchange_rate(baseline, speed, cache)
    given = cost + baseline.waste + baseline.work
    return (case.allocation * given - baseline.allocation * case.work) / baseline.allocation


@today(
    "useful share of the machine, to be added up over jobs: no policy with this work shortens all "
    "response times to less than this share of them",
    name="useful-share",
    source="derived: work is conserved, if the mix is closed and constant",
    left="useful_share",
)
def useful_share_of_job(
    case: Any, time: Any, *, speed: Any = 1, processors: Any = 1, copies: Any = 1
) -> Any:
    """Return the share of a machine that does the work of a job's copies, given a response time."""
    return copies * case.work / (processors * speed * time)


def machines(speed: Any, cache: Any) -> tuple[Any, Any]:
    """Return speeds and caches as arrays of one shape; symbols as they are.

    Raises
    ------
    ModelError
        When one of them is not more than 0 or beyond :data:`EXTREME`, or the shapes do not go
        together.
    """
    if hasattr(speed, "free_symbols"):
        return speed, cache
    both = positive(speed, "speed", EXTREME), positive(cache, "cache", EXTREME)
    try:
        speeds, caches = np.broadcast_arrays(*both)
    except ValueError:
        shapes = " and ".join(str(values.shape) for values in both)
        raise ModelError(f"speed and cache have shapes that do not go together: {shapes}") from None
    return speeds, caches


def positive(values: ArrayLike, what: str, extreme: float | None = None) -> Numbers:
    """Return numbers as an array.

    Parameters
    ----------
    values
        The numbers; any shape.
    what
        What an error calls them.
    extreme
        The greatest number, and 1 over the least one; no limits if None.

    Raises
    ------
    ModelError
        When one of them is not finite and more than 0, or too extreme.
    """
    numbers = np.asarray(values, dtype=np.float64)
    wrong = numbers[~(np.isfinite(numbers) & (numbers > 0))]
    if wrong.size:
        raise ModelError(f"{what} must be a finite number above 0, not {wrong.flat[0]:g}")
    if extreme is not None:
        beyond = numbers[(numbers > extreme) | (numbers < 1 / extreme)]
        if beyond.size:
            raise ModelError(
                f"{what} must be from {1 / extreme:g} to {extreme:g}, not {beyond.flat[0]:g}"
            )
    return numbers


def relative_response_time(
    comparison: PolicyComparison, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0
) -> Any:
    """Return the response time under a policy, over that under the baseline.

    Parameters and errors are those of :func:`response_time`; the result has no unit. Below 1 the
    policy is faster.
    """
    own = response_time(comparison.case, speed, cache)
    return own / response_time(comparison.baseline, speed, cache)


Range = tuple[float, float]
"""The least and the greatest value that a parameter may have."""

AboveZero = Annotated[float, Meta(ge=1 / LARGEST_TOTAL)]
"""A smaller value counts as 0, because its reciprocal may be infinite."""

JOB_NUMBERS = ("penalty_affinity", "penalty_no_affinity")

POLICY_NUMBERS = ("work", "waste", "reallocations", "affinity", "allocation")

MEASURED_NUMBERS = ("affinity", "reallocations", "interval", "response_time")

SHARED_NUMBERS = ("reallocation_time", *JOB_NUMBERS)
"""Parameters that a job has under every policy."""

REPLICATED = (*POLICY_NUMBERS, "penalty_affinity")
"""Parameters that each replication of an experiment has."""

LEAST_REPLICATIONS = 2
"""At least this many replications, or nothing is known of their spread."""

OWN = "own"
"""Stands for the work of the policy that the baseline is compared with."""

RANGES = "x-range"

MOST_STEPS = 100
"""At most this many steps until an interval and its penalties fit each other."""

FURTHER = 2.0
"""The table is continued from its ends by this factor."""

CLOSE = 1e-14
"""They fit if the interval changes by at most this share."""


class Case(Checked):
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

    work: AboveZero
    waste: NonNegative
    reallocations: NonNegative
    affinity: Share
    allocation: AboveZero
    reallocation_time: NonNegative
    penalty_affinity: NonNegative
    penalty_no_affinity: NonNegative


class Measured(Checked):
    """Measurements of a job under a policy.

    Parameters
    ----------
    affinity
        The fraction of reallocations with affinity, 0 to 1.
    reallocations
        Their number.
    interval
        Average time between two reallocations of a processor, seconds.
    response_time
        Seconds.
    """

    affinity: Share
    reallocations: AboveZero
    interval: AboveZero
    response_time: AboveZero

    @property
    def processor_seconds(self) -> float:
        """Processor-seconds that the job was given."""
        return self.interval * self.reallocations

    @property
    def allocation(self) -> float:
        """The average number of processors."""
        return self.processor_seconds / self.response_time

    def case(
        self, *, reallocation_time: float, penalty_affinity: float, penalty_no_affinity: float
    ) -> Case:
        """Return the case of the model that has this response time today.

        Measurements do not tell work from waste, so that work is the sum of both.

        Parameters
        ----------
        reallocation_time, penalty_affinity, penalty_no_affinity
            As in :class:`Case`, seconds.

        Raises
        ------
        ModelError
            When reallocations take all of the time.
        """
        penalty = self.affinity * penalty_affinity + (1 - self.affinity) * penalty_no_affinity
        cost = reallocation_time + penalty
        work = self.processor_seconds - self.reallocations * cost
        if work <= 0:
            raise ModelError(
                f"is {self.interval:g} s, and a reallocation alone takes {cost:g} s; "
                "no time is left for work",
                place="interval",
            )
        return Case(
            work=work,
            waste=0.0,
            reallocations=self.reallocations,
            affinity=self.affinity,
            allocation=self.allocation,
            reallocation_time=reallocation_time,
            penalty_affinity=penalty_affinity,
            penalty_no_affinity=penalty_no_affinity,
        )


class PenaltiesOfQuantum(Checked):
    """Cache penalties of a reallocation after a task ran for some time.

    Parameters
    ----------
    quantum
        For how long it ran, seconds.
    affinity, no_affinity
        P^A and P^NA, seconds.
    """

    quantum: AboveZero
    affinity: NonNegative
    no_affinity: NonNegative


PenaltyTable = tuple[PenaltiesOfQuantum, ...]
"""Entries in the order of their quanta."""


def check_penalty_table(table: Sequence[PenaltiesOfQuantum], place: str) -> None:
    """Refuse a table that is empty, or whose quanta do not rise."""
    if not table:
        raise ModelError("is empty; give at least one quantum", place=place)
    for position, (before, entry) in enumerate(pairwise(table), start=1):
        if entry.quantum <= before.quantum:
            raise ModelError(
                f"is {entry.quantum:g}, not more than the one before; order the tables by quantum",
                place=f"{place}[{position}].quantum",
            )


def penalties_at(table: PenaltyTable, interval: float) -> tuple[float, float]:
    """Return P^A and P^NA in seconds after an interval, by interpolation in its logarithm.

    Parameters
    ----------
    table
        At least one entry.
    interval
        Seconds, more than 0.
    """
    if len(table) == 1:
        return table[0].affinity, table[0].no_affinity
    least, greatest = table[0].quantum / FURTHER, table[-1].quantum * FURTHER
    interval = min(max(interval, least), greatest)
    below, above = next(
        (pair for pair in pairwise(table) if interval <= pair[1].quantum), table[-2:]
    )
    share = math.log(interval / below.quantum) / math.log(above.quantum / below.quantum)
    return (
        max(0.0, below.affinity + share * (above.affinity - below.affinity)),
        max(0.0, below.no_affinity + share * (above.no_affinity - below.no_affinity)),
    )


def penalties_of_policy(
    table: PenaltyTable, policy: Mapping[str, float], reallocation_time: float
) -> tuple[float, float]:
    """Return P^A and P^NA of a policy whose interval was not measured.

    Every reallocation ends one interval, and intervals hold the work, the waste and the cost of a
    reallocation. That cost depends on the interval in turn; so both are found together.

    Parameters
    ----------
    table
        At least one entry.
    policy
        The numbers of :data:`POLICY_NUMBERS`. Without reallocations the penalties are those of the
        last entry.
    reallocation_time
        As in :class:`.Case`.
    """
    reallocations, affinity = policy["reallocations"], policy["affinity"]
    if reallocations == 0:
        return table[-1].affinity, table[-1].no_affinity
    computing = (policy["work"] + policy["waste"]) / reallocations + reallocation_time
    interval = computing
    penalties = penalties_at(table, interval)
    for _ in range(MOST_STEPS):
        longer = computing + affinity * penalties[0] + (1 - affinity) * penalties[1]
        penalties = penalties_at(table, longer)
        if abs(longer - interval) <= CLOSE * interval:
            break
        interval = longer
    return penalties


def case_of(
    policy: Measured | Mapping[str, float], penalties: PenaltyTable, reallocation_time: float
) -> Case:
    """Return a job under a policy, with the penalties at the policy's interval.

    Parameters
    ----------
    policy
        What was measured, or the numbers of :data:`POLICY_NUMBERS`.
    penalties
        At least one entry; a single one holds for every interval.
    reallocation_time
        Path length of a reallocation, seconds.
    """
    if isinstance(policy, Measured):
        near, far = penalties_at(penalties, policy.interval)
        return policy.case(
            reallocation_time=reallocation_time, penalty_affinity=near, penalty_no_affinity=far
        )
    near, far = penalties_of_policy(penalties, policy, reallocation_time)
    return Case(
        **policy,
        reallocation_time=reallocation_time,
        penalty_affinity=near,
        penalty_no_affinity=far,
    )


class Ranged(Sourced):
    """A table of parameters that may be known within ranges only.

    Parameters
    ----------
    ranges
        For each number that is not known exactly the least and the greatest value.
    """

    ranges: dict[str, Range] = field(name=RANGES, default_factory=dict)

    def check_ranges(self, holder: object, names: Collection[str]) -> None:
        """Refuse ranges of other numbers than these, or that do not hold their values."""
        for name, limits in self.ranges.items():
            check_known(name, names, "parameter", RANGES)
            place = f"{RANGES}.{name}"
            for end, limit in enumerate(limits):
                at(f"{place}[{end}]", NUMBERS[name], limit)
            (least, greatest), value = limits, getattr(holder, name)
            if least > greatest:
                raise ModelError(
                    f"must be [least, greatest], but {least:g} is more than {greatest:g}",
                    place=place,
                )
            if not least <= value <= greatest:
                raise ModelError(
                    f"must hold the value of {name}, {value:g}; it is from {least:g} to "
                    f"{greatest:g}",
                    place=place,
                )


def check_either(holder: object, names: Collection[str], instead: object, problem: str) -> None:
    """Refuse numbers that are missing, or that are there beside what stands in their place."""
    for name in names:
        if (getattr(holder, name) is None) != (instead is not None):
            raise FileError(
                "is missing; it is required" if instead is None else problem, place=name
            )


class PolicyParameters(Ranged):
    """What a policy does to a job: numbers, or measurements that they follow from.

    Parameters
    ----------
    work, waste, reallocations, affinity, allocation
        As in :class:`Case`.
    measured
        Measurements in place of these numbers. They do not tell work from waste, so that work is
        both.
    baseline
        Values that replace the baseline's own when it is compared with this policy. Two
        measurements of one job rarely agree on its work, so that a policy can be compared with a
        baseline that does the very same work; ``"own"`` is the policy's, whatever it is.
    replications
        The same parameters, and perhaps ``penalty_affinity``, of each replication of an
        experiment; entries at one position, in all policies, belong together.
    """

    work: AboveZero | None = None
    waste: NonNegative | None = None
    reallocations: NonNegative | None = None
    affinity: Share | None = None
    allocation: AboveZero | None = None
    measured: Measured | None = None
    baseline: dict[str, float | Literal["own"]] = field(name="x-baseline", default_factory=dict)
    replications: dict[str, tuple[float, ...]] = field(name="x-replications", default_factory=dict)

    def __post_init__(self) -> None:
        """Check that numbers, or measurements, are there, and what stands beside them."""
        super().__post_init__()
        problem = "follows from what is measured; leave it out"
        check_either(self, POLICY_NUMBERS, self.measured, problem)
        names = POLICY_NUMBERS if self.measured is None else MEASURED_NUMBERS
        self.check_ranges(self.measured or self, names)
        for name, value in self.baseline.items():
            check_known(name, POLICY_NUMBERS, "parameter", "x-baseline")
            if value != OWN or name != "work":
                at(f"x-baseline.{name}", NUMBERS[name], value)
        self._check_replications()

    @property
    def numbers(self) -> Measured | dict[str, float]:
        """What was measured, or else the numbers."""
        return self.measured or {name: getattr(self, name) for name in POLICY_NUMBERS}

    @property
    def own_work(self) -> bool:
        """Whether the baseline does the policy's work when compared with it."""
        return self.baseline.get("work") == OWN

    def replicated(self, case: Case) -> list[Case]:
        """Return a case with the parameters of each replication."""
        return [
            replace(case, **dict(zip(self.replications, values, strict=True)))
            for values in zip(*self.replications.values(), strict=True)
        ]

    def _check_replications(self) -> None:
        if not self.replications:
            return
        for name, values in self.replications.items():
            check_known(name, REPLICATED, "parameter", "x-replications")
            for position, value in enumerate(values):
                at(f"x-replications.{name}[{position}]", NUMBERS[name], value)
        lengths = {name: len(self.replications.get(name, ())) for name in POLICY_NUMBERS}
        for name, length in lengths.items():
            if length < LEAST_REPLICATIONS:
                raise ModelError(
                    f"must be at least {LEAST_REPLICATIONS} numbers, one for each replication",
                    place=f"x-replications.{name}",
                )
        if len({len(values) for values in self.replications.values()}) > 1:
            raise ModelError("must have arrays of one length", place="x-replications")


class JobParameters(Ranged):
    """A job and what each policy does to it.

    Parameters
    ----------
    name
        Its name.
    copies
        Number of such jobs that run at a time.
    penalty_affinity, penalty_no_affinity
        Cache penalty of a reallocation with and without affinity, seconds.
    penalties
        Penalties by quantum, in the place of those two: each policy has those at its own interval
        between reallocations.
    policies
        The policies by name.
    """

    name: str
    copies: Positive = 1
    penalty_affinity: NonNegative | None = None
    penalty_no_affinity: NonNegative | None = None
    penalties: tuple[PenaltiesOfQuantum, ...] | None = None
    policies: dict[str, PolicyParameters] = field(name="policy")

    def __post_init__(self) -> None:
        """Check that penalties are there once."""
        super().__post_init__()
        check_label(self.name, "name")
        for name in self.policies:
            check_label(name, "policy")
        problem = "is given by quantum in [[job.penalties]] too; keep one"
        check_either(self, JOB_NUMBERS, self.penalties, problem)
        if self.penalties is None:
            self.check_ranges(self, JOB_NUMBERS)
        else:
            check_penalty_table(self.penalties, "penalties")
            if self.ranges:
                raise FileError("is for single penalties, not for those by quantum", place=RANGES)

    @property
    def penalty_table(self) -> PenaltyTable:
        """The penalties by quantum; a single entry where they are the same for every interval."""
        near, far = self.penalty_affinity, self.penalty_no_affinity
        if near is None or far is None:
            return self.penalties or ()
        return (PenaltiesOfQuantum(quantum=1.0, affinity=near, no_affinity=far),)


NUMBERS = {each.name: reader(each.type) for kind in (Measured, Case) for each in fields(kind)}
"""Readers of the parameters, by their names."""


def check_label(value: str, place: str) -> None:
    """Refuse an empty name."""
    if not value:
        raise ModelError("is empty; give it a name", place=place)


class PolicyComparison(Record):
    """A policy and the baseline it is measured against, for one job.

    Parameters
    ----------
    job, policy
        Their names.
    case, baseline
        The job under this policy and under the baseline.
    ranges, baseline_ranges
        What is not known exactly: parameters by the names that :class:`.Case` has for them, or
        measurements by those of :class:`.Measured`. Parameters that both cases share are in
        ``ranges`` alone.
    measured, baseline_measured
        The measurements that the cases follow from, where they do.
    penalties
        The penalties by quantum; None where they are the same for every policy.
    own_work
        Whether the baseline does whatever work the policy does.
    replications
        Pairs of the policy and the baseline, one for each replication of an experiment.
    """

    job: str
    policy: str
    case: Case
    baseline: Case
    ranges: Mapping[str, Range] = {}
    baseline_ranges: Mapping[str, Range] = {}
    measured: Measured | None = None
    baseline_measured: Measured | None = None
    penalties: PenaltyTable | None = None
    own_work: bool = False
    replications: tuple[tuple[Case, Case], ...] = ()

    @property
    def has_ranges(self) -> bool:
        """Whether anything is not known exactly."""
        return bool(self.ranges or self.baseline_ranges or self.replications)

    def with_values(
        self,
        common: Mapping[str, float],
        own: Mapping[str, float],
        theirs: Mapping[str, float],
    ) -> PolicyComparison:
        """Return the comparison with other values of what is not known exactly.

        Parameters
        ----------
        common
            Parameters that both cases share.
        own, theirs
            Parameters or measurements of the policy, and of the baseline.
        """
        case = self._moved(self.case, self.measured, common, own)
        baseline = self._moved(self.baseline, self.baseline_measured, common, theirs)
        if self.own_work:
            baseline = replace(baseline, work=case.work)
        return replace(self, case=case, baseline=baseline)

    def _moved(
        self,
        case: Case,
        measured: Measured | None,
        common: Mapping[str, float],
        values: Mapping[str, float],
    ) -> Case:
        moved = {name: getattr(case, name) for name in SHARED_NUMBERS} | dict(common)
        time, near, far = (moved[name] for name in SHARED_NUMBERS)
        always = PenaltiesOfQuantum(quantum=1.0, affinity=near, no_affinity=far)
        own = {name: getattr(case, name) for name in POLICY_NUMBERS} | dict(values)
        policy = own if measured is None else replace(measured, **values)
        return case_of(policy, self.penalties or (always,), time)


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
    reallocation_time: NonNegative
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
        jobs = {job.name: job for job in self.jobs}
        check_known(name, jobs, "job")
        return jobs[name]

    def case(self, job: str, policy: str) -> Case:
        """Return a job under a policy.

        Raises
        ------
        ModelError
            When there is no such job or policy; the message names the existing ones.
        """
        chosen = self.job(job)
        check_known(policy, chosen.policies, "policy")
        return self._case(chosen, chosen.policies[policy])

    def comparison(self, job: str, policy: str) -> PolicyComparison:
        """Return a job under a policy, and under the baseline.

        Raises
        ------
        ModelError
            When there is no such job or policy; the message names the existing ones.
        """
        chosen = self.job(job)
        case = self.case(job, policy)
        parameters, baseline = (chosen.policies[name] for name in (policy, self.baseline))
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
            replications=_pairs(
                parameters.replicated(case), baseline.replicated(self._case(chosen, baseline))
            ),
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
        return case_of(policy.numbers, job.penalty_table, self.reallocation_time)


def _pairs(own: Sequence[Case], theirs: Sequence[Case]) -> tuple[tuple[Case, Case], ...]:
    """Return the pairs of replications; none where only one of both has them."""
    if own and theirs and len(own) != len(theirs):
        raise ModelError(
            f"has {len(own)} replications, and the baseline {len(theirs)}; they must be pairs",
            place="x-replications",
        )
    return tuple(zip(own, theirs, strict=False))


def assumptions_of(
    model: ResponseModel, job: str, policy: str, *, without: Collection[str] = ()
) -> dict[str, None]:
    """Return the assumptions that the response time of a job under a policy rests on.

    Each is a text such as ``"waste of MATRIX under equipartition"``; parameters of the policy that
    do not count are left out.
    """
    chosen = model.job(job)
    own = [name for name in chosen.policies[policy].assumed if name not in without]
    return dict.fromkeys((
        *(name for name in model.assumed if name == "reallocation_time"),
        *(f"{name} of {job}" for name in chosen.assumed),
        *(f"{name} of {job} under {policy}" for name in own),
    ))  # fmt: skip


def assumptions_of_comparison(model: ResponseModel, job: str, policy: str) -> tuple[str, ...]:
    """Return the assumptions that a policy's response time beside the baseline's rests on."""
    replaced = model.job(job).policies[policy].baseline
    theirs = assumptions_of(model, job, model.baseline, without=replaced)
    return (*(assumptions_of(model, job, policy) | theirs),)


BOUNDS: Mapping[str, Mapping[str, float]] = {
    "response_time": {},
    "perfect_affinity": {"affinity": 1.0},
    "zero_yield": {"waste": 0.0},
    "ideal": {"waste": 0.0, "reallocations": 0.0},
}
"""The response times of :func:`bounds`, and what is then better than under the policy."""


def bounds(case: Case, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0) -> dict[str, Any]:
    """Return how fast a job could be under a policy with perfect affinity, without waste, or both.

    All times hold for the policy's own average allocation.

    Parameters
    ----------
    case
        A job under a policy.
    speed, cache
        Relative to today's machine; any shapes that go together.

    Returns
    -------
    dict
        Seconds: ``response_time`` under the policy; ``perfect_affinity``, if every reallocation
        resumed a task where it has affinity (α = 1); ``zero_yield``, if no processor were held
        without work, with the policy's reallocations; ``ideal``, without waste and without
        reallocations, the work alone. Perfect affinity is a bound wherever affinity saves
        anything, P^A / c ≤ P^NA · √c. If P^A ≤ P^NA, that is on today's machine and on all larger
        ones.

    Raises
    ------
    ModelError
        When a speed or a cache is not more than 0.
    """
    return {
        name: response_time(replace(case, **better), speed, cache)
        for name, better in BOUNDS.items()
    }


def most_reallocations(
    comparison: PolicyComparison,
    speed: ArrayLike = 1.0,
    cache: ArrayLike = 1.0,
    *,
    waste: ArrayLike = 0.0,
) -> Any:
    """Return the reallocations at which a policy with this waste is as slow as the baseline.

    Negative if it is slower without any; infinite or undefined if they cost nothing.

    Parameters
    ----------
    comparison
        A policy and the baseline; the policy's own waste and reallocations do not matter.
    speed, cache
        Relative to today's machine; any shapes that go together.
    waste
        Waste of the policy, processor-seconds.

    Raises
    ------
    ModelError
        When a speed or a cache is not more than 0.
    """
    budget = waste_budget(comparison.case, comparison.baseline, speed, cache)
    with np.errstate(all="ignore"):
        return (budget - np.asarray(waste)) / exchange_rate(comparison.case, speed, cache)


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
) -> Any:
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
    return sum(
        useful_share_of_job(
            case := model.case(job.name, policy),
            response_time(case, speeds, caches),
            speed=speeds,
            processors=model.processors,
            copies=job.copies,
        )
        for job in model.jobs
    )


MILLISECONDS = 1000


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
        Bounds of the response time, seconds.
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
        if model.processors is not None:
            assumed += [name for name in model.assumed if name == "processors"]
        machines = dict.fromkeys((row.speed, row.cache) for row in rows)
        fronts = {
            f"least of both, {front.job}": ", ".join(front.policies) for front in self.pareto_fronts
        }
        explained = "no other policy has less work and waste together, and fewer reallocations"
        own = any(policy.baseline for job in model.jobs for policy in job.policies.values())
        return [
            facts({"baseline": model.baseline}, model.name),
            *(_on_machine(model, machine, rows) for machine in machines),
            *self._useful_share(model, tuple(machines)),
            facts(fronts, notes=[f"least of both: {explained}"]),
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
                    *assumed_note(assumed),
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
            cases = (assumptions_of(model, job.name, use.policy) for job in model.jobs)
            assumed = bool(mark) or any(cases)
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
    pairs = [TODAY, *zip_longest(speed or (), cache or (), fillvalue=1.0)]
    try:
        machines(*zip(*pairs, strict=True))
    except ModelError as error:
        raise OptionError(error.problem) from None
    places = list(dict.fromkeys(tuple(map(float, pair)) for pair in pairs))
    common = [
        policy
        for policy in model.jobs[0].policies
        if all(policy in job.policies for job in model.jobs)
    ]
    return ResponseTimeResult(
        model=model.name,
        baseline=model.baseline,
        response_times=tuple(
            _row(model.comparison(job.name, policy), *place)
            for place in places
            for job in model.jobs
            for policy in job.policies
        ),
        pareto_fronts=tuple(
            ParetoFront(job=job.name, policies=pareto_front(model, job.name)) for job in model.jobs
        ),
        uses=tuple(
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
            if model.processors is not None
        ),
    )


def _row(comparison: PolicyComparison, speed: float, cache: float) -> ResponseTimeRow:
    case = comparison.case
    most = float(most_reallocations(comparison, speed, cache, waste=case.waste))
    return ResponseTimeRow(
        job=comparison.job,
        policy=comparison.policy,
        speed=speed,
        cache=cache,
        **{name: float(time) for name, time in bounds(case, speed, cache).items()},
        relative=float(relative_response_time(comparison, speed, cache)),
        exchange_rate=float(exchange_rate(case, speed, cache)),
        most_reallocations=most if math.isfinite(most) and most >= 0 else None,
    )


def assumed_note(assumptions: Iterable[str]) -> list[str]:
    """Return what a table says of the assumptions that it rests on."""
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
        own = bool(assumptions_of(model, row.job, row.policy))
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


RESPONSE_MODELS = DocumentType(Format.RESPONSE_MODEL, ResponseModel)

RESPONSE_TIME = AnalyticModel(
    name="response-time",
    parameters=RESPONSE_MODELS,
    results=DocumentType(Format.RESPONSE_TIME, ResponseTimeResult),
    says=response_time_result,
    formulas=today.formulas,
)
