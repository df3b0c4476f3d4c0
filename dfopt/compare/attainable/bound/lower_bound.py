"""A lower bound on the cost of all schedules of a trace within a waiting limit, with its proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.check_proof import check_proof
from dfopt.compare.attainable.bound.conditions import STEPS_A_WAIT
from dfopt.compare.attainable.bound.least_costs import least_costs
from dfopt.compare.attainable.bound.permitted_starts import permitted_starts
from dfopt.compare.attainable.bound.proof import (
    DispatchPrices,
    StretchPrices,
    TimePrices,
    WaitingProof,
)
from dfopt.compare.attainable.bound.proof_errors import LARGEST
from dfopt.compare.attainable.bound.start_windows import StartWindows
from dfopt.compare.attainable.bound.stretch_bound import StretchBound
from dfopt.compare.attainable.bound.stretch_paths import PossibleStarts
from dfopt.compare.attainable.bound.stretches import stretch_ends
from dfopt.compare.attainable.bound.timetable import blocks_by_cpu
from dfopt.structs import replace

Prices = TypeVar("Prices", DispatchPrices, TimePrices)

DISPATCHES_A_STRETCH = 3_000
"""A stretch has about this number of dispatches."""

FINEST = 10**12
"""The largest scale of prices."""

LARGEST_SUM = 2**54
"""Prices add up to about this at most."""


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


def lower_bound(arrivals: Arrivals, wait: int, *, uses_lengths: bool) -> WaitingBound:
    """Return a lower bound on the sum of all costs of every schedule within a waiting limit.

    Parameters
    ----------
    arrivals
        The dispatches, at least one.
    wait
        The longest wait that is permitted, see
        :class:`~dfopt.compare.attainable.bound.proof.WaitingProof`.
    uses_lengths
        Whether dispatches are as long as recorded; otherwise the bound holds for any lengths.
    """
    work = stretch_bounds(arrivals, wait, uses_lengths=uses_lengths)
    prices: list[StretchPrices] = []
    for stretch in work:
        prices += stretch.perform()
    return proven_bound(arrivals, wait, work, prices, uses_lengths=uses_lengths)


def stretch_bounds(arrivals: Arrivals, wait: int, *, uses_lengths: bool) -> list[StretchBound]:
    """Return the work of which :func:`lower_bound` consists, in independent pieces.

    See there for the parameters.
    """
    starts = permitted_starts(arrivals, wait, uses_lengths=uses_lengths)
    windows = StartWindows(
        dispatch=np.arange(len(arrivals)),
        fragment=arrivals.fragment,
        first=starts.earliest,
        last=starts.latest,
        length=arrivals.length,
    )
    costs = least_costs(arrivals)
    whole = StretchBound(
        windows=windows,
        starts=PossibleStarts(
            fragment=arrivals.fragment.astype(np.int64),
            first=windows.first,
            last=windows.last,
            entry=costs.entry,
            leaving=costs.exit,
            opening=costs.first,
            closing=costs.last,
        ),
        begin=int(windows.seen_from.min()),
        end=int(windows.last.max()) + 1,
        blocks=blocks_by_cpu(arrivals),
        uses_lengths=uses_lengths,
        step=max(1, wait // STEPS_A_WAIT),
        scale=_scale(len(arrivals), int((costs.entry + costs.exit).max())),
    )
    # Stretches end at all cuts.
    ends = np.concatenate([stretch_ends(windows, DISPATCHES_A_STRETCH), arrivals.cut_time])
    inner = np.unique(ends[(ends > whole.begin) & (ends < whole.end)])
    return _parts(whole, inner.tolist())


def proven_bound(
    arrivals: Arrivals,
    wait: int,
    work: list[StretchBound],
    prices: list[StretchPrices],
    *,
    uses_lengths: bool,
) -> WaitingBound:
    """Return the bound that the prices of all stretches prove."""
    proof = WaitingProof(
        wait=wait,
        uses_lengths=uses_lengths,
        scale=work[0].scale,
        stretches=tuple(sorted(prices, key=lambda stretch: stretch.begin)),
    )
    proof = within_64_bits(proof)
    checked = check_proof(arrivals, proof)
    assert checked.value is not None, checked.problems
    return WaitingBound(value=checked.value, proof=proof)


def within_64_bits(proof: WaitingProof) -> WaitingProof:
    """Return a proof whose prices the checker can add up, on a coarser scale if need be.

    Prices of what runs at certain times have no limit that is known beforehand. To round prices
    down keeps the conditions on what rewards an entry.
    """
    sums = [
        len(table.price) * 4 * int(table.price.max(initial=0))
        for stretch in proof.stretches
        for table in (stretch.hits, stretch.held, stretch.services)
    ]
    largest = max(sums, default=0)
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
                held=coarser(stretch.held),
                services=coarser(stretch.services),
            )
            for stretch in proof.stretches
        ),
    )


def _scale(dispatches: int, most_expensive: int) -> int:
    """Return the scale of the prices: fine enough for prices of a nanosecond.

    The checker refuses prices that could add up to more than 64 bits hold.
    """
    return max(1, min(FINEST, LARGEST_SUM // (dispatches * max(1, most_expensive))))


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
