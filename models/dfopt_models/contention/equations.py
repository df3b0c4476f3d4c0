"""The equations of contention for locks, each written once.

They take plain numbers or SymPy symbols: the other modules give them numbers, and the
documentation prints what they return for symbols. All times have one unit.
"""

from __future__ import annotations

from typing import Any


def residence(hold: Any, queued: Any) -> Any:
    """Return the time from asking for a lock to releasing it, its hold time exponential.

    A CPU finds on average the queue that the other CPUs alone would make (arrival theorem).
    """
    return hold * (1 + queued)


def residence_constant(hold: Any, queued: Any, busy: Any) -> Any:
    """Return the same where every hold takes as long: half of the one in progress is left.

    This is an approximation, exact for a single CPU and near it where locks are seldom taken.
    """
    return hold * (1 + queued - busy / 2)


def throughput(cpus: Any, think: Any, waits: Any) -> Any:
    """Return uses in a unit of time: each CPU computes, takes a lock, and begins anew."""
    return cpus / (think + waits)


def queue(uses: Any, time: Any, locks: Any = 1) -> Any:
    """Return the mean number of CPUs at each of several locks alike (Little's law)."""
    return uses * time / locks


def busy(uses: Any, hold: Any, locks: Any = 1) -> Any:
    """Return which share of the time each of several locks alike is held (utilisation law)."""
    return uses * hold / locks


def spinning(cpus: Any, think: Any, holds: Any, uses: Any) -> Any:
    """Return which share of the CPUs waits for locks."""
    return 1 - uses * (think + holds) / cpus


def work(think: Any, holds: Any, uses: Any) -> Any:
    """Return how many CPUs do work, computing or holding a lock."""
    return uses * (think + holds)


def knee(think: Any, hold: Any) -> Any:
    """Return the number of CPUs at which one lock would be held all the time without waits."""
    return think / hold + 1


def busy_constant(cpus: Any, think: Any, hold: Any, left_free: Any) -> Any:
    """Return which share of the time one lock with constant holds is held.

    A share ``left_free`` of the holds ends with nobody waiting. The lock is then free until the
    first of all CPUs asks, after think/cpus on average.
    """
    return hold / (hold + left_free * think / cpus)


def own_share(spread: Any, cpus: Any) -> Any:
    """Return which share of the uses takes the own lock, if a share of them takes any lock."""
    return 1 - spread + spread / cpus


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


def looks(chance: Any, cpus: Any) -> Any:
    """Return how many queues a scan looks at, if each has what it seeks with this chance.

    The scan ends at the first that has it. With chance 0 it looks at all of them.
    """
    return (1 - (1 - chance) ** cpus) / chance


def reached(chance: Any, cpus: Any) -> Any:
    """Return how likely a scan finds nothing in any queue, so that the next one begins."""
    return (1 - chance) ** cpus


def chance_beyond(chance: Any, before: Any) -> Any:
    """Return the chance that a queue has work of a range, if it has none of the narrower one."""
    return (chance - before) / (1 - before)


def wait_in_line(cpus: Any, load: Any, all_busy: Any) -> Any:
    """Return the mean wait for one of several CPUs, in services: first come, first served."""
    return all_busy / (cpus * (1 - load))


def wait_with_priority(wait: Any, load: Any, first: Any) -> Any:
    """Return the mean wait of the first of two bands (Cobham), from that without bands.

    A share ``first`` of the load is in the first band; nobody is preempted.
    """
    return wait * (1 - load) / (1 - first * load)


def overflow(before: Any, offered: Any, servers: Any) -> Any:
    """Return Erlang's loss formula for ``servers`` servers, from its value for one less."""
    return offered * before / (servers + offered * before)
