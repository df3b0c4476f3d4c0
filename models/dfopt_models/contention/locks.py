"""CPUs that contend for spin locks: how often a lock is found taken, and what that costs.

Every CPU computes for a *think* time, then takes one or more locks one after another, then begins
anew (a closed queueing network, the *machine repairman*). Think times are exponential.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from math import exp, expm1, isfinite

from dfopt_models.contention import equations
from dfopt_models.errors import ModelError

MOST_CPUS = 1000
"""At most this many CPUs: the exact methods take their number squared or cubed."""

STEPS = 64
"""Halvings of an interval that holds a fitted value."""

NEVER = 1e-200
"""A step of a chain that is this much less likely than its counterpart is not taken."""

LARGEST = 2.0**40
"""No think time beyond this many holds is looked for."""


class Holds(StrEnum):
    """How the times for which a lock is held vary."""

    EXPONENTIAL = "exponential"
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class SpinLocks:
    """Locks alike, of which a CPU takes one in each round.

    Parameters
    ----------
    hold
        Mean time for which a CPU holds it.
    copies
        How many there are; each is as likely as the others.
    """

    hold: float
    copies: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contention:
    """What CPUs that share locks do on average.

    Parameters
    ----------
    cpus
        How many there are.
    uses
        Rounds of all CPUs in a unit of time.
    misses
        By group of locks: which share of the attempts finds the lock taken.
    spinning
        Which share of the CPUs waits for a lock.
    work
        How many CPUs compute or hold a lock.
    """

    cpus: int
    uses: float
    misses: tuple[float, ...]
    spinning: float
    work: float

    @property
    def miss(self) -> float:
        """The misses of the first group."""
        return self.misses[0]


def contention(
    cpus: int, think: float, locks: Sequence[SpinLocks], holds: Holds = Holds.EXPONENTIAL
) -> Contention:
    """Return what CPUs do that take a lock of each group in turn.

    Exponential holds are exact, by mean value analysis. Constant holds are exact for a single
    lock, by :func:`constant_holds`; for more locks they are approximated: a CPU that waits finds
    on average half of a hold still to come.

    Raises
    ------
    ModelError
        When a number is out of its range.
    """
    _check(cpus, think, locks)
    if holds is Holds.CONSTANT and len(locks) == locks[0].copies == 1:
        return constant_holds(cpus, think, locks[0].hold)
    queued = [0.0] * len(locks)
    busy = misses = queued
    uses = 0.0
    for number in range(1, cpus + 1):
        if holds is Holds.EXPONENTIAL:
            times = [
                equations.residence(lock.hold, q) for lock, q in zip(locks, queued, strict=True)
            ]
        else:
            times = [
                equations.residence_constant(lock.hold, *found)
                for lock, *found in zip(locks, queued, busy, strict=True)
            ]
        uses = equations.throughput(number, think, sum(times))
        # A CPU finds a lock as busy as the others alone keep it.
        misses = busy
        busy = [equations.busy(uses, lock.hold, lock.copies) for lock in locks]
        queued = [
            equations.queue(uses, time, lock.copies)
            for lock, time in zip(locks, times, strict=True)
        ]
    return _found(cpus, think, sum(lock.hold for lock in locks), uses, misses)


def constant_holds(cpus: int, think: float, hold: float) -> Contention:
    """Return what CPUs do that share one lock, held for the same time whenever it is held.

    Exact: the number of CPUs that wait when the lock is released is a Markov chain. During a hold
    each CPU that computes comes with the same chance, whatever the others do.
    """
    _check(cpus, think, [SpinLocks(hold)])
    # A hold leaves at most one CPU fewer waiting than it found. So in balance each state follows
    # from those below it: as many steps lead up across a cut as down.
    arrivals = _arrivals(cpus, hold / think)
    tails = [arrivals[cpus - max(left, 1)] for left in range(cpus)]
    shares = [1.0]
    for left in range(cpus - 1):
        up = sum(shares[low] * tails[low][left + 2 - max(low, 1)] for low in range(left + 1))
        down = 1 - tails[left + 1][1] if len(tails[left + 1]) > 1 else 1.0
        if down < NEVER * up:
            shares = [0.0] * len(shares)
            up = down = 1.0
        shares.append(up / down)
        total = sum(shares)
        shares = [share / total for share in shares]
    left_free = shares[0]
    busy = equations.busy_constant(cpus, think, hold, left_free)
    # Only who comes after the lock was left free finds it so.
    return _found(cpus, think, hold, busy / hold, [1 - left_free])


def own_lock_first(cpus: int, think: float, hold: float, spread: float) -> Contention:
    """Return what CPUs do that mostly take their own lock, one for each CPU.

    Exact for exponential holds: the network has a product form with a class for each CPU, and its
    mean value analysis depends on how many CPUs there are, and on whether a lock's CPU is one of
    them.

    Parameters
    ----------
    spread
        The share of uses that choose among all locks, the own one included; the rest takes the
        own lock. With 1 all locks are alike.
    """
    _check(cpus, think, [SpinLocks(hold)])
    if not 0 <= spread <= 1:
        raise ModelError(f"must be from 0 to 1, not {spread:g}", place="spread")
    # Mean number of CPUs at the lock of a CPU that is counted already, and at any other lock;
    # then how busy these locks are.
    counted = free = 0.0
    busy_counted = busy_free = 0.0
    miss = uses = 0.0
    for number in range(1, cpus + 1):
        network = spread, cpus, number
        at_counted, at_free = (equations.residence(hold, queued) for queued in (counted, free))
        miss = equations.over_locks(*network, busy_counted, busy_free)
        time = equations.over_locks(*network, at_counted, at_free)
        uses = equations.throughput(1, think, time)
        counted = uses * equations.visits_counted(*network, at_free, at_counted)
        free = uses * equations.visits_free(*network, at_free)
        busy_counted = equations.busy(uses, hold) * equations.visits_counted(*network, 1, 1)
        busy_free = equations.busy(uses, hold) * equations.visits_free(*network, 1)
    return _found(cpus, think, hold, cpus * uses, [miss])


@lru_cache(maxsize=64)
def think_for(
    misses: float, cpus: int, hold: float = 1.0, holds: Holds = Holds.EXPONENTIAL
) -> float:
    """Return the think time with which one lock is found taken in this share of the attempts.

    Raises
    ------
    ModelError
        When no think time gives it.
    """
    if not 0 < misses < 1 or cpus < 2:  # noqa: PLR2004 -- one CPU never misses
        raise ModelError(
            f"misses must be between 0 and 1, of at least two CPUs; here are {misses:g} of {cpus}",
            place="fitted",
        )
    least = hold / 700  # exp of a larger exponent is 0
    return bisect(
        lambda think: contention(cpus, think, [SpinLocks(hold)], holds).miss,
        misses,
        (least, hold * LARGEST),
        "fitted",
    )


def mean_slope(work: Callable[[int], float], cpus: Sequence[int]) -> float:
    """Return how much work, in CPUs, a further CPU adds between the first and the last number."""
    first, last = cpus[0], cpus[-1]
    return (work(last) - work(first)) / (last - first)


def bisect(
    falls: Callable[[float], float], target: float, ends: tuple[float, float], place: str
) -> float:
    """Return where a function that falls meets a value, between two positive numbers.

    Raises
    ------
    ModelError
        When it does not meet it there.
    """
    low, high = ends
    if not falls(low) >= target >= falls(high):
        raise ModelError(f"no parameter gives {target:g}", place=place)
    for _ in range(STEPS):
        middle = (low * high) ** 0.5
        if falls(middle) > target:
            low = middle
        else:
            high = middle
    return float((low * high) ** 0.5)


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


def _arrivals(cpus: int, hold: float) -> list[list[float]]:
    """Return how likely at least each number of CPUs comes during a hold, in think times.

    By the number of CPUs that may come: below ``cpus``.
    """
    stays, comes = exp(-hold), -expm1(-hold)
    tails = [[1.0]]
    for _ in range(cpus - 1):
        last = [*tails[-1], 0.0]
        tails.append([1.0, *(stays * same + comes * less for less, same in pairwise(last))])
    return tails


def _found(
    cpus: int, think: float, holds: float, uses: float, misses: Sequence[float]
) -> Contention:
    return Contention(
        cpus=cpus,
        uses=uses,
        # A lock that is always held may be rounded to a little more than that.
        misses=tuple(min(1.0, share) for share in misses),
        spinning=max(0.0, equations.spinning(cpus, think, holds, uses)),
        work=equations.work(think, holds, uses),
    )


def _check(cpus: int, think: float, locks: Sequence[SpinLocks]) -> None:
    if not 1 <= cpus <= MOST_CPUS:
        raise ModelError(f"must be from 1 to {MOST_CPUS}, not {cpus}", place="cpus")
    for name, time in (("think", think), *(("hold", lock.hold) for lock in locks)):
        if not (isfinite(time) and time > 0):
            raise ModelError(f"must be more than 0, not {time:g}", place=name)
    if not locks or any(lock.copies < 1 for lock in locks):
        raise ModelError("must be at least one", place="locks")
