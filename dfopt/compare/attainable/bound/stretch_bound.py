"""The work of finding the prices of one stretch of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dfopt.compare.attainable.bound.conditions import (
    NO_ROW,
    FragmentConditions,
    conditions_of,
)
from dfopt.compare.attainable.bound.entry_costs import FORBIDDEN, slot_costs
from dfopt.compare.attainable.bound.linear_program import (
    FragmentSlots,
    condition_prices,
    points_of,
)
from dfopt.compare.attainable.bound.price_ascent import (
    FoundPrices,
    StretchConditions,
    raised_prices,
)
from dfopt.compare.attainable.bound.proof import (
    DispatchPrices,
    StretchPrices,
    TimePrices,
)
from dfopt.compare.attainable.bound.start_windows import StartWindows
from dfopt.compare.attainable.bound.stretch_paths import (
    Blocks,
    PossibleStarts,
    Services,
    blocks_within,
    stretch_paths,
)
from dfopt.compare.attainable.bound.stretches import stretch_ends
from dfopt.compare.dispatches import Rows
from dfopt.structs import replace
from dfopt.trace.events import Integers

SMALLEST_STRETCH = 200
"""A stretch with fewer dispatches is not divided further."""

MOST_STEPS = 400_000_000
"""After this number of iterations of the solver x rows of its problem, a stretch is divided."""

MOST_STARTS = 40
"""A dispatch has a price as a service if at most this number are ready in its start window."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchBound:
    """The work of finding the prices of one stretch.

    Parameters
    ----------
    windows
        The dispatches that start in the stretch, or later.
    starts
        All that may start in it, and what visits cost.
    begin, end
        The stretch is from ``begin`` to just before ``end``.
    blocks
        For each CPU begin and end of its blocks.
    uses_lengths
        Whether dispatches are as long as recorded.
    step
        As in :func:`~dfopt.compare.attainable.bound.conditions.conditions_of`.
    scale
        As in :class:`~dfopt.compare.attainable.bound.proof.WaitingProof`.
    """

    windows: StartWindows
    starts: PossibleStarts
    begin: int
    end: int
    blocks: Blocks
    uses_lengths: bool
    step: int
    scale: int

    def part(self, begin: int, end: int) -> StretchBound:
        """Return the work on a part of the stretch."""
        windows = self.windows
        inside = np.flatnonzero((windows.seen_from >= begin) & (windows.seen_from < end))
        starts = self.starts.within(begin, end)
        free = np.zeros(len(starts), np.int64)
        return replace(
            self,
            windows=windows.part(inside),
            starts=replace(
                starts,
                opening=starts.opening if begin == self.begin else free,
                closing=starts.closing if end == self.end else free,
            ),
            blocks=blocks_within(self.blocks, begin, end),
            begin=begin,
            end=end,
        )

    def conditions(self) -> tuple[list[FragmentConditions], list[FragmentSlots]]:
        """Return the conditions of each fragment, and what its visits cost."""
        windows, starts = self.windows, self.starts
        conditions, slots = [], []
        # A fragment of which nothing can start in the stretch has no visits that begin there.
        for fragment in np.intersect1d(
            windows.fragment[windows.last < self.end], starts.fragment
        ).tolist():
            own = np.flatnonzero(starts.fragment == fragment)
            inside = np.flatnonzero(windows.fragment == fragment)
            condition = conditions_of(
                fragment,
                windows.part(inside),
                (self.begin, self.end),
                self.step,
                uses_lengths=self.uses_lengths,
            )
            points = points_of(condition, self.begin, self.end)
            conditions.append(condition)
            slots.append(
                FragmentSlots(
                    points=points,
                    entry=slot_costs(
                        points, starts.first[own], starts.last[own], starts.entry[own]
                    ),
                    leaving=int(starts.leaving[own].min()),
                    first=int(starts.opening[own].min()),
                    last=int(starts.closing[own].min()),
                )
            )
        return conditions, slots

    def perform(self) -> tuple[StretchPrices, ...]:
        """Return the prices, of several shorter stretches if the linear program was too hard."""
        windows = self.windows
        known = windows.last < self.end
        count = int(known.sum())
        if not count:
            return ()
        conditions, slots = self.conditions()
        if not conditions:
            return ()
        fragments = np.array([own.fragment for own in conditions])
        priced = condition_prices(
            conditions,
            slots,
            len(self.blocks),
            most_steps=None if count < SMALLEST_STRETCH else MOST_STEPS,
        )
        if priced is None:
            return self._divided(stretch_ends(windows.part(np.flatnonzero(known)), count // 2))
        services = self._services()
        found = raised_prices(
            stretch_paths(self.starts, fragments, (self.begin, self.end), self.blocks, self.scale),
            joined(conditions, slots, self.scale),
            _as_services(windows.part(services), fragments),
            np.concatenate(priced),
            self.scale,
        )
        return (self._stretch_prices(conditions, windows.dispatch[services], found),)

    def _services(self) -> Rows:
        """Return which dispatches have prices as services, ordered by the earliest start."""
        windows = self.windows
        if not self.uses_lengths:
            return np.empty(0, np.intp)
        inside = (windows.first >= self.begin) & (windows.last < self.end) & (windows.length > 0)
        ready = np.sort(windows.first)
        meanwhile = np.searchsorted(ready, windows.last, "right")
        meanwhile -= np.searchsorted(ready, windows.first, "left")
        rows = np.flatnonzero(inside & (meanwhile <= MOST_STARTS))
        return rows[np.argsort(windows.first[rows], kind="stable")]

    def _stretch_prices(
        self, conditions: Sequence[FragmentConditions], services: Rows, found: FoundPrices
    ) -> StretchPrices:
        hits, held = [], []
        ends = np.cumsum([len(own.count) for own in conditions])
        for own, prices in zip(conditions, np.split(found.conditions, ends[:-1]), strict=True):
            priced = prices > 0
            hit = priced & (own.dispatch != NO_ROW)
            hits.append(np.column_stack([own.dispatch, prices])[hit])
            running = priced & (own.dispatch == NO_ROW)
            number = np.full(len(prices), own.fragment)
            held.append(np.column_stack([number, own.begin, prices])[running])
        priced = found.services > 0
        return StretchPrices(
            begin=self.begin,
            end=self.end,
            hits=DispatchPrices(**_columns(hits, "dispatch", "price")),
            held=TimePrices(**_columns(held, "fragment", "time", "price")),
            services=DispatchPrices(dispatch=services[priced], price=found.services[priced]),
        )

    def _divided(self, ends: Integers) -> tuple[StretchPrices, ...]:
        """Return the prices of the parts between some times."""
        inner = [time for time in ends.tolist() if self.begin < time < self.end]
        if not inner:
            return ()  # all begin at once: no price is a proof
        parts = pairwise([self.begin, *inner, self.end])
        return tuple(prices for part in parts for prices in self.part(*part).perform())


def joined(
    conditions: Sequence[FragmentConditions], slots: Sequence[FragmentSlots], scale: int
) -> StretchConditions:
    """Return the conditions of all fragments as columns."""
    first, last, number = [], [], []
    before = 0
    for position, (own, times) in enumerate(zip(conditions, slots, strict=True)):
        first.append(before + np.searchsorted(times.points, own.begin))
        last.append(before + np.searchsorted(times.points, own.end))
        number.append(np.full(len(own.count), position))
        before += len(times.entry)
    entry = np.concatenate([times.entry for times in slots])
    return StretchConditions(
        fragment=np.concatenate(number),
        begin=np.concatenate([own.begin for own in conditions]),
        end=np.concatenate([own.end for own in conditions]),
        count=np.concatenate([own.count for own in conditions]),
        first_slot=np.concatenate(first),
        last_slot=np.concatenate(last),
        entry=np.where(entry < FORBIDDEN, entry * scale, FORBIDDEN),
    )


def _as_services(windows: StartWindows, fragments: Integers) -> Services:
    return Services(
        fragment=np.searchsorted(fragments, windows.fragment),
        earliest=windows.first,
        latest=windows.last,
        length=windows.length,
    )


def _columns(tables: list[Integers], *names: str) -> dict[str, Integers]:
    """Return the columns of tables that stand below each other, by their names."""
    table = np.concatenate([np.empty((0, len(names)), np.int64), *tables])
    return {name: table[:, column].copy() for column, name in enumerate(names)}
