"""What a proof of a bound within a waiting limit consists of: prices of conditions.

Take one stretch of time, and a schedule within the limit. A *visit* is a maximal run of consecutive
dispatches of one fragment on a CPU. A CPU *holds* a fragment from the start of a visit to it until
the next visit there starts. What it holds first in the stretch counts as held from the beginning.
For each fragment,

- x(t) is the number of CPUs that hold it at time t;
- e(u, v] is the number of visits to it that start later than u and not later than v, without the
  first ones of CPUs.
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
        Rows of the :class:`~dfopt.compare.attainable.arrivals.Arrivals`, each at most once.
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
class TimePrices:
    """Prices of a fragment at points of time.

    Parameters
    ----------
    fragment
        Numbers of fragments.
    time
        The points of time.
    price
        The price for each of them.
    """

    fragment: Integers = field(default_factory=no_times)
    time: Integers = field(default_factory=no_times)
    price: Integers = field(default_factory=no_times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchPrices:
    """The prices of one stretch of time.

    Dispatch j of length p starts no earlier than r and no later than d. If its recorded length is
    0, ``hits`` and ``delays`` have r - 1 in the place of r, and the other conditions ignore it. The
    conditions speak only of dispatches whose r and d lie in the stretch.

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
    held
        x(t) ≥ M: as many dispatches of the fragment have d ≤ t < r + p, so they are running.
    services
        Some CPU runs j once: from a time between r and d on, for its length, beside its blocks.
    """

    begin: int
    end: int
    hits: DispatchPrices = field(default_factory=DispatchPrices)
    delays: DelayPrices = field(default_factory=DelayPrices)
    held: TimePrices = field(default_factory=TimePrices)
    services: DispatchPrices = field(default_factory=DispatchPrices)


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
        ``held`` and ``services`` are empty then, and a limit on the total of the waits holds for
        lengths up to the recorded ones.
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
