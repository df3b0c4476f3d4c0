"""The linear program of a tour: how often each arc is used, with the cuts found so far.

Each node is left and entered as often as it is visited: the assignment relaxation. Cuts that its
solution violates are added, and arcs that would make it cheaper, until there are neither. Its dual
values bound all tours, see :mod:`~dfopt.solvers.tour.proof`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dfopt.solvers.branch_and_price.linear_program import TOLERANCE, LinearProgram
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.tour.problem import START, Flags, Floats, Integers, TourProblem
from dfopt.structs import replace

FIRST_ARCS = 6
"""The program begins with the 6 cheapest arcs from each node, and to it."""

MOST_ARCS = 300
"""At most this number of arcs are added at once."""

SLOW = 0.02
"""Rounds of cuts that raise the bound by less than this share of what is missing are slow."""

SLOW_ROUNDS = 4
"""After 4 slow rounds one after the other the search branches."""

Arc = tuple[int, int]
"""The nodes at its ends."""

Ranges = Mapping[Arc, tuple[int, int]]
"""The least and the largest number of times that some arcs are used."""


@dataclass(frozen=True, slots=True, eq=False)
class ArcPrices:
    """Dual values: what leaving and entering each node costs, and what crossing each cut costs."""

    leaving: Floats
    entering: Floats
    cuts: dict[int, float]


@dataclass(frozen=True, slots=True, eq=False)
class TourRelaxation:
    """A solution of the linear program.

    Parameters
    ----------
    value
        What all arcs cost together; tours cost at least that.
    flow
        How often each arc is used.
    missing
        How much of the conditions cannot be met with these ranges of the arcs.
    prices
        The dual values.
    is_tour
        Whether the flow is a tour, or several that hang together.
    """

    value: float
    flow: Floats
    missing: float
    prices: ArcPrices
    is_tour: bool


class CutProgram:
    """The linear program.

    Parameters
    ----------
    problem
        The tour.
    arcs
        Some arcs that make up a tour.
    dear
        More than any tour of interest costs.
    check
        Called often; what it raises ends the work.
    """

    def __init__(
        self, problem: TourProblem, arcs: Iterable[Arc], dear: int, check: Callable[[], None]
    ) -> None:
        self.problem = problem
        self.cuts: list[Cut] = []
        self._known: set[bytes] = set()
        self._separator = Separator(problem, check)
        self._check = check
        self._dear = dear
        self._changed: Ranges = {}
        self._linear: LinearProgram[Arc] = LinearProgram(check)
        visits = problem.visits
        rows = [(("leave", node), visits[node]) for node in range(problem.end)]
        rows += [(("enter", node), visits[node]) for node in range(1, len(visits))]
        for row, number in rows:
            self._linear.add_row(row, number, number, lack=dear, excess=dear)
        self._has = np.zeros((len(visits), len(visits)), dtype=np.bool_)
        for arc in (*arcs, *self._cheap_arcs()):
            self._add_arc(arc)

    def _cheap_arcs(self) -> list[Arc]:
        problem = self.problem
        cost = easily_reduced(problem)
        near = np.zeros(cost.shape, dtype=np.bool_)
        rows = np.argsort(cost[:-1], axis=1, kind="stable")[:, :FIRST_ARCS]
        np.put_along_axis(near[:-1], rows, values=True, axis=1)
        columns = np.argsort(cost[:, 1:], axis=0, kind="stable")[:FIRST_ARCS]
        np.put_along_axis(near[:, 1:], columns, values=True, axis=0)
        return [(tail, head) for tail, head in np.argwhere(near & (problem.most > 0)).tolist()]

    def _add_arc(self, arc: Arc) -> None:
        tail, head = arc
        if self._has[tail, head]:
            return
        self._has[tail, head] = True
        # How often an arc is used follows from the visits; to say it again would only allow arcs of
        # negative reduced cost.
        rows = [number for number, cut in enumerate(self.cuts) if cut.has(arc)]
        entries = [(row, 1) for row in (("leave", tail), ("enter", head), *rows)]
        self._linear.add_column(arc, self.problem.cost[arc], entries)

    def _add_cut(self, cut: Cut) -> bool:
        """Add a cut to the program; return False if it is there already."""
        if cut.key in self._known:
            return False
        self._known.add(cut.key)
        number = len(self.cuts)
        self.cuts.append(cut)
        self._linear.add_row(number, 1, lack=self._dear)
        self._linear.enter(number, filter(cut.has, self._linear.columns))
        return True

    def _limit(self, ranges: Ranges) -> None:
        """Let arcs be used as often as the ranges say, and others as often as tours can."""
        arcs = self._linear.columns
        for arc in self._changed.keys() - ranges.keys():
            if arc in arcs:
                self._linear.limit_column(arc, 0)
        for arc, (least, most) in ranges.items():
            if least:
                self._add_arc(arc)
            if arc in arcs and self._changed.get(arc) != (least, most):
                is_limited = most < self.problem.most[arc]
                self._linear.limit_column(arc, least, most if is_limited else np.inf)
        self._changed = dict(ranges)

    def solve(self, ranges: Ranges, cutoff: float) -> TourRelaxation:
        """Return a solution for ranges of some arcs.

        Parameters
        ----------
        ranges
            How often arcs may be used.
        cutoff
            Solutions that cost more than this need no cuts.
        """
        self._limit(ranges)
        slow, before = 0, -np.inf
        while True:
            self._check()
            relaxed = self._optimum()
            if relaxed.value > cutoff or slow >= SLOW_ROUNDS:
                if self._add_arcs(relaxed.prices, ranges):
                    continue
                return relaxed
            gained = relaxed.value - before
            slow = slow + 1 if gained < SLOW * max(1.0, cutoff - relaxed.value) else 0
            before = relaxed.value
            cuts = self._separator.violated(relaxed.flow)
            new = [cut for cut in cuts if self._add_cut(cut)]
            if new:
                continue
            if self._add_arcs(relaxed.prices, ranges):
                slow, before = 0, -np.inf
                continue
            is_whole = bool(np.abs(relaxed.flow - relaxed.flow.round()).max() < TOLERANCE * 10)
            if is_whole and not cuts and relaxed.missing < TOLERANCE:
                return replace(relaxed, is_tour=True)
            return relaxed

    def value_within(self, ranges: Ranges) -> float:
        """Return the value without further cuts or arcs."""
        self._limit(ranges)
        return self._optimum().value

    def _optimum(self) -> TourRelaxation:
        """Return a solution with the arcs and cuts so far."""
        linear, size = self._linear, self.problem.end + 1
        linear.solve()
        flow = np.zeros((size, size))
        for arc, value in linear.used():
            flow[arc] = value
        leaving, entering = np.zeros(size), np.zeros(size)
        leaving[:-1] = [linear.dual(("leave", node)) for node in range(size - 1)]
        entering[1:] = [linear.dual(("enter", node)) for node in range(1, size)]
        cuts = {
            number: price
            for number in range(len(self.cuts))
            if (price := linear.dual(number)) > TOLERANCE
        }
        prices = ArcPrices(leaving, entering, cuts)
        return TourRelaxation(linear.value, flow, linear.missing, prices, is_tour=False)

    def _add_arcs(self, prices: ArcPrices, ranges: Ranges) -> bool:
        """Add arcs of negative reduced cost; return whether there were any."""
        reduced = reduced_costs(self.problem, self.cuts, prices)
        reduced[self._has | (self.problem.most <= 0)] = np.inf
        for arc, (least, most) in ranges.items():
            if not most:
                reduced[arc] = np.inf
            # Where an arc takes all visits, no other one is left.
            if least == self.problem.visits[arc[0]]:
                reduced[arc[0], :] = np.inf
            if least == self.problem.visits[arc[1]]:
                reduced[:, arc[1]] = np.inf
        reduced[reduced > -TOLERANCE * 10] = np.inf
        cheap = np.argsort(reduced, axis=None, kind="stable")[:MOST_ARCS]
        tails, heads = np.unravel_index(cheap, reduced.shape)
        new = [
            (tail, head)
            for tail, head in zip(tails.tolist(), heads.tolist(), strict=True)
            if reduced[tail, head] < 0
        ]
        for arc in new:
            self._add_arc(arc)
        return bool(new)


def easily_reduced(problem: TourProblem) -> Integers:
    """Return the cost of each arc less that of the cheapest one from its tail, then to its head."""
    cost = np.where(problem.most > 0, problem.cost, problem.cost.max() + 1)
    cost[:-1] -= cost[:-1].min(axis=1, keepdims=True)
    cost[:, 1:] -= cost[:-1, 1:].min(axis=0)
    return cost


def reduced_costs(problem: TourProblem, cuts: Sequence[Cut], prices: ArcPrices) -> Floats:
    """Return the cost of each arc less what its ends and its cuts are worth."""
    reduced = problem.cost - prices.leaving[:, None] - prices.entering[None, :]
    credit_cuts(reduced, cuts, prices.cuts)
    return reduced


def credit_cuts(
    reduced: npt.NDArray[Any], cuts: Sequence[Cut], prices: Mapping[int, float]
) -> None:
    """Take the prices of cuts from the costs of their arcs."""
    for number, price in prices.items():
        cut = cuts[number]
        reduced[np.ix_(cut.tails, cut.heads)] -= price


VIOLATION = 1e-3
"""A cut is added if it lacks at least this."""

MOST_CUTS = 60
"""At most this number of cuts are added at once."""

PAIRS_A_CHECK = 500
"""With some hundred nodes, the least cuts of 500 pairs take some hundredths of a second."""

SCALE = 2**40
"""Flows are whole multiples of 2^-40 where least cuts are looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """What every tour satisfies.

    All visits of the nodes X come before those of the nodes Y, so between the last visit of X and
    the first one of Y the tour leaves any set A that holds X and not Y. On this way it passes
    neither what must come before X nor what must come after Y. So it uses an arc from A to the
    nodes outside, these two kinds of nodes left out: the precedence cycle-breaking inequalities of
    Balas, Fischetti and Pulleyblank (1995). Without precedence they are the subtour eliminations of
    Dantzig, Fulkerson and Johnson (1954).

    Parameters
    ----------
    last_of, first_of
        X and Y.
    tails, heads
        The nodes from which and to which the arcs of the cut lead.
    """

    last_of: Flags
    first_of: Flags
    tails: Flags
    heads: Flags

    @property
    def key(self) -> bytes:
        """What tells its arcs from those of other cuts."""
        return self.tails.tobytes() + self.heads.tobytes()

    def has(self, arc: tuple[int, int]) -> bool:
        """Return whether an arc is one of the cut."""
        return bool(self.tails[arc[0]] and self.heads[arc[1]])


