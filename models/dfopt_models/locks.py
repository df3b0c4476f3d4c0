"""CPUs that wait for locks, look for threads and borrow resources: the laws, each written once.

Every CPU computes for a *think* time, then takes one or more locks one after another, then begins
anew (a closed queueing network, the *machine repairman*). Think times are exponential. All times
have one unit.

In an affinity group each CPU has a part of every resource, and uses another's if its own is empty
(Sohn and Kim, section VI). The free buffers of a kernel are such a resource.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from math import exp, expm1, isfinite
from typing import Any, NamedTuple

from dfopt.structs import DocumentPart
from dfopt_models.errors import ModelError
from dfopt_models.formulas import Equations

MVA = "mean value analysis (Reiser and Lavenberg 1980)"

equation = Equations(
    {
        "cpus": "N: CPUs",
        "locks": "L: locks alike",
        "think": "Z [any unit]: think time between two uses of a lock",
        "hold": "S [the same]: time for which a lock is held",
        "queued": "Q: mean number of CPUs at a lock, of N - 1 CPUs",
        "busy": "U: share of the time that a lock is held, of N - 1 CPUs: its misses",
        "waits": "R: time from asking for a lock to releasing it",
        "uses": "X: uses in a unit of time, of N CPUs",
        "time": "R_new $R$: time from asking for a lock to releasing it",
        "uses_new": "X_new $X$: uses in a unit of time, of N CPUs",
        "queue": "Q_new $Q_N$: mean number of CPUs at a lock, of N CPUs",
        "busy_new": "U_new $U_N$: share of the time that a lock is held, of N CPUs",
        "spinning": r"spin $\mathrm{spin}$: share of the CPUs that waits",
        "work": r"work $\mathrm{work}$: CPUs that compute or hold a lock",
        "knee": "N_knee $N^{*}$: CPUs that would hold one lock all the time",
        "left_free": "p_0: share of constant holds after which nobody waits",
        "busy_constant": "U_c: share of the time that a lock is held, constant holds",
        "chance": r"pi_b $\pi_b$: chance that a queue has a thread of the range of scan b",
        "before": r"pi_a $\pi_{b-1}$: the same for the scan before; 0 for the first",
        "alone": r"rho_b $\rho_b$: chance of a thread in range b, if none is in the narrower one",
        "looks": r"l $\ell_b$: queues that scan b looks at, once it begins",
        "reached": "P_b: chance that scan b begins",
        "load": r"rho $\rho$: share of their time that CPUs are busy",
        "first": "f $f$: share of the load in the first band",
        "all_busy": "C: chance that all CPUs are busy (Erlang's delay formula)",
        "wait": "W [services]: mean wait for a CPU without bands",
        "wait_first": "W_1 [services]: mean wait of the first band",
        "offered": "a: buffers that would be in use if there were always enough",
        "lost": "B_N: chance that all of N buffers are in use (Erlang's loss formula)",
        "lost_before": "B_M $B_{N-1}$: the same of N - 1 buffers; 1 for none",
        "spread": "q: share of the uses that choose among all locks alike",
        "own_share": r"q_own $q_{\mathrm{own}}$: share of the uses of the own lock",
        "number": "n: CPUs counted so far, one of them the CPU that asks",
        "mean": "y: time, or misses, of a CPU, over the locks that it takes",
        "counted": r"y_counted $y_{\mathrm{counted}}$: the same at the lock of another counted CPU",
        "free": r"y_free $y_{\mathrm{free}}$: the same at any other lock",
    }
)

MOST_CPUS = 1000
"""At most this many CPUs: the exact methods take their number squared or cubed."""

STEPS = 64
"""Halvings of an interval that holds a fitted value."""

NEVER = 1e-200
"""A step of a chain that is this much less likely than its counterpart is not taken."""

LARGEST = 2.0**40
"""No think time beyond this many holds is looked for."""

ROUNDS = 200
"""Rounds in which the share of borrowed resources settles."""

EXACT = 1e-12

MOST = 10**6
"""At most this many resources on a CPU's list."""


class Holds(StrEnum):
    """How the times for which a lock is held vary."""

    EXPONENTIAL = "exponential"
    CONSTANT = "constant"


class SpinLocks(NamedTuple):
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


class Contention(DocumentPart):
    """What CPUs that share locks do on average.

    Parameters
    ----------
    misses
        By group of locks: which share of the attempts finds the lock taken.
    spinning
        Which share of the CPUs waits for a lock.
    work
        How many CPUs compute or hold a lock. In a round each of them does so for the think time
        and all hold times; so work divided by these is the number of rounds in a unit of time.
    """

    misses: tuple[float, ...]
    spinning: float
    work: float

    @property
    def miss(self) -> float:
        """The misses of the first group."""
        return self.misses[0]

    @property
    def last_miss(self) -> float:
        """The misses of the last group."""
        return self.misses[-1]


