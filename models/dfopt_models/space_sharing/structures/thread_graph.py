"""A graph of threads that somebody wrote down."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dfopt.errors import InstanceError
from dfopt_models.space_sharing.structures.graph_program import GraphProgram

if TYPE_CHECKING:
    import networkx as nx


MOST_SHOWN = 6
"""Threads of a circle that an error names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadGraph:
    """Threads with given work, each of which waits for its predecessors.

    Parameters
    ----------
    graph
        Directed and without cycles. Each node has ``work`` in seconds, positive.

    Raises
    ------
    InstanceError
        When the graph has no node, or a cycle.
    """

    graph: nx.DiGraph[str]
    most_parallel: int = field(init=False)
    """Most threads that run at any time where no thread ever waits for a processor."""

    def __post_init__(self) -> None:
        import networkx as nx

        if not len(self.graph):
            raise InstanceError("has no thread; give it one", place="nodes")
        if not nx.is_directed_acyclic_graph(self.graph):
            cycle = [edge[0] for edge in nx.find_cycle(self.graph)]
            shown = " → ".join(map(repr, [*cycle, cycle[0]][:MOST_SHOWN]))
            raise InstanceError(
                f"the threads wait for each other in a circle ({shown}); remove one of its edges",
                place="edges",
            )
        object.__setattr__(self, "most_parallel", self._peak())

    def program(self, seed: int) -> GraphProgram:
        """Return the threads, which are the same in every run."""
        number = {name: place for place, name in enumerate(self.graph)}
        return GraphProgram(
            [float(work) for _, work in self.graph.nodes(data="work")],
            [tuple(number[name] for name in self.graph.successors(one)) for one in self.graph],
            [degree for _, degree in self.graph.in_degree()],
        )

    def _peak(self) -> int:
        """Return how many threads run at the busiest moment of unlimited processors."""
        program = self.program(0)
        running = [(work, thread) for work, thread in program.begin()]
        heapq.heapify(running)
        peak = len(running)
        while running:
            now = running[0][0]
            while running and running[0][0] == now:  # all that end together
                _, thread = heapq.heappop(running)
                for work, released in program.finish(thread) or ():
                    heapq.heappush(running, (now + work, released))
            peak = max(peak, len(running))
        return peak
