"""The parameters of the response-time model: a job, and what each policy does to it.

All times are in seconds, work and waste in processor-seconds.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dfopt.checks import check_name, described
from dfopt.errors import DfoptError
from dfopt_models.errors import ModelError
from dfopt_models.parameter_fields import Range
from dfopt_models.response_time.case import JOB_NUMBERS, POLICY_NUMBERS, check_parameter
from dfopt_models.response_time.measured import MEASURED_NUMBERS, Measured
from dfopt_models.response_time.penalties import PenaltyTable, check_penalty_table

REPLICATED = (*POLICY_NUMBERS, "penalty_affinity")
"""Parameters that each replication of an experiment has."""

LEAST_REPLICATIONS = 2
"""At least this many replications, or nothing is known of their spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyParameters:
    """What a policy does to a job.

    Parameters
    ----------
    work, waste, reallocations, affinity, allocation
        As in :class:`Case`.
    baseline
        Values that replace the baseline's own when it is compared with this policy. Two
        measurements of one job rarely agree on its work, so that a policy can be compared with a
        baseline that does the very same work.
    ranges
        Parameters that are not known exactly: the least and the greatest value. Where the
        parameters follow from measurements, these are measurements.
    sources
        Where numbers come from, by their names.
    measured
        The measurements that the parameters follow from, see :meth:`from_measured`.
    own_work
        Whether the baseline does the policy's work, whatever it is, when compared with it.
    replications
        The same parameters, and perhaps ``penalty_affinity``, of each replication of an
        experiment; entries at one position, in all policies, belong together.
    """

    work: float
    waste: float
    reallocations: float
    affinity: float
    allocation: float
    baseline: Mapping[str, float] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    measured: Measured | None = None
    own_work: bool = False
    replications: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.measured is None:
            check_numbers(self, POLICY_NUMBERS)
        else:
            check_ranges(self.measured, self.ranges, MEASURED_NUMBERS)
        self._check_replications()
        for name, value in self.baseline.items():
            check_known(name, POLICY_NUMBERS, "x-baseline")
            check_parameter(name, value, f"x-baseline.{name}")
        if self.own_work and "work" in self.baseline:
            raise ModelError("is the policy's own, or a number; not both", place="x-baseline.work")

    @classmethod
    def from_measured(
        cls,
        measured: Measured,
        *,
        penalty_affinity: float,
        penalty_no_affinity: float,
        reallocation_time: float,
        **more: Any,
    ) -> PolicyParameters:
        """Return the parameters that follow from measurements, given the cost of a reallocation.

        Parameters
        ----------
        measured
            The measurements. They do not tell work from waste, so that work is both.
        penalty_affinity, penalty_no_affinity, reallocation_time
            As in :class:`.Case`, seconds.
        more
            Other parameters of the class.
        """
        case = measured.case(
            penalty_affinity=penalty_affinity,
            penalty_no_affinity=penalty_no_affinity,
            reallocation_time=reallocation_time,
        )
        numbers = {name: getattr(case, name) for name in POLICY_NUMBERS}
        return cls(**numbers, measured=measured, **more)

    def _check_replications(self) -> None:
        if not self.replications:
            return
        for name, values in self.replications.items():
            check_known(name, REPLICATED, "x-replications")
            for position, value in enumerate(values):
                check_parameter(name, value, f"x-replications.{name}[{position}]")
        lengths = {name: len(self.replications.get(name, ())) for name in POLICY_NUMBERS}
        for name, length in lengths.items():
            if length < LEAST_REPLICATIONS:
                raise ModelError(
                    f"must be at least {LEAST_REPLICATIONS} numbers, one for each replication",
                    place=f"x-replications.{name}",
                )
        if len({len(values) for values in self.replications.values()}) > 1:
            raise ModelError("must have arrays of one length", place="x-replications")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobParameters:
    """A job and what each policy does to it.

    Parameters
    ----------
    name
        Its name.
    penalty_affinity, penalty_no_affinity
        Cache penalty of a reallocation with and without affinity, seconds.
    policies
        The policies by name.
    ranges, sources
        As in :class:`PolicyParameters`.
    penalties
        Penalties by quantum, which then come in the place of those two: each policy has those at
        its own interval between reallocations.
    copies
        Number of such jobs that run at a time.
    """

    name: str
    penalty_affinity: float
    penalty_no_affinity: float
    policies: Mapping[str, PolicyParameters]
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    penalties: PenaltyTable | None = None
    copies: int = 1

    def __post_init__(self) -> None:
        check_label(self.name, "name")
        check_numbers(self, JOB_NUMBERS)
        if type(self.copies) is not int or self.copies < 1:
            raise ModelError(
                f"must be an integer of at least 1, not {described(self.copies)}", place="copies"
            )
        if self.penalties is not None:
            check_penalty_table(self.penalties, "penalties")
        for name in self.policies:
            check_label(name, "policy")


class WithRanges(Protocol):
    """Anything that has parameters, some of them with ranges."""

    @property
    def ranges(self) -> Mapping[str, Range]:
        """The least and the greatest value of parameters, by their names."""


def check_numbers(holder: WithRanges, names: tuple[str, ...]) -> None:
    """Refuse impossible numbers, and ranges that do not fit them."""
    for name in names:
        check_parameter(name, getattr(holder, name), name)
    check_ranges(holder, holder.ranges, names)


def check_ranges(holder: object, ranges: Mapping[str, Range], names: tuple[str, ...]) -> None:
    """Refuse ranges that do not fit the holder's numbers."""
    for name, limits in ranges.items():
        check_known(name, names, "x-range")
        check_range(name, limits, getattr(holder, name), f"x-range.{name}")


def check_range(name: str, limits: Range, value: float, place: str) -> None:
    """Refuse a range that is empty, or does not hold its parameter's value."""
    for end, limit in enumerate(limits):
        check_parameter(name, limit, f"{place}[{end}]")
    least, greatest = limits
    if least > greatest:
        raise ModelError(
            f"must be [least, greatest], but {least:g} is more than {greatest:g}", place=place
        )
    if not least <= value <= greatest:
        raise ModelError(
            f"must hold the value of {name}, {value:g}; it is from {least:g} to {greatest:g}",
            place=place,
        )


def check_known(name: str, known: Iterable[str], place: str) -> None:
    """Refuse the name of a parameter that is not here."""
    known = tuple(known)
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"known are {', '.join(known)}"
        raise ModelError(f"there is no parameter {described(name)} here; {hint}", place=place)


def check_label(value: object, place: str) -> None:
    """Refuse anything but a name."""
    try:
        check_name(value, place)
    except DfoptError as error:
        raise ModelError(error.problem, place=error.place) from None
    if not value:
        raise ModelError("is empty; give it a name", place=place)
