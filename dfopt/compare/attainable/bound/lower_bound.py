"""A lower bound on the cost of all schedules of a trace within a waiting limit, with its proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.check_proof import check_proof
from dfopt.compare.attainable.bound.conditions import STEPS_A_WAIT
from dfopt.compare.attainable.bound.least_costs import least_costs
from dfopt.compare.attainable.bound.permitted_starts import permitted_starts
from dfopt.compare.attainable.bound.proof import StretchPrices, WaitingProof
from dfopt.compare.attainable.bound.start_windows import start_windows
from dfopt.compare.attainable.bound.stretch_bound import StretchBound
from dfopt.compare.attainable.bound.stretch_paths import PossibleStarts
from dfopt.compare.attainable.bound.stretches import stretch_ends
from dfopt.compare.attainable.bound.timetable import blocks_by_cpu
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.trace.events import Integers, no_times

DISPATCHES_A_STRETCH = 3_000
"""A stretch has about this number of dispatches."""

FINEST = 10**12
"""The largest scale of prices."""

LARGEST_SUM = 2**54
"""Prices add up to about this at most."""

SHARES_OF_MEAN = (1 / 8, 1 / 2, 2, 8, 32)
"""Delays that are told apart if the total of all waits is limited, as multiples of the mean."""

STRETCHES_FOR_PRICE = 3
"""The price of a wait is chosen by the linear programs of this number of stretches."""

DISPATCHES_FOR_PRICE = 1_000
"""Each of them has about this number of dispatches."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WaitingBound:
    """A lower bound and what proves it.

    Parameters
    ----------
    value
        No schedule within the limit costs less.
    proof
        The prices that prove it.
    """

    value: int
    proof: WaitingProof


def lower_bound(
    arrivals: Arrivals,
    limit: WaitingLimit,
    *,
    uses_lengths: bool,
    check: Callable[[], None] = lambda: None,
) -> WaitingBound:
    """Return a lower bound on the sum of all costs of every schedule within a waiting limit.

    If both single waits and their total are limited, the total is not used.

    Parameters
    ----------
    arrivals
        The dispatches, at least one.
    limit
        The waiting limit.
    uses_lengths
        Whether dispatches are as long as recorded; otherwise the bound holds for any lengths.
    check
        Called between stretches; what it raises ends the work.
    """
    work = stretch_bounds(arrivals, limit, uses_lengths=uses_lengths, check=check)
    prices: list[StretchPrices] = []
    for stretch in work:
        check()
        prices += stretch.perform().prices
    return proven_bound(arrivals, limit, work, prices, uses_lengths=uses_lengths)


def stretch_bounds(
    arrivals: Arrivals,
    limit: WaitingLimit,
    *,
    uses_lengths: bool,
    check: Callable[[], None] = lambda: None,
) -> list[StretchBound]:
    """Return the work of which :func:`lower_bound` consists, in independent pieces.

    See there for the parameters.
    """
    starts = permitted_starts(arrivals, limit, uses_lengths=uses_lengths)
    windows = start_windows(starts, arrivals.fragment, arrivals.length)
    costs = least_costs(arrivals)
    delays = no_times()
    due = windows.last
    if limit.each is None:
        delays = _delays(limit, len(arrivals))
        due = windows.undelayed + delays.max(initial=0) // 4
    whole = StretchBound(
        windows=windows,
        starts=PossibleStarts(
            fragment=arrivals.fragment.astype(np.int64),
            first=windows.first,
            last=windows.last,
            entry=costs.entry,
            leaving=costs.exit,
            opening=costs.first,
            closing=costs.last if limit.each is not None else np.zeros_like(costs.last),
        ),
        begin=int(windows.seen_from.min()),
        end=int(due.max()) + int(delays.max(initial=0)) + 1,
        blocks=blocks_by_cpu(arrivals),
        uses_lengths=uses_lengths and limit.each is not None,
        step=max(1, (limit.each or 0) // STEPS_A_WAIT),
        delays=delays,
        scale=_scale(len(arrivals), int((costs.entry + costs.exit).max())),
        wait_price=0,
    )
    if len(delays):
        assert limit.total is not None
        whole = _with_wait_price(whole, due, limit.total, check)
    return _stretches(whole, due, DISPATCHES_A_STRETCH, arrivals.cut_time)


def proven_bound(
    arrivals: Arrivals,
    limit: WaitingLimit,
    work: list[StretchBound],
    prices: list[StretchPrices],
    *,
    uses_lengths: bool,
) -> WaitingBound:
    """Return the bound that the prices of all stretches prove."""
    proof = WaitingProof(
        limit=limit,
        uses_lengths=uses_lengths,
        scale=work[0].scale,
        stretches=tuple(sorted(prices, key=lambda stretch: stretch.begin)),
        delays=work[0].delays,
        wait_price=work[0].wait_price,
    )
    checked = check_proof(arrivals, proof)
    assert checked.value is not None, checked.problems
    return WaitingBound(value=checked.value, proof=proof)


def _scale(dispatches: int, most_expensive: int) -> int:
    """Return the scale of the prices: fine enough for prices of a nanosecond.

    The checker refuses prices that could add up to more than 64 bits hold.
    """
    return max(1, min(FINEST, LARGEST_SUM // (dispatches * max(1, most_expensive))))


def _stretches(whole: StretchBound, due: Integers, size: int, cuts: Integers) -> list[StretchBound]:
    """Return the stretches of a trace, which end at all cuts."""
    ends = np.concatenate([stretch_ends(whole.windows, due, size), cuts])
    inner = np.unique(ends[(ends > whole.begin) & (ends < whole.end)])
    return [
        whole.part(begin, end) for begin, end in pairwise([whole.begin, *inner.tolist(), whole.end])
    ]


def _delays(limit: WaitingLimit, dispatches: int) -> Integers:
    """Return the delays that are told apart; none if the total of all waits has no limit."""
    if limit.total is None:
        return no_times()
    mean = limit.total / dispatches
    return np.unique([max(1, round(mean * share)) for share in SHARES_OF_MEAN])


def _with_wait_price(
    whole: StretchBound, due: Integers, total: int, check: Callable[[], None]
) -> StretchBound:
    """Return the work with a good price of waits.

    The bound is a concave function of the price. A few stretches stand for all of them.
    """
    size = DISPATCHES_FOR_PRICE
    stretches = _stretches(whole, due, size, no_times())
    sample = stretches[:: max(1, len(stretches) // STRETCHES_FOR_PRICE)]
    # So the sample may wait for its share of the total.
    share = total * min(1.0, sum(map(len, sample)) / len(whole))
    least = max(1, whole.scale * int(whole.starts.entry.max()) // max(1, total))

    def value(power: int) -> float:
        price = least << power
        values = []
        for stretch in sample:
            check()
            values.append(replace(stretch, wait_price=price).perform().value)
        return sum(values) - price / whole.scale * share

    low, high = 0, len(whole).bit_length()
    while low < high:
        middle = (low + high) // 2
        if value(middle) < value(middle + 1):
            low = middle + 1
        else:
            high = middle
    return replace(whole, wait_price=least << low)
