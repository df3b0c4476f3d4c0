"""A lower bound on the cost of all schedules of a trace within a waiting limit, with its proof.

Bounds of stretches of a trace add up. A dispatch counts in a stretch only if it certainly starts
within it, so the fewer start windows cross the ends of the stretches, the better is the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dfopt.compare.attainable.bound.prices import (
    StretchProgram,
    condition_prices,
    due_in,
    raised_prices,
)
from dfopt.compare.attainable.bound.proof import (
    LARGEST,
    DispatchPrices,
    StretchPrices,
    TimePrices,
    WaitingProof,
    check_proof,
)
from dfopt.compare.attainable.bound.stretches import TraceStretch, whole_stretch
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.structs import replace

DISPATCHES_A_STRETCH = 3_000
"""A stretch has about this number of dispatches."""

SMALLEST_STRETCH = 200
"""A stretch with fewer dispatches is not divided further."""

MOST_STEPS = 2_000_000_000
"""After this number of iterations of the solver x rows of its problem, a stretch is divided."""

MOST_STARTS = 40
"""A dispatch has a price as a service if at most this number are ready in its start window."""

STEPS_A_WAIT = 16
"""A permitted wait is divided into this number of steps, and the ends of intervals are rounded."""

FINEST = 10**12
"""The largest scale of prices."""


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchBound:
    """The work of finding the prices of one stretch.

    Parameters
    ----------
    stretch
        The stretch.
    step
        As in :class:`~dfopt.compare.attainable.bound.prices.StretchProgram`.
    proof
        The proof without the prices.
    effort
        As in :func:`~dfopt.compare.attainable.bound.prices.raised_prices`.
    """

    stretch: TraceStretch
    step: int
    proof: WaitingProof
    effort: float = 1.0

    def perform(self) -> WaitingProof:
        """Return the prices, of several shorter stretches if the linear program was too hard."""
        return replace(self.proof, stretches=self._prices())

    def _prices(self) -> tuple[StretchPrices, ...]:
        stretch = self.stretch
        due = due_in(stretch)
        if not len(due):
            return ()
        uses_lengths = self.proof.uses_lengths
        program = StretchProgram(stretch, self.step, self.proof.scale, uses_lengths=uses_lengths)
        most_steps = None if len(due) < SMALLEST_STRETCH else MOST_STEPS
        priced = condition_prices(program, most_steps)
        if priced is None:
            parts = _parts(stretch, _stretch_ends(stretch, due, len(due) // 2))
            if len(parts) == 1:
                return ()  # all begin at once: no price is a proof
            return tuple(
                prices for part in parts for prices in replace(self, stretch=part)._prices()
            )
        services = self._services(due)
        conditions, hits = program.conditions, len(program.hits)
        scaled = raised_prices(program, services, priced, self.effort).scaled
        prices, rewards = np.split(scaled, [len(conditions)])
        hit, held = np.flatnonzero(prices[:hits]), hits + np.flatnonzero(prices[hits:])
        served = np.flatnonzero(rewards)
        return (
            StretchPrices(
                begin=stretch.begin,
                end=stretch.end,
                hits=DispatchPrices(
                    dispatch=stretch.dispatch[program.hits[hit]], price=prices[hit]
                ),
                held=TimePrices(
                    fragment=program.paths.fragments[conditions["fragment"][held]],
                    time=conditions["begin"][held],
                    price=prices[held],
                ),
                services=DispatchPrices(
                    dispatch=stretch.dispatch[services[served]], price=rewards[served]
                ),
            ),
        )

    def _services(self, due: Rows) -> Rows:
        """Return which dispatches have prices as services, ordered by the earliest start."""
        if not self.proof.uses_lengths:
            return due[:0]
        first, last, length = self.stretch.first, self.stretch.last, self.stretch.length
        ready = np.sort(first)
        rows = due[length[due] > 0]
        meanwhile = np.searchsorted(ready, last[rows], "right")
        meanwhile -= np.searchsorted(ready, first[rows], "left")
        rows = rows[meanwhile <= MOST_STARTS]
        return rows[np.argsort(first[rows], kind="stable")]


def lower_bound(dispatches: Dispatches, wait: int, *, uses_lengths: bool) -> WaitingBound:
    """Return a lower bound on the sum of all costs of every schedule within a waiting limit.

    Parameters
    ----------
    dispatches
        The dispatches, at least one.
    wait
        The longest wait that is permitted, see
        :class:`~dfopt.compare.attainable.bound.proof.WaitingProof`.
    uses_lengths
        Whether dispatches are as long as recorded; otherwise the bound holds for any lengths.
    """
    work = stretch_bounds(dispatches, wait, uses_lengths=uses_lengths)
    return proven_bound(dispatches, [stretch.perform() for stretch in work])


def stretch_bounds(
    dispatches: Dispatches, wait: int, *, uses_lengths: bool, effort: float = 1.0
) -> list[StretchBound]:
    """Return the work of which :func:`lower_bound` consists, in independent pieces.

    See there for the parameters, and :class:`StretchBound` for ``effort``.
    """
    whole = whole_stretch(dispatches, wait, uses_lengths=uses_lengths)
    highest_cost = max(1, int((whole.entry + whole.exit).max()))
    # Fine enough for prices of a nanosecond, if prices of some entries add up within 64 bits.
    proof = WaitingProof(
        wait=wait,
        uses_lengths=uses_lengths,
        as_in_schedules=uses_lengths,
        scale=max(1, min(FINEST, LARGEST // (32 * len(dispatches) * highest_cost))),
        stretches=(),
    )
    ends = _stretch_ends(whole, np.arange(len(dispatches)), DISPATCHES_A_STRETCH)
    return [
        StretchBound(stretch=part, step=max(1, wait // STEPS_A_WAIT), proof=proof, effort=effort)
        # Stretches end at all cuts.
        for part in _parts(whole, [*ends, *dispatches.cuts.time.tolist()])
    ]


def proven_bound(dispatches: Dispatches, proofs: Sequence[WaitingProof]) -> WaitingBound:
    """Return the bound that the prices of all stretches prove; each proof has some of them."""
    prices = [prices for proof in proofs for prices in proof.stretches]
    proof = replace(proofs[0], stretches=tuple(sorted(prices, key=lambda stretch: stretch.begin)))
    checked = check_proof(dispatches, proof)
    assert checked.value is not None, checked.problems
    return WaitingBound(value=checked.value, proof=proof)


def _stretch_ends(stretch: TraceStretch, rows: Rows, size: int) -> list[int]:
    """Return where to divide a stretch into parts with about ``size`` of these dispatches.

    A window is lost if it began before an end and is not over then: the best end of all near the
    place that would make equal parts loses the fewest.
    """
    begin, end = np.sort(stretch.seen_from[rows]), np.sort(stretch.last[rows])
    ends = []
    for number in range(1, len(rows) // size):
        middle = number * len(rows) // (len(rows) // size)
        near = np.unique(begin[middle - size // 4 : middle + size // 4 + 1])
        lost = np.searchsorted(begin, near) - np.searchsorted(end, near)
        ends.append(int(near[lost.argmin()]))
    return ends


def _parts(whole: TraceStretch, ends: list[int]) -> list[TraceStretch]:
    """Return the parts between times."""
    inner = sorted({time for time in ends if whole.begin < time < whole.end})
    return [whole.part(*limits) for limits in pairwise([whole.begin, *inner, whole.end])]
