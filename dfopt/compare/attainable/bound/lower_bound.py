"""A lower bound on the cost of all schedules of a trace within a waiting limit, with its proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.check_proof import check_proof
from dfopt.compare.attainable.bound.conditions import STEPS_A_WAIT
from dfopt.compare.attainable.bound.least_costs import least_costs
from dfopt.compare.attainable.bound.linear_program import condition_prices
from dfopt.compare.attainable.bound.permitted_starts import permitted_starts
from dfopt.compare.attainable.bound.proof import (
    DelayPrices,
    DispatchPrices,
    StretchPrices,
    TimePrices,
    WaitingProof,
)
from dfopt.compare.attainable.bound.proof_errors import LARGEST
from dfopt.compare.attainable.bound.start_windows import start_windows
from dfopt.compare.attainable.bound.stretch_bound import StretchBound
from dfopt.compare.attainable.bound.stretch_paths import PossibleStarts
from dfopt.compare.attainable.bound.stretches import stretch_ends
from dfopt.compare.attainable.bound.timetable import blocks_by_cpu
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.trace.events import Integers, no_times

Prices = TypeVar("Prices", DispatchPrices, DelayPrices, TimePrices)

DISPATCHES_A_STRETCH = 3_000
"""A stretch has about this number of dispatches."""

DISPATCHES_WITH_DELAYS = 1_000
"""The same if the total of all waits is limited, where each dispatch has several conditions."""

FINEST = 10**12
"""The largest scale of prices."""

LARGEST_SUM = 2**54
"""Prices add up to about this at most."""

SHARES_OF_MEAN = (1 / 8, 1 / 2, 2, 8, 32)
"""Delays that are told apart if the total of all waits is limited, as multiples of the mean."""

STRETCHES_FOR_PRICE = 3
"""The price of a wait is chosen by the linear programs of this number of stretches."""

DISPATCHES_FOR_PRICE = 300
"""Each of them has about this number of dispatches."""

NEAR = 8
"""If the highest price is at most 8 times the lowest one, the next one is where tangents meet."""

TANGENTS = 6
"""At most this number of prices are tried."""


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
    size = DISPATCHES_WITH_DELAYS if len(delays) else DISPATCHES_A_STRETCH
    return _stretches(whole, due, size, arrivals.cut_time)


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
    proof = within_64_bits(proof)
    checked = check_proof(arrivals, proof)
    assert checked.value is not None, checked.problems
    return WaitingBound(value=checked.value, proof=proof)


def within_64_bits(proof: WaitingProof) -> WaitingProof:
    """Return a proof whose prices the checker can add up, on a coarser scale if need be.

    Prices of what runs at certain times have no limit that is known beforehand. To round prices
    down keeps the conditions on what rewards an entry. The price of waiting is rounded up, since
    it limits the prices of delays.
    """
    sums = [
        len(table.price) * 4 * int(table.price.max(initial=0))
        for stretch in proof.stretches
        for table in (stretch.hits, stretch.delays, stretch.held, stretch.services)
    ]
    largest = max([proof.wait_price * int(proof.delays.max(initial=0)), *sums])
    if largest <= LARGEST:
        return proof
    # Half of what is permitted leaves room for what is rounded up.
    scale = max(1, proof.scale * LARGEST // (2 * largest))

    def coarser(table: Prices) -> Prices:
        # In Python's integers: the products need more than 64 bits.
        prices = [price * scale // proof.scale for price in table.price.tolist()]
        return replace(table, price=np.array(prices, np.int64))

    return replace(
        proof,
        scale=scale,
        stretches=tuple(
            replace(
                stretch,
                hits=coarser(stretch.hits),
                delays=coarser(stretch.delays),
                held=coarser(stretch.held),
                services=coarser(stretch.services),
            )
            for stretch in proof.stretches
        ),
        wait_price=-(-proof.wait_price * scale // proof.scale),
    )


def _scale(dispatches: int, most_expensive: int) -> int:
    """Return the scale of the prices: fine enough for prices of a nanosecond.

    The checker refuses prices that could add up to more than 64 bits hold.
    """
    return max(1, min(FINEST, LARGEST_SUM // (dispatches * max(1, most_expensive))))


def _stretches(whole: StretchBound, due: Integers, size: int, cuts: Integers) -> list[StretchBound]:
    """Return the stretches of a trace, which end at all cuts."""
    ends = np.concatenate([stretch_ends(whole.windows, due, size), cuts])
    inner = np.unique(ends[(ends > whole.begin) & (ends < whole.end)])
    return _parts(whole, inner.tolist())


def _parts(whole: StretchBound, inner: list[int]) -> list[StretchBound]:
    """Return the parts between times; halves first, since parts of shorter ones are faster."""
    if not inner:
        return [whole]
    middle = len(inner) // 2
    time = inner[middle]
    return [
        *_parts(whole.part(whole.begin, time), inner[:middle]),
        *_parts(whole.part(time, whole.end), inner[middle + 1 :]),
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

    The bound is a concave function of the price, and few stretches stand for all of them. Between
    a price that is too low and one that is too high, the next one is where the tangents meet.
    """
    stretches = _stretches(whole, due, DISPATCHES_FOR_PRICE, no_times())
    every = max(1, len(stretches) // STRETCHES_FOR_PRICE)
    sample = stretches[every // 2 :: every][:STRETCHES_FOR_PRICE]
    programs = [stretch.conditions() for stretch in sample]
    # Where nothing is due, nothing has a price.
    programs = [program for program in programs if program[0]]
    # So the sample may wait for its share of the total.
    share = total * min(1.0, sum(map(len, sample)) / len(whole))
    most_expensive = float((whole.starts.entry + whole.starts.leaving).max())

    def tangent(price: float) -> _Tangent:
        value, waits = 0.0, 0.0
        for conditions, slots in programs:
            check()
            answer = condition_prices(conditions, slots, len(whole.blocks), wait_price=price)
            assert answer is not None
            value, waits = value + answer.value, waits + answer.waits
        return _Tangent(price=price, value=value - price * share, slope=waits - share)

    # At the first price everything waits, and at the last one nothing does.
    least = most_expensive / max(1, total)
    low, high = least, least * len(whole)
    below: _Tangent | None = None
    above: _Tangent | None = None
    tried: list[_Tangent] = []
    for _ in range(TANGENTS if programs else 0):
        price = math.sqrt(low * high)
        if below is not None and above is not None and high <= NEAR * low:
            price = below.meets(above)
        tried.append(tangent(price))
        if tried[-1].slope > 0:
            low, below = price, tried[-1]
        else:
            high, above = price, tried[-1]
    price = max(tried, key=lambda own: own.value).price if tried else least
    return replace(whole, wait_price=max(1, round(price * whole.scale)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tangent:
    """The value of a concave function of a price, and its slope."""

    price: float
    value: float
    slope: float

    def meets(self, other: _Tangent) -> float:
        """Return at which price this tangent meets another one."""
        height = other.value - self.value + self.slope * self.price - other.slope * other.price
        return height / (self.slope - other.slope)
