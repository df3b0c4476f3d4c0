"""Check the prices of one stretch of time, and compute what they prove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.fragment_dispatches import (
    FragmentDispatches,
    rows_by_number,
)
from dfopt.compare.attainable.bound.holdings import (
    HoldingCosts,
    PointCharges,
    Rate,
    cheapest_holding,
    least_entries,
    point_charges,
    rate_of,
)
from dfopt.compare.attainable.bound.least_costs import LeastCosts
from dfopt.compare.attainable.bound.permitted_starts import PermittedStarts
from dfopt.compare.attainable.bound.proof import (
    CompletionPrices,
    IntervalPrices,
    StretchPrices,
    WaitingProof,
)
from dfopt.compare.attainable.bound.proof_errors import LARGEST, FaultyProofError, check_size
from dfopt.trace.events import Integers

FORBIDDEN = 2**62
"""The cost of an entry where no dispatch can start."""

NO_ROWS = np.empty(0, np.intp)
"""The rows of a fragment without any."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Covers:
    """Conditions x(u) + e(u, v] ≥ k about any fragment, as columns."""

    fragment: Integers
    begin: Integers
    end: Integers
    price: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Charges:
    """What holding any fragment is charged in a stretch, and the sum of it."""

    points: PointCharges
    periods: Rate
    total: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchChecker:
    """What the conditions of a proof say about a trace.

    Parameters
    ----------
    arrivals, proof
        The trace and the proof.
    starts
        Between which times dispatches start.
    seen_from
        Their earliest starts, and one unit of time before for those of no length: these may end at
        the very time at which they start.
    costs
        What visits cost at least.
    fragments
        The dispatches of each fragment.
    cuts
        The times of cuts of the recording.
    first_start, last_start
        When the first dispatch starts at the earliest, and the last one at the latest.
    """

    arrivals: Arrivals
    proof: WaitingProof
    starts: PermittedStarts
    seen_from: Integers
    costs: LeastCosts
    fragments: dict[int, FragmentDispatches]
    cuts: Integers
    first_start: int
    last_start: int

    def proven_by(self, stretch: StretchPrices) -> int:
        """Return what the prices of a stretch prove, times the scale of the proof.

        Raises
        ------
        FaultyProofError
            When a condition is not known to hold.
        """
        self._check_stretch(stretch)
        hits, delays = self._hits(stretch), self._delays(stretch)
        charges = _charges(stretch)
        proven = int(hits.price.sum()) + int(delays.price.sum())
        proven += self._required_of_started(stretch) + self._required_of_finished(stretch)
        proven += self._required_throughout(stretch) + self._required_energy(stretch)
        proven -= self.arrivals.cpus * charges.total
        exits = dict(
            zip(stretch.exits.fragment.tolist(), stretch.exits.price.tolist(), strict=True)
        )
        if len(exits) < len(stretch.exits.fragment):
            raise FaultyProofError("exits: names a fragment twice")
        for number, price in exits.items():
            proven -= self._dispatches(number, "exits").unpaid_exits(
                stretch.begin, stretch.end, price, self.proof.scale
            )
        covers = _joined(hits, delays, stretch.started, stretch.finished)
        proven += self._holdings(stretch, covers, charges, exits)
        return proven

    def _check_stretch(self, stretch: StretchPrices) -> None:
        begin, end = stretch.begin, stretch.end
        if not -LARGEST < begin < end < LARGEST:
            raise FaultyProofError("end: must be after begin")
        if ((begin < self.cuts) & (self.cuts < end)).any():
            raise FaultyProofError("a cut of the recording lies between its begin and its end")
        for table in fields(stretch)[2:]:
            self._check_table(stretch, table.name)
        if not self.proof.uses_lengths:
            for name in ("started", "finished", "mandatory", "energy"):
                if len(getattr(stretch, name).price):
                    raise FaultyProofError(f"{name}: must be empty, since lengths are not used")

    def _check_table(self, stretch: StretchPrices, name: str) -> None:
        """Refuse rows that name something that does not exist, and prices below 0."""
        table = getattr(stretch, name)
        columns = {column.name: getattr(table, column.name) for column in fields(table)}
        if len({len(column) for column in columns.values()}) > 1:
            raise FaultyProofError(f"{name}: must have columns of one length")
        # What is held throughout an interval may be held until the stretch ends.
        closed = name in ("mandatory", "energy", "periods")
        ranges = {
            "price": (0, LARGEST),
            "dispatch": (0, len(self.arrivals) - 1),
            "delay": (0, len(self.proof.delays) - 1),
            "begin": (stretch.begin, stretch.end - 1),
            "time": (stretch.begin, stretch.end - 1),
            "end": (stretch.begin, stretch.end - 1 + closed),
            "due": (stretch.begin, LARGEST),
        }
        for column, values in columns.items():
            least, most = ranges.get(column, (-LARGEST, LARGEST))
            if ((values < least) | (values > most)).any():
                raise FaultyProofError(f"{name}.{column}: must be from {least} to {most}")
        if closed and (columns["begin"] >= columns["end"]).any():
            raise FaultyProofError(f"{name}.end: must be after begin")
        if "price" in columns:
            prices = columns["price"]
            check_size(int(prices.max(initial=0)), len(prices), f"{name}: the sum of prices")

    def _dispatches(self, fragment: int, name: str) -> FragmentDispatches:
        dispatches = self.fragments.get(fragment)
        if dispatches is None:
            raise FaultyProofError(f"{name}.fragment: no dispatch has the fragment {fragment}")
        return dispatches

    def _hits(self, stretch: StretchPrices) -> _Covers:
        """Return the conditions that single dispatches are begun in time."""
        rows = stretch.hits.dispatch
        return self._begun(stretch, "hits", rows, self.starts.latest[rows], stretch.hits.price)

    def _delays(self, stretch: StretchPrices) -> _Covers:
        """Return the conditions that dispatches are begun in time or wait longer."""
        table, proof, starts = stretch.delays, self.proof, self.starts
        rows, steps = table.dispatch, np.diff(proof.delays, prepend=0)
        delay = proof.delays[table.delay]
        if (delay > starts.slack[rows]).any():
            raise FaultyProofError(
                "delays.delay: a dispatch that waits that long may delay the next one of its task"
            )
        if len(rows):
            check_size(proof.wait_price, int(steps.max()), "wait_price x delays")
            # A delay that is named twice must not be paid twice.
            named, member = np.unique(rows * len(steps) + table.delay, return_inverse=True)
            sums = np.zeros(len(named), np.int64)
            np.add.at(sums, member, table.price)
            if (sums > proof.wait_price * steps[named % len(steps)]).any():
                raise FaultyProofError(
                    "delays.price: must be at most wait_price x (the delay - the delay before it)"
                )
        return self._begun(stretch, "delays", rows, starts.undelayed[rows] + delay, table.price)

    def _begun(
        self, stretch: StretchPrices, name: str, rows: Integers, end: Integers, price: Integers
    ) -> _Covers:
        begin = self.seen_from[rows]
        if (begin < stretch.begin).any() or (end >= stretch.end).any():
            raise FaultyProofError(f"{name}.dispatch: one may start outside the stretch")
        fragment = self.arrivals.fragment[rows].astype(np.int64)
        return _Covers(fragment=fragment, begin=begin, end=end, price=price)

    def _required_of_started(self, stretch: StretchPrices) -> int:
        """Return the sum of price x CPUs that must begin dispatches in intervals."""
        required = 0
        for fragment, begin, end, price in _listed(stretch.started):
            _, latest, length = self._dispatches(fragment, "started").within(
                begin, end, stretch.end
            )
            lengths = length[latest <= end]
            if not len(lengths):
                raise FaultyProofError(f"started: nothing must start from {begin} to {end}")
            # Each CPU but for its last dispatch is busy within the interval.
            remaining, least = int(lengths.sum()), 1
            for longest in np.sort(lengths)[::-1][: self.arrivals.cpus].tolist():
                remaining -= longest
                if remaining <= least * (end - begin):
                    break
                least += 1
            required += price * least
        return required

    def _required_of_finished(self, stretch: StretchPrices) -> int:
        """Return the sum of price x CPUs that must do dispatches in intervals."""
        required = 0
        for fragment, begin, end, due, price in _listed(stretch.finished):
            _, latest, length = self._dispatches(fragment, "finished").within(
                begin, end, stretch.end
            )
            total = int(length[(latest <= end) & (latest + length <= due)].sum())
            if not total:
                raise FaultyProofError(f"finished: nothing must run from {begin} to {due}")
            required += price * -(-total // (due - begin))
        return required

    def _required_throughout(self, stretch: StretchPrices) -> int:
        """Return the sum of price x CPUs that must hold a fragment throughout intervals."""
        required = 0
        for fragment, begin, end, price in _listed(stretch.mandatory):
            earliest, latest, length = self._dispatches(fragment, "mandatory").within(
                stretch.begin, begin, stretch.end
            )
            running = (latest <= begin) & (earliest + length >= end)
            required += price * int(np.count_nonzero(running))
        return required

    def _required_energy(self, stretch: StretchPrices) -> int:
        """Return the sum of price x time for which a fragment must run in intervals."""
        required = 0
        for fragment, begin, end, price in _listed(stretch.energy):
            earliest, latest, length = self._dispatches(fragment, "energy").within(
                stretch.begin, end, stretch.end
            )
            # The overlap with the interval is least at the earliest or at the latest start.
            overlap = np.minimum(length, end - begin)
            overlap = np.minimum(overlap, earliest + length - begin)
            overlap = np.minimum(overlap, end - latest)
            required += price * int(overlap[overlap > 0].sum())
        return required

    def _holdings(
        self, stretch: StretchPrices, covers: _Covers, charges: _Charges, exits: dict[int, int]
    ) -> int:
        """Return the least that all holdings cost after all prices."""
        least = 0
        for number, rewards in _rewards_by_fragment(stretch, covers).items():
            if rewards.energy.exceeds(charges.periods):
                raise FaultyProofError("energy.price: must be at most that of periods at all times")
            dispatches = self._dispatches(number, "points")
            entry, gain = self._entry_costs(rewards, dispatches)
            held = charges.points.between(rewards.times)
            held += np.diff(
                charges.periods.up_to(rewards.times) - rewards.energy.up_to(rewards.times)
            )
            costs = HoldingCosts(
                at=(charges.points.at(rewards.times) - rewards.seen).tolist(),
                held=(held - rewards.throughout).tolist(),
                entry=entry.tolist(),
                exit=exits.get(number, 0),
                first=dispatches.first * self.proof.scale if self._is_first(stretch) else 0,
                last=dispatches.last * self.proof.scale if self._is_last(stretch) else 0,
            )
            least += self.arrivals.cpus * cheapest_holding(costs) + gain
        return least

    def _entry_costs(
        self, rewards: _Rewards, dispatches: FragmentDispatches
    ) -> tuple[Integers, int]:
        """Return the least cost of an entry in each slot, and what entries below 0 may gain.

        A slot has a gain for each dispatch that can start there, and the others cost at least 0.
        """
        startable = dispatches.startable(rewards.times)
        entry = -rewards.entered + self.proof.scale * least_entries(
            rewards.times, dispatches.earliest, dispatches.latest, dispatches.entry
        )
        gaining = np.flatnonzero((entry < 0) & (startable > 0))
        gains = zip(entry[gaining].tolist(), startable[gaining].tolist(), strict=True)
        gain = sum(cost * count for cost, count in gains)
        return np.where(startable > 0, np.maximum(entry, 0), FORBIDDEN), gain

    def _is_first(self, stretch: StretchPrices) -> bool:
        """Whether the first dispatch of a CPU in a stretch is its first one of all."""
        return stretch.begin <= self.first_start and not (self.cuts < stretch.end).any()

    def _is_last(self, stretch: StretchPrices) -> bool:
        """Whether the last dispatch of a CPU in a stretch is its last one of all."""
        return stretch.end > self.last_start and not (self.cuts > stretch.begin).any()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rewards:
    """What a holding of one fragment is rewarded for.

    Parameters
    ----------
    times
        The stretch's begin and end, and what lies between them: the ends of all conditions.
    seen
        For each time, the reward of holding the fragment then.
    entered, throughout
        For the slot between each time and the next, the reward of an entry later than the first and
        not later than the second, and of holding it throughout.
    energy
        The reward of holding it, for each unit of time.
    """

    times: Integers
    seen: Integers
    entered: Integers
    throughout: Integers
    energy: Rate


def _rewards_by_fragment(stretch: StretchPrices, covers: _Covers) -> dict[int, _Rewards]:
    """Return the rewards of each fragment that has any."""
    mandatory, energy, points = stretch.mandatory, stretch.energy, stretch.points
    cover_rows, interval_rows, energy_rows, point_rows = (
        rows_by_number(table.fragment) for table in (covers, mandatory, energy, points)
    )
    rewards = {}
    for number in sorted(cover_rows.keys() | interval_rows.keys() | energy_rows.keys()):
        cover, interval = cover_rows.get(number, NO_ROWS), interval_rows.get(number, NO_ROWS)
        run = energy_rows.get(number, NO_ROWS)
        times = np.unique(
            np.concatenate(
                [
                    [stretch.begin, stretch.end],
                    *(covers.begin[cover], covers.end[cover]),
                    *(mandatory.begin[interval], mandatory.end[interval]),
                    points.time[point_rows.get(number, NO_ROWS)],
                ]
            )
        )
        seen, over, held = np.zeros((3, len(times)), np.int64)
        np.add.at(seen, np.searchsorted(times, covers.begin[cover]), covers.price[cover])
        np.add.at(over, np.searchsorted(times, covers.end[cover]), covers.price[cover])
        begin = np.searchsorted(times, mandatory.begin[interval])
        # What holds throughout an interval holds in its first slot.
        np.add.at(held, begin, mandatory.price[interval])
        rewards[number] = _Rewards(
            times=times,
            seen=seen,
            entered=np.cumsum(seen - over)[:-1],
            throughout=held[:-1],
            energy=rate_of(energy.begin[run], energy.end[run], energy.price[run]),
        )
    return rewards


def _joined(*tables: _Covers | IntervalPrices | CompletionPrices) -> _Covers:
    return _Covers(
        fragment=np.concatenate([table.fragment for table in tables]),
        begin=np.concatenate([table.begin for table in tables]),
        end=np.concatenate([table.end for table in tables]),
        price=np.concatenate([table.price for table in tables]),
    )


def _charges(stretch: StretchPrices) -> _Charges:
    """Return what capacity is charged."""
    times, periods = stretch.times, stretch.periods
    lengths = (periods.end - periods.begin).tolist()
    total = sum(
        price * length for price, length in zip(periods.price.tolist(), lengths, strict=True)
    )
    check_size(total, 1, "periods: the sum of price x time")
    return _Charges(
        points=point_charges(times.time, times.price),
        periods=rate_of(periods.begin, periods.end, periods.price),
        total=total + int(times.price.sum()),
    )


def _listed(table: IntervalPrices | CompletionPrices) -> Iterator[tuple[int, ...]]:
    """Return the rows of a table."""
    return zip(*(getattr(table, column.name).tolist() for column in fields(table)), strict=True)