@equation("time at a lock, exponential holds", source=f"{MVA}: the arrival theorem", left="time")
def residence(hold: Any, queued: Any) -> Any:
    """Return the time from asking for a lock to releasing it, its hold time exponential.

    A CPU finds on average the queue that the other CPUs alone would make (arrival theorem).
    """
    return hold * (1 + queued)


@equation(
    "the same for constant holds, approximately",
    source="derived: of the hold in progress half is left",
    left="time",
)
def residence_constant(hold: Any, queued: Any, busy: Any) -> Any:
    """Return the same where every hold takes as long: half of the one in progress is left.

    This is an approximation, exact for a single CPU and near it where locks are seldom taken.
    """
    return hold * (1 + queued - busy / 2)


@equation("uses of N CPUs", source=MVA, left="uses_new")
def throughput(cpus: Any, think: Any, waits: Any) -> Any:
    """Return uses in a unit of time: each CPU computes, takes a lock, and begins anew."""
    return cpus / (think + waits)


@equation("CPUs at each lock", source="Little's law", time="waits")
def queue(uses: Any, time: Any, locks: Any = 1) -> Any:
    """Return the mean number of CPUs at each of several locks alike (Little's law)."""
    return uses * time / locks


@equation("how busy each lock is", source="the utilisation law", left="busy_new")
def busy(uses: Any, hold: Any, locks: Any = 1) -> Any:
    """Return which share of the time each of several locks alike is held (utilisation law)."""
    return uses * hold / locks


@equation("CPUs that wait", source="derived: neither computing nor holding", holds="hold")
def spinning(cpus: Any, think: Any, holds: Any, uses: Any) -> Any:
    """Return which share of the CPUs waits for locks."""
    return 1 - uses * (think + holds) / cpus


@equation("CPUs that do not wait", source="derived", holds="hold")
def work(think: Any, holds: Any, uses: Any) -> Any:
    """Return how many CPUs do work, computing or holding a lock."""
    return uses * (think + holds)


@equation("where one lock saturates", source="derived: asymptotic bounds")
def knee(think: Any, hold: Any) -> Any:
    """Return the number of CPUs at which one lock would be held all the time without waits."""
    return think / hold + 1


@equation(
    "how busy one lock with constant holds is",
    source="derived: a hold, and after a share of them a time until the first CPU comes",
)
def busy_constant(cpus: Any, think: Any, hold: Any, left_free: Any) -> Any:
    """Return which share of the time one lock with constant holds is held.

    A share ``left_free`` of the holds ends with nobody waiting. The lock is then free until the
    first of all CPUs asks, after think/cpus on average.
    """
    return hold / (hold + left_free * think / cpus)


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
    found = misses = queued
    uses = 0.0
    for number in range(1, cpus + 1):
        times = [
            residence(lock.hold, waiting)
            if holds is Holds.EXPONENTIAL
            else residence_constant(lock.hold, waiting, taken)
            for lock, waiting, taken in zip(locks, queued, found, strict=True)
        ]
        uses = throughput(number, think, sum(times))
        # A CPU finds a lock as busy as the others alone keep it.
        misses = found
        found = [busy(uses, lock.hold, lock.copies) for lock in locks]
        queued = [queue(uses, time, lock.copies) for lock, time in zip(locks, times, strict=True)]
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
    held = busy_constant(cpus, think, hold, left_free)
    # Only who comes after the lock was left free finds it so.
    return _found(cpus, think, hold, held / hold, [1 - left_free])


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


@equation("how often the own lock is taken", source="derived: among all locks it is one of N")
def own_share(spread: Any, cpus: Any) -> Any:
    """Return which share of the uses takes the own lock, if a share of them takes any lock."""
    return 1 - spread + spread / cpus


@equation(
    "time or misses of a CPU, over the locks that it takes",
    name="own-lock-first",
    source=f"{MVA}, with a class for each CPU",
    left="mean",
)
def over_locks(spread: Any, cpus: Any, number: Any, counted: Any, free: Any) -> Any:
    """Return the mean over the locks that a CPU takes, with ``number`` CPUs counted so far.

    The network without this CPU has one value at the locks of the other counted CPUs, and one at
    all other locks. Its own lock is one of the latter, as long as it is not there itself.
    """
    others = spread / cpus * ((number - 1) * counted + (cpus - number) * free)
    return own_share(spread, cpus) * free + others


def visits_counted(spread: Any, cpus: Any, number: Any, own: Any, other: Any) -> Any:
    """Return what the counted CPUs bring to the lock of one of them: itself, and the others."""
    return own_share(spread, cpus) * own + (number - 1) * spread / cpus * other


