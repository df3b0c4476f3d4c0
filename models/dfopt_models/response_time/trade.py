"""Waste against reallocations: what a policy may pay of either, and which ones pay too much.

On a given machine equal response times lie on straight lines in the plane of reallocations and
waste. Their slope is the exchange rate, see :func:`.exchange_rate`; the line on which a policy is
as fast as the baseline begins at the :func:`.waste_budget`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dfopt_models.errors import ModelError
from dfopt_models.response_time.model import PolicyComparison, ResponseModel
from dfopt_models.response_time.numeric import exchange_rate, waste_budget

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dfopt_models.response_time.numeric import Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """What a policy can afford on a machine before it is slower than the baseline.

    Parameters
    ----------
    exchange_rate
        How much waste costs as much as one reallocation, in processor-seconds of today.
    waste_budget
        How much waste makes it as slow as the baseline without any reallocation, in
        processor-seconds of today; negative where nothing helps.
    """

    exchange_rate: Numbers
    waste_budget: Numbers

    def most_waste(self, reallocations: ArrayLike) -> Numbers:
        """Return the waste that makes a policy with these reallocations as slow as the baseline."""
        import numpy as np

        return self.waste_budget - np.asarray(reallocations, np.float64) * self.exchange_rate

    def most_reallocations(self, waste: ArrayLike = 0.0) -> Numbers:
        """Return the reallocations at which a policy with this waste is as slow as the baseline.

        Negative where it is slower without any; infinite or undefined where they cost nothing.
        """
        import numpy as np

        with np.errstate(all="ignore"):
            return (self.waste_budget - np.asarray(waste, np.float64)) / self.exchange_rate


def trade(
    comparison: PolicyComparison,
    speed: ArrayLike = 1.0,
    cache: ArrayLike = 1.0,
    *,
    affinity: float | None = None,
) -> Trade:
    """Return what a policy can afford before it is slower than the baseline.

    Parameters
    ----------
    comparison
        A policy, of which work, allocation and affinity count, and the baseline.
    speed, cache
        Relative to today's machine; any shapes that go together.
    affinity
        Another fraction of reallocations with affinity.

    Raises
    ------
    ModelError
        When a speed or a cache is not more than 0, or the affinity not from 0 to 1.
    """
    case = comparison.case
    if affinity is not None:
        case = replace(case, affinity=affinity)
    return Trade(
        exchange_rate=exchange_rate(case, speed, cache),
        waste_budget=waste_budget(replace(comparison, case=case), speed, cache),
    )


def pareto_front(model: ResponseModel, job: str) -> tuple[str, ...]:
    """Return the policies of a job that no other one beats in both waste and reallocations.

    Those left out have at least as much of either as another policy, and more of one. Waste is
    compared together with work: the job is the same, and measurements cannot always tell one from
    the other.

    Raises
    ------
    ModelError
        When there is no such job.
    """
    points = {
        name: (policy.work + policy.waste, policy.reallocations)
        for name, policy in model.job(job).policies.items()
    }
    return non_dominated(points)


def non_dominated(points: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """Return the names of the points that no other point is below or beside in both coordinates."""
    if not points:
        raise ModelError("there are no points")
    return tuple(
        name
        for name, point in points.items()
        if not any(
            other != point and other[0] <= point[0] and other[1] <= point[1]
            for other in points.values()
        )
    )
