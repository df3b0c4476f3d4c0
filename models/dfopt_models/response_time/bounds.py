"""How fast a job could be under an online policy, and how far each policy is from that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dfopt_models.response_time.model import Case
from dfopt_models.response_time.numeric import response_time

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dfopt_models.response_time.numeric import Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Response times of a job: under a policy, and with less and less against it.

    All are in seconds and hold for the policy's own average allocation.

    Parameters
    ----------
    response_time
        Under the policy.
    perfect_affinity
        If every reallocation resumed a task where it has affinity (α = 1). A bound wherever
        affinity saves anything: P^A / c ≤ P^NA · √c, that is on today's machine and all greater
        ones if P^A ≤ P^NA.
    zero_yield
        If no processor were held without work, with the policy's reallocations.
    ideal
        Without waste and without reallocations: the work alone.
    """

    response_time: Numbers
    perfect_affinity: Numbers
    zero_yield: Numbers
    ideal: Numbers

    def headroom(self, bound: Numbers) -> Numbers:
        """Return by which fraction of the response time the policy is slower than a bound."""
        return 1 - bound / self.response_time


def bounds(case: Case, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0) -> Bounds:
    """Return how fast a job could be under a policy with perfect affinity, without waste, or both.

    Parameters
    ----------
    case
        A job under a policy.
    speed, cache
        Relative to today's machine; any shapes that go together.

    Raises
    ------
    ModelError
        When a speed or a cache is not more than 0.
    """
    return Bounds(
        response_time=response_time(case, speed, cache),
        perfect_affinity=response_time(replace(case, affinity=1.0), speed, cache),
        zero_yield=response_time(replace(case, waste=0.0), speed, cache),
        ideal=response_time(replace(case, waste=0.0, reallocations=0.0), speed, cache),
    )