def visits_free(spread: Any, cpus: Any, number: Any, other: Any) -> Any:
    """Return what the counted CPUs bring to the lock of a CPU that is not one of them."""
    return number * spread / cpus * other


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
        at_counted, at_free = (residence(hold, queued) for queued in (counted, free))
        miss = over_locks(*network, busy_counted, busy_free)
        time = over_locks(*network, at_counted, at_free)
        uses = throughput(1, think, time)
        counted = uses * visits_counted(*network, at_free, at_counted)
        free = uses * visits_free(*network, at_free)
        busy_counted = busy(uses, hold) * visits_counted(*network, 1, 1)
        busy_free = busy(uses, hold) * visits_free(*network, 1)
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


def _found(
    cpus: int, think: float, holds: float, uses: float, misses: Sequence[float]
) -> Contention:
    return Contention(
        # A lock that is always held may be rounded to a little more than that.
        misses=tuple(min(1.0, share) for share in misses),
        spinning=max(0.0, spinning(cpus, think, holds, uses)),
        work=work(think, holds, uses),
    )


def _check(cpus: int, think: float, locks: Sequence[SpinLocks]) -> None:
    if not 1 <= cpus <= MOST_CPUS:
        raise ModelError(f"must be from 1 to {MOST_CPUS}, not {cpus}", place="cpus")
    for name, time in (("think", think), *(("hold", lock.hold) for lock in locks)):
        if not (isfinite(time) and time > 0):
            raise ModelError(f"must be more than 0, not {time:g}", place=name)
    if not locks or any(lock.copies < 1 for lock in locks):
        raise ModelError("must be at least one", place="locks")


@equation(
    "what a scan may still find", name="range", source="derived: ranges are nested", left="alone"
)
def chance_beyond(chance: Any, before: Any) -> Any:
    """Return the chance that a queue has work of a range, if it has none of the narrower one."""
    return (chance - before) / (1 - before)


@equation(
    "queues that a scan looks at", source="derived: it ends where it finds one", chance="alone"
)
def looks(chance: Any, cpus: Any) -> Any:
    """Return how many queues a scan looks at, if each has what it seeks with this chance.

    The scan ends at the first that has it. With chance 0 it looks at all of them.
    """
    return (1 - (1 - chance) ** cpus) / chance


@equation("whether a scan begins", source="derived: the one before found nothing", chance="before")
def reached(chance: Any, cpus: Any) -> Any:
    """Return how likely a scan finds nothing in any queue, so that the next one begins."""
    return (1 - chance) ** cpus


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
        begins = reached(before, cpus)
        alone = 0.0 if before == 1 else chance_beyond(chance, before)
        found.append(begins * (looks(alone, cpus) if alone else cpus))
        before = chance
    return tuple(found)


def look_time(slowdown: float, cpus: int) -> float:
    """Return what one look takes, in switches, if a scan in vain slows switches by a factor."""
    return (slowdown - 1) / cpus


@equation(
    "wait for a CPU", name="wait", source="Erlang 1917, first come, first served", left="wait"
)
def wait_in_line(cpus: Any, load: Any, all_busy: Any) -> Any:
    """Return the mean wait for one of several CPUs, in services: first come, first served."""
    return all_busy / (cpus * (1 - load))


@equation(
    "wait of the first of two bands",
    name="wait-first-band",
    source="Cobham 1954",
    left="wait_first",
)
def wait_with_priority(wait: Any, load: Any, first: Any) -> Any:
    """Return the mean wait of the first of two bands (Cobham), from that without bands.

    A share ``first`` of the load is in the first band; nobody is preempted.
    """
    return wait * (1 - load) / (1 - first * load)


@equation(
    "a list of buffers is empty",
    name="loss",
    source="Erlang 1917, by recursion",
    left="lost",
    before="lost_before",
    servers="cpus",
)
def overflow(before: Any, offered: Any, servers: Any) -> Any:
    """Return Erlang's loss formula for ``servers`` servers, from its value for one less."""
    return offered * before / (servers + offered * before)


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
        lost = overflow(lost, offered, number)
    return lost


def all_busy(cpus: int, load: float) -> float:
    """Return how likely all CPUs are busy when a thread becomes ready (Erlang's delay formula)."""
    lost = loss(cpus, cpus * load)
    return lost / (1 - load * (1 - lost))


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
    wait = wait_in_line(cpus, load, all_busy(cpus, load))
    return float((rest + wait_with_priority(wait, load, first)) / (rest + wait))


@dataclass(frozen=True, slots=True)
class Borrowing:
    """How a CPU finds a free resource, in an affinity group or in one pool.

    Parameters
    ----------
    own_empty
        How likely its own part is empty, so that it looks at the others'.
    none
        How likely all parts are empty, as in one pool.
    """

    own_empty: float
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
    low, high = none, 1.0
    for _ in range(ROUNDS):
        # A part serves what its own CPU and the others take from it, on average its share of all.
        middle = (low + high) / 2
        if loss(resources, used * (1 - none) / (1 - middle)) > middle:
            low = middle
        else:
            high = middle
        if high - low < EXACT:
            break
    return Borrowing(own_empty=(low + high) / 2, none=none)
