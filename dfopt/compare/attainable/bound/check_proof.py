"""Check a proof of a lower bound within a waiting limit: in integers, and without any solver.

The bound is recomputed from the prices by weak duality. Take any permitted schedule and one
stretch. By each condition of :class:`~dfopt.compare.attainable.bound.proof.StretchPrices`, what the
schedule has of it is at least what it must have; times its price, this can be subtracted from the
cost. What remains is a sum over the visits of the schedule, so it is at least, for each CPU and
each fragment, the cheapest way to hold the fragment at some times and not at others: a shortest
path with two states, *held* and *not held*. Therefore::

    cost ≥ sum of prices x what is required - CPUs x sum of capacity prices
           + CPUs x sum over fragments of the shortest path

for every choice of prices of at least 0. Poor prices make a poor bound, never a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals, Rows
from dfopt.compare.attainable.bound.holdings import (
    FORBIDDEN,
    PointCharges,
    Rate,
    cheapest_holding,
    least_entries,
    point_charges,
    rate_of,
)
from dfopt.compare.attainable.bound.least_costs import LeastCosts, least_costs
from dfopt.compare.attainable.bound.permitted_starts import (
    NEVER,
    PermittedStarts,
    permitted_starts,
)
from dfopt.compare.attainable.bound.proof import (
    CompletionPrices,
    IntervalPrices,
    StretchPrices,
    WaitingProof,
)
from dfopt.trace.events import Integers

LARGEST = 2**59
"""No sum of prices, of times, or of their products may exceed this, so that 64 bits hold it."""

NO_ROWS = np.empty(0, np.intp)
"""The rows of a fragment without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedBound:
    """What a proof was found to prove.

    Parameters
    ----------
    value
        No schedule within the limit costs less; None where the proof is faulty.
    problems
        What is wrong with the proof: at most one sentence for each of its stretches.
    """

    value: int | None
    problems: tuple[str, ...]


class FaultyProof(Exception):
    """A proof uses a condition that does not hold, or that it says nothing about."""


def check_proof(arrivals: Arrivals, proof: WaitingProof) -> CheckedBound:
    """Return the bound that a proof proves, or what is wrong with it."""
    try:
        checker = _Checker.of(arrivals, proof)
    except FaultyProof as fault:
        return CheckedBound(value=None, problems=(str(fault),))
    problems = []
    numerator = 0
    earlier_end = None
    for position, stretch in enumerate(proof.stretches):
        try:
            if earlier_end is not None and stretch.begin < earlier_end:
                raise FaultyProof("begins before the stretch before it has ended")
            earlier_end = stretch.end
            proven = max(0, checker.proven_by(stretch))
        except FaultyProof as fault:
            problems.append(f"stretches[{position}]: {fault}")
            continue
        # Without a limit on the total, the cost in a stretch by itself is a multiple of the unit.
        numerator += proven if proof.wait_price else checker.rounded_up(proven)
    if problems:
        return CheckedBound(value=None, problems=tuple(problems))
    if proof.limit.total is not None:
        numerator = max(0, numerator - proof.wait_price * proof.limit.total)
    value = checker.costs.constant + checker.rounded_up(numerator) // proof.scale
    return CheckedBound(value=value, problems=())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _FragmentDispatches:
    """The dispatches of one fragment, ordered by the earliest start.

    Parameters
    ----------
    earliest, latest, length
        As in :class:`PermittedStarts` and in the arrivals.
    entry
        The cost of an entry by each of them.
    latest_ordered
        The latest starts in increasing order.
    exits
        For each cost of an exit: the earliest and the latest starts of the dispatches with it,
        each in increasing order.
    first, last
        The least of these costs.
    """

    earliest: Integers
    latest: Integers
    length: Integers
    entry: Integers
    latest_ordered: Integers
    exits: dict[int, tuple[Integers, Integers]]
    first: int
    last: int


