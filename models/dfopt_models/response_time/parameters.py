"""The parameters of the response-time model: a job, and what each policy does to it.

All times are in seconds, work and waste in processor-seconds.

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
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from itertools import product as combinations
from typing import Annotated, Literal

from msgspec import Meta, field

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import DfoptError, FileError
from dfopt.structs import Checked, Positive, reader, replace
from dfopt_models.errors import ModelError
from dfopt_models.model import Sourced

Range = tuple[float, float]
"""The least and the greatest value that a parameter may have."""

Amount = Annotated[float, Meta(ge=0)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
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
    waste: Amount
    reallocations: Amount
    affinity: Fraction
    allocation: AboveZero
    reallocation_time: Amount
    penalty_affinity: Amount
    penalty_no_affinity: Amount


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

    affinity: Fraction
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

    def rounded(
        self, *, affinity: float, interval: float, response_time: float
    ) -> Iterator[Measured]:
        """Yield the corners of the box of values that round to these measurements.

        Parameters
        ----------
        affinity, interval, response_time
            Half a unit of the last printed digit of each.
        """
        errors = {"affinity": affinity, "interval": interval, "response_time": response_time}
        for signs in combinations((-1, 1), repeat=len(errors)):
            shifted = {
                name: getattr(self, name) + sign * error
                for sign, (name, error) in zip(signs, errors.items(), strict=True)
            }
            yield replace(self, **shifted)


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
    affinity: Amount
    no_affinity: Amount


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
    table: PenaltyTable,
    *,
    processor_seconds: float,
    reallocations: float,
    affinity: float,
    reallocation_time: float,
) -> tuple[float, float]:
    """Return P^A and P^NA of a policy whose interval was not measured.

    Every reallocation ends one interval, and intervals hold the work, the waste and the cost of a
    reallocation. That cost depends on the interval in turn; so both are found together.

    Parameters
    ----------
    table
        At least one entry.
    processor_seconds
        Work and waste together.
    reallocations, affinity, reallocation_time
        As in :class:`.Case`. Without reallocations the penalties are those of the last entry.
    """
    if reallocations == 0:
        return table[-1].affinity, table[-1].no_affinity
    computing = processor_seconds / reallocations + reallocation_time
    interval = computing
    penalties = penalties_at(table, interval)
    for _ in range(MOST_STEPS):
        longer = computing + affinity * penalties[0] + (1 - affinity) * penalties[1]
        penalties = penalties_at(table, longer)
        if abs(longer - interval) <= CLOSE * interval:
            break
        interval = longer
    return penalties


class Ranged(Sourced):
    """A table of parameters that may be known within ranges only.

    Parameters
    ----------
    ranges
        For each number that is not known exactly the least and the greatest value.
    """

    ranges: dict[str, Range] = field(name=RANGES, default_factory=dict)

    def check_ranges(self, holder: object, names: Iterable[str]) -> None:
        """Refuse ranges of other numbers than these, or that do not hold their values."""
        for name, limits in self.ranges.items():
            check_known(name, names, RANGES)
            place = f"{RANGES}.{name}"
            for end, limit in enumerate(limits):
                check_number(name, limit, f"{place}[{end}]")
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
    waste: Amount | None = None
    reallocations: Amount | None = None
    affinity: Fraction | None = None
    allocation: AboveZero | None = None
    measured: Measured | None = None
    baseline: dict[str, float | Literal["own"]] = field(name="x-baseline", default_factory=dict)
    replications: dict[str, tuple[float, ...]] = field(name="x-replications", default_factory=dict)

    def __post_init__(self) -> None:
        """Check that numbers, or measurements, are there, and what stands beside them."""
        super().__post_init__()
        for name in POLICY_NUMBERS:
            if (getattr(self, name) is None) != (self.measured is not None):
                problem = (
                    "is missing; it is required"
                    if self.measured is None
                    else "follows from what is measured; leave it out"
                )
                raise FileError(problem, place=name)
        if self.measured is None:
            self.check_ranges(self, POLICY_NUMBERS)
        else:
            self.check_ranges(self.measured, MEASURED_NUMBERS)
        for name, value in self.baseline.items():
            check_known(name, POLICY_NUMBERS, "x-baseline")
            if value != OWN or name != "work":
                check_number(name, value, f"x-baseline.{name}")
        self._check_replications()

    @property
    def own_work(self) -> bool:
        """Whether the baseline does the policy's work when compared with it."""
        return self.baseline.get("work") == OWN

    def _check_replications(self) -> None:
        if not self.replications:
            return
        for name, values in self.replications.items():
            check_known(name, REPLICATED, "x-replications")
            for position, value in enumerate(values):
                check_number(name, value, f"x-replications.{name}[{position}]")
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
    penalty_affinity: Amount | None = None
    penalty_no_affinity: Amount | None = None
    penalties: tuple[PenaltiesOfQuantum, ...] | None = None
    policies: dict[str, PolicyParameters] = field(name="policy")

    def __post_init__(self) -> None:
        """Check that penalties are there once."""
        super().__post_init__()
        check_label(self.name, "name")
        for name in self.policies:
            check_label(name, "policy")
        for name in JOB_NUMBERS:
            if (getattr(self, name) is None) != (self.penalties is not None):
                problem = (
                    "is missing; it is required"
                    if self.penalties is None
                    else "is given by quantum in [[job.penalties]] too; keep one"
                )
                raise FileError(problem, place=name)
        if self.penalties is None:
            self.check_ranges(self, JOB_NUMBERS)
        else:
            check_penalty_table(self.penalties, "penalties")
            if self.ranges:
                raise FileError("is for single penalties, not for those by quantum", place=RANGES)

    def penalties_after(self, interval: float) -> dict[str, float]:
        """Return the penalties after an interval, by their names in :class:`Case`."""
        if self.penalties is not None:
            return dict(zip(JOB_NUMBERS, penalties_at(self.penalties, interval), strict=True))
        return {name: getattr(self, name) for name in JOB_NUMBERS}


NUMBERS = {
    name: reader(
        Fraction
        if name == "affinity"
        else AboveZero
        if name in ("work", "allocation", "interval", "response_time")
        else Amount
    )
    for name in (*POLICY_NUMBERS, *SHARED_NUMBERS, *MEASURED_NUMBERS)
}
"""Readers of the parameters, by their names."""


def check_number(name: str, value: object, place: str) -> None:
    """Refuse a number that a parameter cannot have."""
    try:
        NUMBERS[name](value)
    except DfoptError as error:
        raise ModelError(error.problem, place=place) from None


def check_known(name: str, known: Iterable[str], place: str) -> None:
    """Refuse the name of a parameter that is not here."""
    known = tuple(known)
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"known are {', '.join(known)}"
        raise ModelError(f"there is no parameter {described(name)} here; {hint}", place=place)


def check_label(value: str, place: str) -> None:
    """Refuse an empty name."""
    if not value:
        raise ModelError("is empty; give it a name", place=place)
