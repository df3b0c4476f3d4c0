"""The equations of contention for locks, each written once.

All times have one unit.
"""

from __future__ import annotations

from typing import Any

from dfopt_models.formulas import Equations, Quantity

MVA = "mean value analysis (Reiser and Lavenberg 1980)"

equation = Equations(
    {
        "cpus": Quantity("N", "CPUs"),
        "locks": Quantity("L", "locks alike"),
        "think": Quantity("Z", "think time between two uses of a lock", "any unit"),
        "hold": Quantity("S", "time for which a lock is held", "the same"),
        "queued": Quantity("Q", "mean number of CPUs at a lock, of N - 1 CPUs"),
        "busy": Quantity("U", "share of the time that a lock is held, of N - 1 CPUs: its misses"),
        "waits": Quantity("R", "time from asking for a lock to releasing it"),
        "uses": Quantity("X", "uses in a unit of time, of N CPUs"),
        "time": Quantity("R_new", "time from asking for a lock to releasing it", latex="R"),
        "uses_new": Quantity("X_new", "uses in a unit of time, of N CPUs", latex="X"),
        "queue": Quantity("Q_new", "mean number of CPUs at a lock, of N CPUs", latex="Q_N"),
        "busy_new": Quantity(
            "U_new", "share of the time that a lock is held, of N CPUs", latex="U_N"
        ),
        "spinning": Quantity("spin", "share of the CPUs that waits", latex=r"\mathrm{spin}"),
        "work": Quantity("work", "CPUs that compute or hold a lock", latex=r"\mathrm{work}"),
        "knee": Quantity("N_knee", "CPUs that would hold one lock all the time", latex="N^{*}"),
        "left_free": Quantity("p_0", "share of constant holds after which nobody waits"),
        "busy_constant": Quantity("U_c", "share of the time that a lock is held, constant holds"),
        "chance": Quantity(
            "pi_b", "chance that a queue has a thread of the range of scan b", latex=r"\pi_b"
        ),
        "before": Quantity(
            "pi_a", "the same for the scan before; 0 for the first", latex=r"\pi_{b-1}"
        ),
        "alone": Quantity(
            "rho_b",
            "chance of a thread in range b, if none is in the narrower one",
            latex=r"\rho_b",
        ),
        "looks": Quantity("l", "queues that scan b looks at, once it begins", latex=r"\ell_b"),
        "reached": Quantity("P_b", "chance that scan b begins"),
        "load": Quantity("rho", "share of their time that CPUs are busy", latex=r"\rho"),
        "first": Quantity("f", "share of the load in the first band", latex="f"),
        "all_busy": Quantity("C", "chance that all CPUs are busy (Erlang's delay formula)"),
        "wait": Quantity("W", "mean wait for a CPU without bands", "services"),
        "wait_first": Quantity("W_1", "mean wait of the first band", "services"),
        "offered": Quantity("a", "buffers that would be in use if there were always enough"),
        "lost": Quantity("B_N", "chance that all of N buffers are in use (Erlang's loss formula)"),
        "lost_before": Quantity("B_M", "the same of N - 1 buffers; 1 for none", latex="B_{N-1}"),
        "spread": Quantity("q", "share of the uses that choose among all locks alike"),
        "own_share": Quantity(
            "q_own", "share of the uses of the own lock", latex=r"q_{\mathrm{own}}"
        ),
        "number": Quantity("n", "CPUs counted so far, one of them the CPU that asks"),
        "mean": Quantity("y", "time, or misses, of a CPU, over the locks that it takes"),
        "counted": Quantity(
            "y_counted",
            "the same at the lock of another counted CPU",
            latex=r"y_{\mathrm{counted}}",
        ),
        "free": Quantity("y_free", "the same at any other lock", latex=r"y_{\mathrm{free}}"),
    }
)


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


FORMULAS = equation.formulas