@dataclass(slots=True, kw_only=True, eq=False)
class _Checker:
    """Everything about a trace that the conditions of one proof need."""

    arrivals: Arrivals
    proof: WaitingProof
    starts: PermittedStarts
    costs: LeastCosts
    fragments: dict[int, _FragmentDispatches]
    cuts: Integers
    first_start: int
    last_start: int

    @classmethod
    def of(cls, arrivals: Arrivals, proof: WaitingProof) -> _Checker:
        """Return a checker of a proof."""
        limit = proof.limit
        if proof.scale < 1:
            raise FaultyProof("scale must be at least 1")
        if min(limit.each or 0, limit.total or 0, proof.wait_price) < 0:
            raise FaultyProof("the limit and wait_price must be at least 0")
        if proof.wait_price and limit.total is None:
            raise FaultyProof("wait_price needs a limit on the total of the waits")
        if len(proof.delays) and (np.diff(proof.delays, prepend=0) <= 0).any():
            raise FaultyProof("delays must be above 0 and increase")
        starts = permitted_starts(arrivals, limit, uses_lengths=proof.uses_lengths)
        costs = least_costs(arrivals)
        columns = (costs.entry, costs.exit, costs.first, costs.last)
        largest = max(int(column.max(initial=0)) for column in columns)
        _check_size(largest, proof.scale, "costs x scale")
        span = int((arrivals.start + arrivals.length).max(initial=0))
        _check_size(span - int(starts.earliest.min(initial=0)), arrivals.cpus, "times x CPUs")
        return cls(
            arrivals=arrivals,
            proof=proof,
            starts=starts,
            costs=costs,
            fragments=_by_fragment(arrivals, starts, costs),
            cuts=np.sort(arrivals.cut_time),
            first_start=int(starts.earliest.min(initial=NEVER)),
            last_start=int(starts.latest.max(initial=-NEVER)),
        )

    def rounded_up(self, numerator: int) -> int:
        """Return a multiple of 1/scale rounded up to what visits can cost."""
        unit = self.costs.unit * self.proof.scale
        return -(-numerator // unit) * unit

    def proven_by(self, stretch: StretchPrices) -> int:
        """Return what the prices of a stretch prove, times the scale."""
        self._check_stretch(stretch)
        covers, required = self._covers(stretch)
        required += self._required_throughout(stretch)
        required += self._required_energy(stretch)
        charges = _charges(stretch)
        required -= self.arrivals.cpus * charges.total
        exits = dict(
            zip(stretch.exits.fragment.tolist(), stretch.exits.price.tolist(), strict=True)
        )
        if len(exits) < len(stretch.exits.fragment):
            raise FaultyProof("exits names a fragment twice")
        rows = _rows_by_fragment(stretch, covers, charges)
        for number in sorted(rows.keys() | exits.keys()):
            dispatches = self.fragments.get(number)
            if dispatches is None:
                raise FaultyProof(f"no dispatch has the fragment {number}")
            exit_price = exits.get(number, 0)
            required -= _unpaid_exits(dispatches, stretch, exit_price, self.proof.scale)
            if number in rows:
                required += self._holdings(stretch, charges, rows[number], dispatches, exit_price)
        return required

    def _check_stretch(self, stretch: StretchPrices) -> None:
        begin, end = stretch.begin, stretch.end
        if not -LARGEST < begin < end < LARGEST:
            raise FaultyProof("must end after it begins")
        inside = np.searchsorted(self.cuts, [begin, end])
        if self.cuts[inside[0] : inside[1]].max(initial=begin) > begin:
            raise FaultyProof("a cut of the recording lies between its begin and its end")
        tables = {part.name: getattr(stretch, part.name) for part in fields(stretch)[2:]}
        for name, table in tables.items():
            for part in fields(table):
                column = getattr(table, part.name)
                where = f"{name}.{part.name}"
                if len(column) != len(getattr(table, fields(table)[0].name)):
                    raise FaultyProof(f"{where} is longer or shorter than the columns beside it")
                if part.name == "price":
                    if (column < 0).any():
                        raise FaultyProof(f"{where} has a price below 0")
                    _check_size(int(column.max(initial=0)), len(column), where)
                elif part.name == "dispatch":
                    _check_within(column, 0, len(self.arrivals) - 1, where)
                elif part.name == "delay":
                    _check_within(column, 0, len(self.proof.delays) - 1, where)
                elif part.name in ("begin", "end", "time"):
                    closed = part.name == "end" and name in ("mandatory", "energy", "periods")
                    _check_within(column, begin, end if closed else end - 1, where)
                elif part.name == "due":
                    _check_within(column, begin, LARGEST, where)
        if not self.proof.uses_lengths:
            for name in ("started", "finished", "mandatory", "energy"):
                if len(getattr(stretch, name).price):
                    raise FaultyProof(f"{name} needs lengths, which the proof does not use")

    def _covers(self, stretch: StretchPrices) -> tuple[_Covers, int]:
        """Return all conditions about holdings and entries, and the sum of prices x k."""
        arrivals, starts = self.arrivals, self.starts
        hits, late, started, finished = (
            stretch.hits,
            stretch.delays,
            stretch.started,
            stretch.finished,
        )
        begin = starts.earliest - (arrivals.length == 0)
        hit_end = starts.latest[hits.dispatch]
        if (hit_end >= stretch.end).any() or (begin[hits.dispatch] < stretch.begin).any():
            raise FaultyProof("hits has a dispatch that may start outside the stretch")
        late_end = self._ends_of_delays(stretch)
        required = int(hits.price.sum()) + int(late.price.sum())
        for fragment, first, last, price in _listed(started):
            lengths = self._lengths(stretch, fragment, first, last, NEVER, "started")
            remaining, width, least = int(lengths.sum()), last - first, 1
            for longest in np.sort(lengths)[::-1][: arrivals.cpus].tolist():
                remaining -= longest
                if remaining <= least * width:
                    break
                least += 1
            required += price * least
        for fragment, first, last, due, price in _listed(finished):
            lengths = self._lengths(stretch, fragment, first, last, due, "finished")
            required += price * ((int(lengths.sum()) - 1) // (due - first) + 1)
        tables = (started, finished)
        return _Covers(
            fragment=np.concatenate(
                [
                    arrivals.fragment[hits.dispatch],
                    arrivals.fragment[late.dispatch],
                    *(table.fragment for table in tables),
                ]
            ).astype(np.int64),
            begin=np.concatenate(
                [begin[hits.dispatch], begin[late.dispatch], *(table.begin for table in tables)]
            ),
            end=np.concatenate([hit_end, late_end, *(table.end for table in tables)]),
            price=np.concatenate([hits.price, late.price, *(table.price for table in tables)]),
        ), required

    def _ends_of_delays(self, stretch: StretchPrices) -> Integers:
        """Return the ends of the conditions about delays, after a check of their prices."""
        late, proof, starts = stretch.delays, self.proof, self.starts
        if not len(late.dispatch):
            return np.empty(0, np.int64)
        delay = proof.delays[late.delay]
        if (delay > starts.slack[late.dispatch]).any():
            raise FaultyProof("delays has a dispatch that may wait less without delaying its task")
        # What a delay saves must not be more than what its wait costs.
        pairs, member = np.unique(
            late.dispatch * len(proof.delays) + late.delay, return_inverse=True
        )
        total = np.zeros(len(pairs), np.int64)
        np.add.at(total, member, late.price)
        steps = np.diff(proof.delays, prepend=0)[pairs % len(proof.delays)]
        _check_size(proof.wait_price, int(steps.max()), "wait_price x delays")
        if (total > proof.wait_price * steps).any():
            raise FaultyProof("delays has a price above wait_price x the time between two delays")
        end: Integers = starts.undelayed[late.dispatch] + delay
        begin = starts.earliest[late.dispatch] - (self.arrivals.length[late.dispatch] == 0)
        if (begin < stretch.begin).any() or (end >= stretch.end).any():
            raise FaultyProof("delays has a dispatch that may start outside the stretch")
        return end

    def _lengths(
        self, stretch: StretchPrices, fragment: int, begin: int, end: int, due: int, name: str
    ) -> Integers:
        """Return the lengths of a fragment's dispatches that start, and end, within some times."""
        _, latest, length = self._selected(stretch, fragment, begin, end)
        lengths: Integers = length[(latest <= end) & (latest <= due - length) & (length > 0)]
        if not len(lengths):
            raise FaultyProof(f"{name} has an interval without a dispatch")
        return lengths

    def _selected(
        self, stretch: StretchPrices, fragment: int, begin: int, end: int
    ) -> tuple[Integers, Integers, Integers]:
        """Return earliest and latest starts and lengths of a fragment's dispatches that start within the stretch, from begin to end."""
        dispatches = self.fragments.get(fragment)
        if dispatches is None:
            raise FaultyProof(f"no dispatch has the fragment {fragment}")
        low, high = np.searchsorted(dispatches.earliest, [max(begin, stretch.begin), end + 1])
        inside = slice(int(low), int(high))
        latest = dispatches.latest[inside]
        member = latest < stretch.end
        return (
            dispatches.earliest[inside][member],
            latest[member],
            dispatches.length[inside][member],
        )

    def _required_throughout(self, stretch: StretchPrices) -> int:
        """Return the sum of price x CPUs that hold a fragment throughout an interval."""
        required = 0
        for fragment, begin, end, price in _listed(stretch.mandatory):
            if begin >= end:
                raise FaultyProof("mandatory has an interval that ends before it begins")
            earliest, latest, length = self._selected(stretch, fragment, stretch.begin, begin)
            runs = (latest <= begin) & (earliest + length >= end)
            required += price * int(np.count_nonzero(runs))
        return required

    def _required_energy(self, stretch: StretchPrices) -> int:
        """Return the sum of price x time for which a fragment must run in an interval."""
        required = 0
        for fragment, begin, end, price in _listed(stretch.energy):
            if begin >= end:
                raise FaultyProof("energy has an interval that ends before it begins")
            earliest, latest, length = self._selected(stretch, fragment, stretch.begin, end)
            # The time in the interval is least where a dispatch starts first or last.
            overlap = np.minimum(length, end - begin)
            overlap = np.minimum(overlap, earliest + length - begin)
            overlap = np.minimum(overlap, end - latest)
            required += price * int(overlap[overlap > 0].sum())
        return required

    def _holdings(
        self,
        stretch: StretchPrices,
        charges: _Charges,
        rows: _FragmentRows,
        dispatches: _FragmentDispatches,
        exit_price: int,
    ) -> int:
        """Return the least that holding a fragment on all CPUs costs, after all prices."""
        scale = self.proof.scale
        covers, throughout = rows.covers, rows.throughout
        times = np.unique(
            np.concatenate(
                [
                    [stretch.begin, stretch.end],
                    *(covers.begin, covers.end, throughout.begin, throughout.end, rows.points),
                ]
            )
        )
        # Between two points of time the same conditions reward each entry. So it is cheapest to
        # enter at the second one, and to give the fragment up just after the first one.
        begin = np.searchsorted(times, covers.begin)
        reward, change = np.zeros((2, len(times)), np.int64)
        np.add.at(reward, begin, covers.price)
        np.add.at(change, np.searchsorted(times, covers.end), covers.price)
        covered = np.cumsum(reward - change)[:-1]
        held = charges.points.between(times)
        held += np.diff(charges.periods.up_to(times) - rows.energy.up_to(times))
        np.subtract.at(held, np.searchsorted(times, throughout.begin), throughout.price)
        startable = np.searchsorted(dispatches.earliest, times[1:], side="right")
        startable -= np.searchsorted(dispatches.latest_ordered, times[:-1], side="right")
        entry = -covered + scale * least_entries(
            times, dispatches.earliest, dispatches.latest, dispatches.entry
        )
        # Where rewards exceed the cost of an entry, each dispatch that can start there may gain.
        gaining = np.flatnonzero((entry < 0) & (startable > 0))
        gain = sum(
            cost * count
            for cost, count in zip(
                entry[gaining].tolist(), startable[gaining].tolist(), strict=True
            )
        )
        path = cheapest_holding(
            at=(charges.points.at(times) - reward).tolist(),
            held=held.tolist(),
            entry=np.where(startable > 0, np.maximum(entry, 0), FORBIDDEN).tolist(),
            exit_price=exit_price,
            first=dispatches.first * scale if self._is_beginning(stretch) else 0,
            last=dispatches.last * scale if self._is_end(stretch) else 0,
        )
        return self.arrivals.cpus * path + gain

    def _is_beginning(self, stretch: StretchPrices) -> bool:
        """Whether the first dispatch of each CPU in a stretch is the CPU's first of all."""
        return stretch.begin <= self.first_start and not (self.cuts < stretch.end).any()

    def _is_end(self, stretch: StretchPrices) -> bool:
        """Whether the last dispatch of each CPU in a stretch is the CPU's last of all."""
        return stretch.end > self.last_start and not (self.cuts > stretch.begin).any()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Covers:
    """Conditions x(u) + e(u, v] ≥ k, as columns."""

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
class _FragmentRows:
    """The conditions about one fragment in a stretch."""

    covers: _Covers
    throughout: IntervalPrices
    energy: Rate
    points: Integers


def _charges(stretch: StretchPrices) -> _Charges:
    times, periods = stretch.times, stretch.periods
    if (periods.begin >= periods.end).any():
        raise FaultyProof("periods has one that ends before it begins")
    total = 0
    for begin, end, price in zip(
        periods.begin.tolist(), periods.end.tolist(), periods.price.tolist(), strict=True
    ):
        total += price * (end - begin)
    _check_size(total, 1, "periods.price x time")
    return _Charges(
        points=point_charges(times.time, times.price),
        periods=rate_of(periods.begin, periods.end, periods.price),
        total=total + int(times.price.sum()),
    )


def _rows_by_fragment(
    stretch: StretchPrices, covers: _Covers, charges: _Charges
) -> dict[int, _FragmentRows]:
    """Return the conditions about each fragment that has any."""
    throughout, energy, points = stretch.mandatory, stretch.energy, stretch.points
    by_cover = _members(covers.fragment)
    by_interval, by_energy = _members(throughout.fragment), _members(energy.fragment)
    by_point = _members(points.fragment)
    rows = {}
    for number in by_cover.keys() | by_interval.keys() | by_energy.keys():
        cover, interval = by_cover.get(number, NO_ROWS), by_interval.get(number, NO_ROWS)
        run = by_energy.get(number, NO_ROWS)
        rate = rate_of(energy.begin[run], energy.end[run], energy.price[run])
        if (rate.rate > charges.periods.at(rate.time)).any() or (
            rate.at(charges.periods.time) > charges.periods.rate
        ).any():
            raise FaultyProof("energy has prices of a fragment above those of periods")
        rows[number] = _FragmentRows(
            covers=_Covers(
                fragment=covers.fragment[cover],
                begin=covers.begin[cover],
                end=covers.end[cover],
                price=covers.price[cover],
            ),
            throughout=IntervalPrices(
                fragment=throughout.fragment[interval],
                begin=throughout.begin[interval],
                end=throughout.end[interval],
                price=throughout.price[interval],
            ),
            energy=rate,
            points=points.time[by_point.get(number, NO_ROWS)],
        )
    return rows


def _members(fragment: Integers) -> dict[int, Rows]:
    """Return the rows of each fragment of a column."""
    order = np.argsort(fragment, kind="stable")
    numbers, begin = np.unique(fragment[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, begin[1:]), strict=True))


def _by_fragment(
    arrivals: Arrivals, starts: PermittedStarts, costs: LeastCosts
) -> dict[int, _FragmentDispatches]:
    fragments = {}
    for number, rows in _members(arrivals.fragment).items():
        own = rows[np.argsort(starts.earliest[rows], kind="stable")]
        earliest, latest, leaving = starts.earliest[own], starts.latest[own], costs.exit[own]
        fragments[number] = _FragmentDispatches(
            earliest=earliest,
            latest=latest,
            length=arrivals.length[own],
            entry=costs.entry[own],
            latest_ordered=np.sort(latest),
            exits={
                cost: (earliest[leaving == cost], np.sort(latest[leaving == cost]))
                for cost in np.unique(leaving).tolist()
            },
            first=int(costs.first[own].min()),
            last=int(costs.last[own].min()),
        )
    return fragments


def _unpaid_exits(
    dispatches: _FragmentDispatches, stretch: StretchPrices, price: int, scale: int
) -> int:
    """Return by how much exits of a fragment's dispatches in a stretch may stay below a price."""
    unpaid = 0
    for cost, (earliest, latest) in dispatches.exits.items():
        if cost * scale < price:
            count = np.searchsorted(earliest, stretch.end) - np.searchsorted(latest, stretch.begin)
            unpaid += (price - cost * scale) * int(count)
    return unpaid


def _listed(table: IntervalPrices | CompletionPrices) -> Iterator[tuple[int, ...]]:
    """Return the rows of a table."""
    columns = (getattr(table, column.name).tolist() for column in fields(table))
    return zip(*columns, strict=True)


def _check_size(factor: int, other: int, name: str) -> None:
    if factor * other > LARGEST:
        raise FaultyProof(f"{name} can exceed 2^59; take a smaller scale")


def _check_within(column: Integers, least: int, most: int, name: str) -> None:
    if ((column < least) | (column > most)).any():
        raise FaultyProof(f"{name} must be from {least} to {most}")
