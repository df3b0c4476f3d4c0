"""What proves a lower bound on the cost of all schedules of a trace within a waiting limit.

A proof is a list of prices. Each price belongs to a condition that all permitted schedules meet, so
it is a solution of the dual of a linear program (LP). Any integer prices of at least 0 prove a
bound; good ones prove the value of the LP. :mod:`dfopt.compare.attainable.bound.check_proof`
computes the bound from the prices and from nothing else.

The conditions are about *visits*. A visit is a longest run of consecutive dispatches of one
fragment on a CPU. All is told for one stretch of time ``[begin, end)`` and for those dispatches
only that start within it: the first of them on a CPU begins the CPU's *first* visit, which is
free, and each later visit pays an *entry*. At time t a CPU *holds* the fragment of its latest
visit that began by t, or of its first visit if none began yet. So there are

- ``x(t)``, the number of CPUs that hold a fragment at time t;
- ``e(u, v]``, the number of its entries at times later than u and not later than v.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.trace.events import Integers, no_times


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DispatchPrices:
    """Prices of single dispatches.

    Parameters
    ----------
    dispatch
        Rows of the :class:`~dfopt.compare.attainable.arrivals.Arrivals`.
    price
        The price for each of them.
    """

    dispatch: Integers = field(default_factory=no_times)
    price: Integers = field(default_factory=no_times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DelayPrices:
    """Prices of dispatches that start late by more than some time.

    Parameters
    ----------
    dispatch
        Rows of the arrivals.
    delay
        The times, as indices into :attr:`WaitingProof.delays`.
    price
        The price for each of them.
    """

    dispatch: Integers = field(default_factory=no_times)
    delay: Integers = field(default_factory=no_times)
    price: Integers = field(default_factory=no_times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalPrices:
    """Prices of a fragment in intervals of time.

    Parameters
    ----------
    fragment
        Numbers of fragments.
    begin, end
        The intervals.
    price
        The price for each of them.
    """

    fragment: Integers = field(default_factory=no_times)
    begin: Integers = field(default_factory=no_times)
    end: Integers = field(default_factory=no_times)
    price: Integers = field(default_factory=no_times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompletionPrices:
    """Prices of a fragment in intervals of time, where its dispatches also end by some time.

    Parameters
    ----------
    fragment, begin, end, price
        As in :class:`IntervalPrices`.
    due
        When the dispatches have ended at the latest.
    """

    fragment: Integers = field(default_factory=no_times)
    begin: Integers = field(default_factory=no_times)
    end: Integers = field(default_factory=no_times)
    due: Integers = field(default_factory=no_times)
    price: Integers = field(default_factory=no_times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimePrices:
    """Prices of a CPU at points of time.

    Parameters
    ----------
    time
        The points of time.
    price
        What holding a fragment at that time is charged.
    """

    time: Integers = field(default_factory=no_times)
    price: Integers = field(default_factory=no_times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PeriodPrices:
    """Prices of a CPU in periods of time.

    Parameters
    ----------
    begin, end
        The periods, from ``begin`` to just before ``end``. Where two overlap, both prices count.
    price
        What holding a fragment is charged in the period, for each unit of time.
    """

    begin: Integers = field(default_factory=no_times)
    end: Integers = field(default_factory=no_times)
    price: Integers = field(default_factory=no_times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FragmentPrices:
    """Prices of fragments.

    Parameters
    ----------
    fragment
        Numbers of fragments, each at most once.
    price
        The price for each of them.
    """

    fragment: Integers = field(default_factory=no_times)
    price: Integers = field(default_factory=no_times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FragmentTimes:
    """Points of time at which holdings of a fragment are looked at, beside those of its prices.

    Parameters
    ----------
    fragment
        Numbers of fragments.
    time
        The points of time.
    """

    fragment: Integers = field(default_factory=no_times)
    time: Integers = field(default_factory=no_times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchPrices:
    """The prices of one stretch of time.

    Dispatch j of length p starts no earlier than r and no later than d. If its recorded length is
    0, ``hits`` and ``delays`` have r - 1 in the place of r, and the other conditions ignore it. The
    conditions speak only of dispatches whose r and d lie in the stretch; "the fragment's
    dispatches" are these. All times must lie in the stretch; only the ``end`` of intervals of
    ``mandatory``, ``energy`` and ``periods`` may be the end of the stretch, and ``due`` may be
    later.

    Parameters
    ----------
    begin, end
        The stretch is from ``begin`` to just before ``end``. No cut of the recording lies strictly
        between them.
    hits
        x(r) + e(r, d] ≥ 1 for the fragment of dispatch j.
    delays
        x(r) + e(r, f + δ] ≥ 1 - [j starts after f + δ], where f is ``ready_by``, or the end of what
        a preempted burst did before if it is later. Only where j may wait for δ without delaying
        the task's next dispatch, and only if the total of all waits is limited.
    started
        x(u) + e(u, v] ≥ k: the fragment's dispatches with u ≤ r and d ≤ v cannot be begun by fewer
        than k CPUs, since sum p - (the k - 1 longest p) > (k - 1)(v - u). The largest such k
        counts.
    finished
        x(u) + e(u, v] ≥ k: those with u ≤ r, d ≤ v and d + p ≤ due cannot be done by fewer than k
        CPUs, since sum p > (k - 1)(due - u). The largest such k counts.
    mandatory
        At least M CPUs hold the fragment throughout ``[begin, end)``: M dispatches have d ≤ begin
        and r + p ≥ end, so all of them are running.
    energy
        The integral of x over ``[begin, end)`` is at least the least time for which the fragment's
        dispatches must run there. The price is one for each unit of time.
    times
        The sum of x(t) over all fragments is at most the number of CPUs.
    periods
        The same, for each unit of a period. At no time may the energy prices of a fragment
        exceed it.
    exits
        At least (the number of visits that are followed by another one) - (the number of
        dispatches after which nothing is paid) of a fragment's visits pay their exit. At any price:
        a dispatch whose exit is less than the price counts for the difference.
    points
        More points of time for single fragments. They never make a bound invalid.
    """

    begin: int
    end: int
    hits: DispatchPrices = field(default_factory=DispatchPrices)
    delays: DelayPrices = field(default_factory=DelayPrices)
    started: IntervalPrices = field(default_factory=IntervalPrices)
    finished: CompletionPrices = field(default_factory=CompletionPrices)
    mandatory: IntervalPrices = field(default_factory=IntervalPrices)
    energy: IntervalPrices = field(default_factory=IntervalPrices)
    times: TimePrices = field(default_factory=TimePrices)
    periods: PeriodPrices = field(default_factory=PeriodPrices)
    exits: FragmentPrices = field(default_factory=FragmentPrices)
    points: FragmentTimes = field(default_factory=FragmentTimes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WaitingProof:
    """Prices that prove a lower bound on the cost of every schedule within a waiting limit.

    Parameters
    ----------
    limit
        The waiting limit. ``long`` and ``most_long`` are not used: a bound without them is valid
        with them.
    uses_lengths
        Whether dispatches are as long as recorded. Otherwise they may have any length above 0;
        ``started``, ``finished``, ``mandatory`` and ``energy`` are empty then, and a limit on the
        total of the waits holds for lengths up to the recorded ones.
    scale
        All prices are multiples of 1/scale of a unit of cost.
    stretches
        Disjoint stretches, ordered by time. Their bounds add up.
    delays
        Increasing times δ > 0, in the trace's unit of time.
    wait_price
        The price of each unit of time that something waits, if the total of the waits is limited.
    """

    limit: WaitingLimit
    uses_lengths: bool
    scale: int
    stretches: tuple[StretchPrices, ...]
    delays: Integers = field(default_factory=no_times)
    wait_price: int = 0
