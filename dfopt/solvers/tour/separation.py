"""Cuts that a flow along arcs violates, found by maximum flows.

A *cut* is what every tour satisfies: all visits of the nodes X come before those of the nodes Y,
so between the last visit of X and the first one of Y the tour leaves any set A that holds X and not
Y. On this way it passes neither what must come before X nor what must come after Y. So it uses an
arc from A to the nodes outside, these two kinds of nodes left out: the precedence cycle-breaking
inequalities of Balas, Fischetti and Pulleyblank (1995). Without precedence they are the subtour
eliminations of Dantzig, Fulkerson and Johnson (1954).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dfopt.solvers.interruptible import load_module
from dfopt.solvers.tour.problem import START, Flags, Floats, TourProblem

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
    """A cut, see above.

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
    """Finds violated cuts.

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
