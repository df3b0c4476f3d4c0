"""A job under a policy, as equations (1) and (2) see it.

All times are in seconds, work and waste in processor-seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.checks import LARGEST_TOTAL, described
from dfopt_models.errors import ModelError

JOB_NUMBERS = ("penalty_affinity", "penalty_no_affinity")
POLICY_NUMBERS = ("work", "waste", "reallocations", "affinity", "allocation")
SHARED_NUMBERS = ("reallocation_time", *JOB_NUMBERS)
"""Parameters that a job has under every policy."""

POSITIVE = ("work", "allocation")
"""Parameters that must be more than 0, so that no division is by 0."""

LEAST_POSITIVE = 1 / LARGEST_TOTAL
"""A smaller value counts as 0, because its reciprocal may be infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
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

    work: float
    waste: float
    reallocations: float
    affinity: float
    allocation: float
    reallocation_time: float
    penalty_affinity: float
    penalty_no_affinity: float

    def __post_init__(self) -> None:
        for name in (*POLICY_NUMBERS, *SHARED_NUMBERS):
            check_parameter(name, getattr(self, name), name)


def check_parameter(name: str, value: object, place: str) -> None:
    """Refuse a number that a parameter cannot have."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(f"must be a number, not {described(value)}", place=place)
    if not abs(value) <= LARGEST_TOTAL:  # NaN is neither more nor less
        raise ModelError(f"must be finite and at most 2^62, not {described(value)}", place=place)
    if value < 0:
        raise ModelError(f"must not be negative; it is {value:g}", place=place)
    if name in POSITIVE and value < LEAST_POSITIVE:
        least = "more than 0" if value == 0 else f"at least 2^-62, not {value:g}"
        raise ModelError(f"must be {least}", place=place)
    if name == "affinity" and value > 1:
        raise ModelError(f"must be a fraction from 0 to 1, not {value:g}", place=place)
