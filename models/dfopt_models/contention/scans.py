"""What several scans of all ready queues cost, what a band of its own gains, and borrowing.

In an affinity group each CPU has a part of every resource, and uses another's if its own is empty
(Sohn and Kim, section VI). The free buffers of a kernel are such a resource.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dfopt_models.contention import equations
from dfopt_models.errors import ModelError

STEPS = 200
"""Rounds in which the share of borrowed resources settles."""

EXACT = 1e-12

MOST = 10**6
"""At most this many resources on a CPU's list."""


def expected_looks(chances: Sequence[float], cpus: int) -> tuple[float, ...]:
    """Return how many queues each scan looks at on average, for one choice of a thread.

    A scan looks into one queue after another until one has a thread of its range. The queues are
    independent of each other. Ranges are nested: what a scan seeks, the next one seeks too. So
    where the next one begins, it is known that no queue has a thread of the narrower range.

    Parameters
    ----------
    chances
        By scan: the chance that a queue has a thread of its range; each at least as large as the
        one before.
    cpus
        How many CPUs there are, with a queue for each.

    Raises
    ------
    ModelError
        When chances are no chances, or fall.
    """
    if cpus < 1:
        raise ModelError(f"must be at least 1, not {cpus}", place="cpus")
    found = []
    before = 0.0
    for number, chance in enumerate(chances):
        if not before <= chance <= 1:
            raise ModelError(
                f"must be from {before:g} to 1, not {chance:g}, since a wider range holds the "
                "narrower one",
                place=f"chances[{number}]",
            )
        begins = equations.reached(before, cpus)
        alone = 0.0 if before == 1 else equations.chance_beyond(chance, before)
        found.append(begins * (equations.looks(alone, cpus) if alone else cpus))
        before = chance
    return tuple(found)


def look_time(slowdown: float, cpus: int) -> float:
    """Return what one look takes, in switches, if a scan in vain slows switches by a factor."""
    return (slowdown - 1) / cpus


def all_busy(cpus: int, load: float) -> float:
    """Return how likely all CPUs are busy when a thread becomes ready (Erlang's delay formula)."""
    lost = loss(cpus, cpus * load)
    return lost / (1 - load * (1 - lost))


def loss(servers: int, offered: float) -> float:
    """Return how likely all servers are taken, if who finds none goes away (Erlang's loss formula).

    Parameters
    ----------
    servers
        How many there are.
    offered
        How many would be taken on average if there were always enough.
    """
    lost = 1.0
    for number in range(1, servers + 1):
        lost = equations.overflow(lost, offered, number)
    return lost


def third_band(cpus: int, load: float, first: float, rest: float) -> float:
    """Return the time of a cycle with a band of its own, relative to that without.

    A thread's cycle is a wait for a CPU, and a rest that does not depend on the order of threads.
    With the band it waits for no thread of the other one, except for those that run (Cobham's
    priorities on several CPUs, with exponential services alike).

    Parameters
    ----------
    cpus
        How many CPUs there are.
    load
        Which share of their time they are busy, below 1.
    first
        Which share of the load is in the first band.
    rest
        The rest of the cycle, in services.
    """
    if not (0 < load < 1 and 0 <= first <= 1 and rest > 0):
        raise ModelError(
            f"load must be between 0 and 1, first from 0 to 1, rest more than 0; "
            f"here are {load:g}, {first:g} and {rest:g}"
        )
    wait = equations.wait_in_line(cpus, load, all_busy(cpus, load))
    return float((rest + equations.wait_with_priority(wait, load, first)) / (rest + wait))


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
