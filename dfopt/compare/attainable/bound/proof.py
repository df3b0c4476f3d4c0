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
    0, ``hits`` has r - 1 in the place of r, and the other conditions ignore it. The conditions
    speak only of dispatches whose r and d lie in the stretch.

    Parameters
    ----------
    begin, end
        The stretch is from ``begin`` to just before ``end``. No cut of the recording lies strictly
        between them.
    hits
        x(r) + e(r, d] ≥ 1 for the fragment of dispatch j.
    held
        x(t) ≥ M: as many dispatches of the fragment have d ≤ t < r + p, so they are running.
    services
        Some CPU runs j once: from a time between r and d on, for its length, beside its blocks.
    """

    begin: int
    end: int
    hits: DispatchPrices = field(default_factory=DispatchPrices)
    held: TimePrices = field(default_factory=TimePrices)
    services: DispatchPrices = field(default_factory=DispatchPrices)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WaitingProof:
    """Prices that prove a lower bound on the cost of every schedule within a waiting limit.

    Parameters
    ----------
    wait
        No dispatch starts more than this after it was ready in the recording, or else later than it
        started there.
    uses_lengths
        Whether dispatches are as long as recorded. Otherwise they may have any length above 0, and
        ``held`` and ``services`` are empty.
    scale
        All prices are multiples of 1/scale of a unit of cost.
    stretches
        Disjoint stretches, ordered by time. Their bounds add up.
    """

    wait: int
    uses_lengths: bool
    scale: int
    stretches: tuple[StretchPrices, ...]
