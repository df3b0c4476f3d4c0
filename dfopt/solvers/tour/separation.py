"""Cuts that a flow along arcs violates, found by maximum flows.

A *cut* is what every tour satisfies: all visits of the nodes X come before those of the nodes Y,
so between the last visit of X and the first one of Y the tour leaves any set A that holds X and not
Y. On this way it passes neither what must come before X nor what must come after Y. So it uses an
arc from A to the nodes outside, these two kinds of nodes left out: the precedence cycle-breaking
inequalities of Balas, Fischetti and Pulleyblank (1995). Without precedence they are the subtour
eliminations of Dantzig, Fulkerson and Johnson (1954).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dfopt.solvers.compilation.compiled import compiled
from dfopt.solvers.tour.problem import START, Flags, Integers, TourProblem

Floats = npt.NDArray[np.float64]

VIOLATION = 1e-3
"""A cut is added if it lacks at least this."""

TINY = 1e-9
"""Less than this does not flow."""

MOST_CUTS = 60
"""At most this number of cuts are added at once."""


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


class Separator:
    """Finds violated cuts."""

    def __init__(self, problem: TourProblem) -> None:
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
        self._removed = precedes[:, self._sources].T | precedes[self._sinks, :]

    def violated(self, flow: Floats) -> list[Cut]:
        """Return cuts that a flow violates, those that lack most first."""
        values, sides = small_cuts(flow, self._sources, self._sinks, self._removed, 1.0 - VIOLATION)
        found: dict[bytes, tuple[float, Cut]] = {}
        for pair in np.flatnonzero(values < 1.0 - VIOLATION).tolist():
            source, sink = int(self._sources[pair]), int(self._sinks[pair])
            for cut in self._lifted(source, sink, sides[pair]):
                value = float(flow[np.ix_(cut.tails, cut.heads)].sum())
                found.setdefault(cut.key, (value, cut))
        ranked = sorted(found.values(), key=lambda item: (item[0], item[1].key))
        return [cut for _, cut in ranked[:MOST_CUTS]]

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


@compiled
def small_cuts(  # noqa: PLR0912, PLR0915 - compiled as a whole
    flow: Floats, sources: Integers, sinks: Integers, removed: Flags, enough: float
) -> tuple[Floats, Flags]:
    """Return for each pair of nodes the maximum flow between them, and a side of the least cut.

    Parameters
    ----------
    flow
        The capacity of each arc.
    sources, sinks
        The pairs.
    removed
        For each pair, the nodes that are left out.
    enough
        Flows of at least this value are not made larger, and their sides are empty.
    """
    size = len(flow)
    count = 0
    for tail in range(size):
        for head in range(size):
            if flow[tail, head] > TINY and tail != head:
                count += 1
    # Arc 2a leads forwards, arc 2a + 1 backwards.
    heads = np.zeros(2 * count, dtype=np.int64)
    room = np.zeros(2 * count, dtype=np.float64)
    following = np.full(2 * count, -1, dtype=np.int64)
    first = np.full(size, -1, dtype=np.int64)
    arc = 0
    for tail in range(size):
        for head in range(size):
            if flow[tail, head] > TINY and tail != head:
                heads[arc], heads[arc + 1] = head, tail
                room[arc] = flow[tail, head]
                following[arc], following[arc + 1] = first[tail], first[head]
                first[tail], first[head] = arc, arc + 1
                arc += 2
    values = np.zeros(len(sources), dtype=np.float64)
    sides = np.zeros((len(sources), size), dtype=np.bool_)
    free = np.zeros(2 * count, dtype=np.float64)
    reached_by = np.zeros(size, dtype=np.int64)
    queue = np.zeros(size, dtype=np.int64)
    for pair in range(len(sources)):
        source, sink = sources[pair], sinks[pair]
        free[:] = room
        total = 0.0
        while total < enough:
            # The shortest way on which more can flow (Edmonds and Karp 1972).
            reached_by[:] = -1
            reached_by[source] = -2
            queue[0] = source
            begin, length = 0, 1
            while begin < length and reached_by[sink] == -1:
                node = queue[begin]
                begin += 1
                arc = first[node]
                while arc >= 0:
                    head = heads[arc]
                    if free[arc] > TINY and reached_by[head] == -1 and not removed[pair, head]:
                        reached_by[head] = arc
                        queue[length] = head
                        length += 1
                    arc = following[arc]
            if reached_by[sink] == -1:
                for node in range(size):
                    sides[pair, node] = reached_by[node] != -1
                break
            least = 2.0
            node = sink
            while node != source:
                arc = reached_by[node]
                least = min(least, free[arc])
                node = heads[arc ^ 1]
            node = sink
            while node != source:
                arc = reached_by[node]
                free[arc] -= least
                free[arc ^ 1] += least
                node = heads[arc ^ 1]
            total += least
        values[pair] = total
    return values, sides