class Separator:
    """Finds violated cuts by maximum flows.

    Parameters
    ----------
    problem
        The tours.
    check
        Called now and then; may end the work by an exception.
    """

    def __init__(self, problem: TourProblem, check: Callable[[], None]) -> None:
        self._check = check
        self._precedes = precedes = problem.precedes
        end = problem.end
        pairs = [(node, end) for node in range(1, end)]
        if precedes[1:end, 1:end].any():
            pairs += [(START, node) for node in range(1, end)]
            pairs += [
                (before, after)
                for before in range(1, end)
                for after in range(1, end)
                if precedes[before, after]
            ]
        self._sources = np.array([source for source, _ in pairs], dtype=np.int64)
        self._sinks = np.array([sink for _, sink in pairs], dtype=np.int64)
        removed = precedes[:, self._sources].T | precedes[self._sinks, :]
        self._removed = np.ascontiguousarray(removed)

    def violated(self, flow: Floats) -> list[Cut]:
        """Return cuts that a flow violates, those that lack most first."""
        found: dict[bytes, tuple[float, Cut]] = {}
        for source, sink, side in self._least_cuts(flow):
            for cut in self._lifted(source, sink, side):
                value = float(flow[np.ix_(cut.tails, cut.heads)].sum())
                found.setdefault(cut.key, (value, cut))
        ranked = sorted(found.values(), key=lambda item: (item[0], item[1].key))
        return [cut for _, cut in ranked[:MOST_CUTS]]

    def _least_cuts(self, flow: Floats) -> Iterator[tuple[int, int, Flags]]:
        """Yield pairs of nodes between which too little flows, with one side of the least cut."""
        load_module("ortools.graph.python.max_flow", lambda: None)
        from ortools.graph.python.max_flow import SimpleMaxFlow

        capacities = np.rint(flow * SCALE).astype(np.int64)
        np.fill_diagonal(capacities, 0)
        tails, heads = np.nonzero(capacities)
        most = capacities[tails, heads]
        network = SimpleMaxFlow()
        network.add_arc_with_capacity(START, len(flow) - 1, 0)  # so that it has all nodes
        arcs = network.add_arcs_with_capacity(tails, heads, most)
        pairs = zip(self._sources, self._sinks, self._removed, strict=True)
        for number, (source, sink, removed) in enumerate(pairs, 1):
            if number % PAIRS_A_CHECK == 0:
                self._check()
            network.set_arcs_capacity(arcs, np.where(removed[heads], 0, most))
            network.solve(source, sink)
            if network.optimal_flow() < (1 - VIOLATION) * SCALE:
                side = np.zeros(len(flow), dtype=np.bool_)
                side[network.get_source_side_min_cut()] = True
                yield int(source), int(sink), side

    def _lifted(self, source: int, sink: int, side: Flags) -> Iterator[Cut]:
        """Yield cuts with more nodes in X or in Y, so that fewer arcs count."""
        precedes = self._precedes
        size = len(precedes)
        x, y = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
        x[source] = y[sink] = True
        seen = set()
        for x_first in (True, False):
            more_x, more_y = x, y
            for turn in range(2):
                if x_first == (turn == 0):
                    # All nodes of A that come before all of Y.
                    if source != START:
                        more_x = side & precedes[:, more_y].all(axis=1)
                        more_x[START] = False
                        more_x |= x
                elif sink != size - 1:
                    more_y = ~side & precedes[more_x].all(axis=0)
                    more_y[-1] = False
                    more_y |= y
            without = precedes[:, more_x].any(axis=1) | precedes[more_y].any(axis=0)
            # What has to come before another node of X says nothing new.
            cut = Cut(
                more_x & ~precedes[:, more_x].any(axis=1),
                more_y & ~precedes[more_y].any(axis=0),
                side & ~without,
                ~side & ~without,
            )
            if cut.key not in seen:
                seen.add(cut.key)
                yield cut
