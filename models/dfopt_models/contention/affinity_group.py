"""Affinity groups: each CPU has a part of every resource, and uses another's if its own is empty.

Sohn and Kim, section VI. The free buffers of a kernel are such a resource: one list for all, one
lock; or a list for each CPU, a lock for each, and borrowing.
"""

from __future__ import annotations

from dataclasses import dataclass

from dfopt_models.contention.locks import (
    Contention,
    Holds,
    SpinLocks,
    bisect,
    contention,
    mean_slope,
)
from dfopt_models.contention.scans import loss
from dfopt_models.errors import ModelError

STEPS = 200
"""Rounds in which the share of borrowed resources settles."""

EXACT = 1e-12

MOST = 10**6
"""At most this many resources on a CPU's list."""


def with_buffers(  # noqa: PLR0913 -- the parts of the model
    cpus: int,
    think: float,
    hold: float,
    buffer_hold: float,
    *,
    split: bool,
    holds: Holds = Holds.EXPONENTIAL,
) -> Contention:
    """Return what CPUs do that use a queue of their own and a list of free buffers in each round.

    Parameters
    ----------
    hold
        For which a queue's lock is held; there is one for each CPU.
    buffer_hold
        For which the lock of free buffers is held.
    split
        Whether each CPU has a list of free buffers, or all share one.
    """
    queues = SpinLocks(hold, cpus)
    return contention(cpus, think, [queues, SpinLocks(buffer_hold, cpus if split else 1)], holds)


def buffer_hold_for(
    slope: float, cpus: tuple[int, ...], think: float, hold: float, holds: Holds
) -> float:
    """Return the hold time of one list of free buffers with which CPUs add this much work each.

    Raises
    ------
    ModelError
        When no hold time gives the slope.
    """

    def slope_with(buffer_hold: float) -> float:
        return mean_slope(
            lambda number: (
                with_buffers(number, think, hold, buffer_hold, split=False, holds=holds).work
            ),
            cpus,
        )

    return bisect(slope_with, slope, (hold / 10**6, think), "buffers.fitted")


@dataclass(frozen=True, slots=True)
class Borrowing:
    """How a CPU finds a free resource, in an affinity group or in one pool.

    Parameters
    ----------
    own_empty
        How likely its own part is empty, so that it looks at the others'.
    none_alone
        How likely there is none if the parts are never shared.
    none
        How likely all parts are empty, as in one pool.
    """

    own_empty: float
    none_alone: float
    none: float

    @property
    def borrowed(self) -> float:
        """Which share is borrowed from another part."""
        return self.own_empty - self.none


def borrowing(cpus: int, resources: int, used: float) -> Borrowing:
    """Return how often a CPU borrows.

    Who finds all parts empty goes without. Then only the total counts for that, and Erlang's loss
    formula gives it whatever the times are for which resources are kept. How often the own part
    is empty is an approximation: what others borrow is taken for requests that come at random.

    Parameters
    ----------
    cpus
        How many CPUs there are.
    resources
        How many resources each has.
    used
        How many a CPU would use on average if there were always enough.

    Raises
    ------
    ModelError
        When a number is out of its range.
    """
    if not (cpus >= 1 and 1 <= resources <= MOST and 0 < used <= MOST):
        raise ModelError(
            "a CPU must have at least one resource and use more than none; "
            f"here are {resources} and {used:g} on {cpus} CPUs"
        )
    none = loss(cpus * resources, cpus * used)
    alone = loss(resources, used)
    low, high = none, 1.0
    for _ in range(STEPS):
        # A part serves what its own CPU and the others take from it, on average its share of all.
        middle = (low + high) / 2
        if loss(resources, used * (1 - none) / (1 - middle)) > middle:
            low = middle
        else:
            high = middle
        if high - low < EXACT:
            break
    return Borrowing(own_empty=(low + high) / 2, none_alone=alone, none=none)
