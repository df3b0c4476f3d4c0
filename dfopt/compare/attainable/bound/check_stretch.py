"""Check the prices of one stretch of time, and compute what they prove."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.least_costs import LeastCosts
from dfopt.compare.attainable.bound.permitted_starts import PermittedStarts
from dfopt.compare.attainable.bound.proof import StretchPrices, WaitingProof
from dfopt.compare.attainable.bound.proof_errors import LARGEST, FaultyProofError, check_size
from dfopt.compare.attainable.bound.stretch_paths import (
    Blocks,
    PossibleStarts,
    Services,
    StretchPaths,
    stretch_paths,
)
from dfopt.compare.dispatches import Rows
from dfopt.trace.events import Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Covers:
    """Conditions x(begin) + e(begin, end] ≥ count about any fragment, as columns."""

    fragment: Integers
    begin: Integers
    end: Integers
    count: Integers
    price: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchChecker:
    """What the conditions of a proof say about a trace.

    Parameters
    ----------
    arrivals, proof
        The trace and the proof.
    starts
        Between which times dispatches start.
    costs
        What visits cost at least.
    blocks
        For each CPU begin and end of its blocks.
    """

    arrivals: Arrivals
    proof: WaitingProof
    starts: PermittedStarts
    costs: LeastCosts
    blocks: Blocks

    def proven_by(self, stretch: StretchPrices) -> int:
        """Return what the prices of a stretch prove, times the scale of the proof.

        Raises
        ------
        FaultyProofError
            When a condition is not known to hold.
        """
        self._check_stretch(stretch)
        covers = _joined(self._hits(stretch), self._held(stretch))
        rows = self._serviced(stretch)
        if not len(covers.price) and not len(rows):
            return 0
        fragment = self.arrivals.fragment.astype(np.int64)
        fragments = np.unique(np.concatenate([covers.fragment, fragment[rows]]))
        paths = self._paths(stretch, fragments)
        numbers = np.searchsorted(fragments, covers.fragment)
        _check_entries(paths, numbers, covers)
        order = np.argsort(self.starts.earliest[rows], kind="stable")
        services = Services(
            fragment=np.searchsorted(fragments, fragment[rows[order]]),
            earliest=self.starts.earliest[rows[order]],
            latest=self.starts.latest[rows[order]],
            length=self.arrivals.length[rows[order]],
        )
        rewards = stretch.services.price[order]
        cheapest = paths.cheapest(
            numbers, covers.begin, covers.end, covers.price, services, rewards
        )
        required = int((covers.price * covers.count).sum()) + int(rewards.sum())
        return required + sum(path.cpus * path.price for path in cheapest)

    def _check_stretch(self, stretch: StretchPrices) -> None:
        begin, end = stretch.begin, stretch.end
        if not -LARGEST < begin < end < LARGEST:
            raise FaultyProofError("end: must be after begin")
        cuts = self.arrivals.cut_time
        if ((begin < cuts) & (cuts < end)).any():
            raise FaultyProofError("a cut of the recording lies between its begin and its end")
        for table in fields(stretch)[2:]:
            self._check_table(stretch, table.name)
        if not self.proof.uses_lengths:
            for name in ("held", "services"):
                if len(getattr(stretch, name).price):
                    raise FaultyProofError(f"{name}: must be empty, since lengths are not used")

    def _check_table(self, stretch: StretchPrices, name: str) -> None:
        """Refuse rows that name something that does not exist, and prices below 0."""
        table = getattr(stretch, name)
        columns = {column.name: getattr(table, column.name) for column in fields(table)}
        if len({len(column) for column in columns.values()}) > 1:
            raise FaultyProofError(f"{name}: must have columns of one length")
        ranges = {
            "price": (0, LARGEST),
            "dispatch": (0, len(self.arrivals) - 1),
            "time": (stretch.begin, stretch.end - 1),
            "fragment": (0, int(self.arrivals.fragment.max())),
        }
        for column, values in columns.items():
            least, most = ranges[column]
            if ((values < least) | (values > most)).any():
                raise FaultyProofError(f"{name}.{column}: must be from {least} to {most}")
        prices = columns["price"]
        check_size(int(prices.max(initial=0)), len(prices) * 4, f"{name}: the sum of prices")

    def _hits(self, stretch: StretchPrices) -> _Covers:
        """Return the conditions that single dispatches are begun in time."""
        rows, price = stretch.hits.dispatch, stretch.hits.price
        # A dispatch of no length may end at the very time at which it starts.
        begin = self.starts.earliest[rows] - (self.arrivals.length[rows] == 0)
        end = self.starts.latest[rows]
        if (begin < stretch.begin).any() or (end >= stretch.end).any():
            raise FaultyProofError("hits.dispatch: one may start outside the stretch")
        fragment = self.arrivals.fragment[rows].astype(np.int64)
        return _Covers(
            fragment=fragment, begin=begin, end=end, count=np.ones_like(price), price=price
        )

    def _held(self, stretch: StretchPrices) -> _Covers:
        """Return the conditions that dispatches are running."""
        table, starts = stretch.held, self.starts
        ends = starts.earliest + self.arrivals.length
        running = (starts.latest < ends) & (starts.earliest >= stretch.begin)
        count = np.zeros(len(table.price), np.int64)
        for fragment in np.unique(table.fragment).tolist():
            named = table.fragment == fragment
            own = running & (self.arrivals.fragment == fragment)
            begun = np.searchsorted(np.sort(starts.latest[own]), table.time[named], side="right")
            count[named] = begun - np.searchsorted(
                np.sort(ends[own]), table.time[named], side="right"
            )
        if (count == 0).any():
            time = int(table.time[count == 0][0])
            raise FaultyProofError(f"held: nothing of the fragment must run at {time}")
        return _Covers(
            fragment=table.fragment, begin=table.time, end=table.time, count=count,
            price=table.price,
        )  # fmt: skip

    def _serviced(self, stretch: StretchPrices) -> Rows:
        """Return the dispatches that CPUs run as services."""
        rows = stretch.services.dispatch
        starts = self.starts
        if len(np.unique(rows)) < len(rows):
            raise FaultyProofError("services.dispatch: names a dispatch twice")
        if (starts.earliest[rows] < stretch.begin).any() or (
            starts.latest[rows] >= stretch.end
        ).any():
            raise FaultyProofError("services.dispatch: one may start outside the stretch")
        if (self.arrivals.length[rows] == 0).any():
            raise FaultyProofError("services.dispatch: one has no length")
        return np.asarray(rows, np.intp)

    def _paths(self, stretch: StretchPrices, fragments: Integers) -> StretchPaths:
        starts, costs, cuts = self.starts, self.costs, self.arrivals.cut_time
        begin, end = stretch.begin, stretch.end
        # Whether the first dispatch of a CPU in the stretch is its first one of all, or the last.
        is_first = begin <= int(starts.earliest.min()) and not (cuts < end).any()
        is_last = end > int(starts.latest.max()) and not (cuts > begin).any()
        return stretch_paths(
            PossibleStarts(
                fragment=self.arrivals.fragment.astype(np.int64),
                first=starts.earliest,
                last=starts.latest,
                entry=costs.entry,
                leaving=costs.exit,
                opening=costs.first * is_first,
                closing=costs.last * is_last,
            ).within(begin, end),
            fragments,
            (begin, end),
            self.blocks,
            self.proof.scale,
        )


def _check_entries(paths: StretchPaths, fragment: Rows, covers: _Covers) -> None:
    """Refuse prices that reward an entry by more than it costs."""
    for number in np.unique(fragment).tolist():
        own, changes = fragment == number, paths.fragment == number
        begin, end, price = covers.begin[own] + 1, covers.end[own] + 1, covers.price[own]
        # What an entry costs less its rewards, from each time on.
        time = np.concatenate([paths.time[changes], begin, end])
        step = np.concatenate([paths.step[changes], -price, price])
        order = np.argsort(time, kind="stable")
        left = int(paths.entry[number]) + np.cumsum(step[order])
        is_last = np.append(np.diff(time[order]) > 0, True)
        if (left[is_last] < 0).any():
            raise FaultyProofError(
                "the prices of hits around an entry exceed its cost; write the proof anew with the "
                "comparison"
            )


def _joined(*tables: _Covers) -> _Covers:
    return _Covers(
        **{
            column.name: np.concatenate([getattr(table, column.name) for table in tables])
            for column in fields(_Covers)
        }
    )
