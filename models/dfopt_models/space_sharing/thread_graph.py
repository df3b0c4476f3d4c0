"""Graphs of threads with given work, and their documents ``dfopt-thread-graph/1``.

The documents are JSON in NetworkX's node-link form.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfopt.errors import DfoptError, FileError, InstanceError
from dfopt.files.fields import at, each, fields_of, number, string
from dfopt.files.formats import Format, check_format, read_json
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import Document, described_json
from dfopt_models.space_sharing.programs import GraphProgram

if TYPE_CHECKING:
    import networkx as nx

FORMAT = Format.THREAD_GRAPH
KEYS = ("format", "name", "directed", "multigraph", "graph", "nodes", "edges", "links")

MOST_SHOWN = 6
"""At most this many threads of a cycle stand in an error."""


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
    """The most threads that run at the same time if no thread ever waits for a processor."""

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
        threads = {name: thread for thread, name in enumerate(self.graph)}
        return GraphProgram(
            [float(work) for _, work in self.graph.nodes(data="work")],
            [tuple(threads[later] for later in self.graph.successors(name)) for name in self.graph],
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


def read_thread_graph(path: str | Path) -> ThreadGraph:
    """Return the thread graph in a file.

    Raises
    ------
    DfoptError
        When the file is not a valid thread graph, or its threads wait for each other in a cycle.
    """
    document = read_json(path, FORMAT)
    try:
        return thread_graph_from_document(document)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def thread_graph_from_document(document: Document) -> ThreadGraph:
    """Return the thread graph that a document describes.

    Raises
    ------
    DfoptError
        With the place of the first flaw.
    """
    import networkx as nx

    check_format(document, FORMAT)
    fields = fields_of(document, KEYS, required=("nodes",))
    for key, wanted in (("directed", True), ("multigraph", False)):
        if fields.get(key, wanted) is not wanted:
            said = "directed" if wanted else "no multigraph"
            raise FileError(f"must be {str(wanted).lower()}: a thread graph is {said}", place=key)
    if "edges" in fields and "links" in fields:
        raise FileError("is another name for 'edges'; keep one of them", place="links")
    graph: nx.DiGraph[str] = nx.DiGraph()
    for position, (name, work) in enumerate(each("nodes", _node, fields["nodes"])):
        if name in graph:
            raise FileError(
                f"{described_json(name)} is there more than once; rename one",
                place=f"nodes[{position}].id",
            )
        graph.add_node(name, work=work)
    key = "links" if "links" in fields else "edges"
    for position, ends in enumerate(each(key, _edge, fields.get(key, []))):
        for end, name in zip(("source", "target"), ends, strict=True):
            if name not in graph:
                raise FileError(
                    f"{described_json(name)} is the id of no node",
                    place=f"{key}[{position}].{end}",
                )
        if ends in graph.edges:
            raise FileError("is there more than once; keep one", place=f"{key}[{position}]")
        graph.add_edge(*ends)
    return ThreadGraph(graph=graph)


def _node(value: object) -> tuple[str, float]:
    fields = fields_of(value, ("id", "work"), required=("id", "work"))
    return at("id", _name, fields["id"]), at("work", _work, fields["work"])


def _edge(value: object) -> tuple[str, str]:
    fields = fields_of(value, ("source", "target"), required=("source", "target"))
    return at("source", _name, fields["source"]), at("target", _name, fields["target"])


def _name(value: object) -> str:
    """Return the name of a node; NetworkX often numbers its nodes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return string(value)


def _work(value: Any) -> float:
    work = number(value)
    if work <= 0:
        raise FileError(f"must be more than 0 seconds, not {described_json(value)}")
    return float(work)
