"""The parameters that follow from measured response times, reallocations and intervals.

A table of measurements has the average interval between two reallocations of a processor, not the
allocation. But every reallocation ends one interval. So interval times reallocations is the number
of processor-seconds that the job was given. Divided by the response time it is the average
allocation; minus the cost of the reallocations it is work and waste.

So an error of a measurement moves work and allocation together. Ranges of measurements therefore
say more than ranges of what follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as combinations

from dfopt.structs import replace
from dfopt_models.errors import ModelError
from dfopt_models.response_time.case import Case, check_parameter

MEASURED_NUMBERS = ("affinity", "reallocations", "interval", "response_time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
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

    affinity: float
    reallocations: float
    interval: float
    response_time: float

    def __post_init__(self) -> None:
        for name in MEASURED_NUMBERS:
            value = getattr(self, name)
            check_parameter(name, value, name)
            if name != "affinity" and value == 0:
                raise ModelError("must be more than 0", place=name)

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
