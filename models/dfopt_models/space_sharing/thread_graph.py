"""Graphs of threads with given work, and their documents ``dfopt-thread-graph/1``.

The documents are JSON in NetworkX's node-link form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from dfopt.errors import DfoptError, FileError, InstanceError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.files.storage import shown_name
from dfopt.files.strict import Document
from dfopt.structs import DocumentPart
from dfopt.type_reader import described_value
from dfopt_models.errors import check_distinct
from dfopt_models.space_sharing.programs import GraphProgram, time_at_levels

if TYPE_CHECKING:
    import networkx as nx

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
        times = time_at_levels(self.program(0), len(self.graph))
        most = max(running for running, time in enumerate(times, start=1) if time)
        object.__setattr__(self, "most_parallel", most)

    def program(self, seed: int) -> GraphProgram:
        """Return the threads, which are the same in every run."""
        threads = {name: thread for thread, name in enumerate(self.graph)}
        return GraphProgram(
            [float(work) for _, work in self.graph.nodes(data="work")],
            [tuple(threads[later] for later in self.graph.successors(name)) for name in self.graph],
            [degree for _, degree in self.graph.in_degree()],
        )


class NodeRow(DocumentPart):
    """A thread.

    Parameters
    ----------
    id
        Its name, unique in the graph; NetworkX often numbers its nodes.
    work
        Seconds of work.
    """

    id: str | int
    work: Annotated[float, Meta(gt=0)]


class EdgeRow(DocumentPart):
    """A thread that waits for another one.

    Parameters
    ----------
    source, target
        The thread that must have ended, and the one that waits for it.
    """

    source: str | int
    target: str | int


class GraphDocument(DocumentPart):
    """Threads with given work, in NetworkX's node-link form.

    Parameters
    ----------
    name
        What to call it.
    directed, multigraph
        What NetworkX writes: a thread graph is directed, and no multigraph.
    graph
        What else NetworkX knows; it is not read.
    nodes
        The threads.
    edges, links
        The threads that wait for others; ``links`` is an older name.
    """

    name: str | None = None
    directed: Annotated[bool, Meta(extra_json_schema={"const": True})] = True
    multigraph: Annotated[bool, Meta(extra_json_schema={"const": False})] = False
    graph: Any = None
    nodes: tuple[NodeRow, ...]
    edges: tuple[EdgeRow, ...] | None = None
    links: tuple[EdgeRow, ...] | None = None


GRAPHS = DocumentType(Format.THREAD_GRAPH, GraphDocument)


def read_thread_graph(path: str | Path) -> ThreadGraph:
    """Return the thread graph in a file.

    Raises
    ------
    DfoptError
        When the file is not a valid thread graph, or its threads wait for each other in a cycle.
    """
    document = GRAPHS.read(path)
    try:
        return _thread_graph(document)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def thread_graph_from_document(document: Document) -> ThreadGraph:
    """Return the thread graph that a document describes.

    Raises
    ------
    DfoptError
        With the place of the first flaw.
    """
    return _thread_graph(GRAPHS.from_document(document))


def _thread_graph(document: GraphDocument) -> ThreadGraph:
    import networkx as nx

    if not document.directed:
        raise FileError("must be true: a thread graph is directed", place="directed")
    if document.multigraph:
        raise FileError("must be false: a thread graph is no multigraph", place="multigraph")
    if document.edges is not None and document.links is not None:
        raise FileError("is another name for 'edges'; keep one of them", place="links")
    graph: nx.DiGraph[str] = nx.DiGraph()
    check_distinct([str(node.id) for node in document.nodes], "nodes[{}].id")
    graph.add_nodes_from((str(node.id), {"work": float(node.work)}) for node in document.nodes)
    key = "edges" if document.links is None else "links"
    for position, edge in enumerate(document.edges or document.links or ()):
        ends = str(edge.source), str(edge.target)
        for end, name in zip(("source", "target"), ends, strict=True):
            if name not in graph:
                raise FileError(
                    f"{described_value(name)} is the id of no node",
                    place=f"{key}[{position}].{end}",
                )
        if ends in graph.edges:
            raise FileError("is there more than once; keep one", place=f"{key}[{position}]")
        graph.add_edge(*ends)
    return ThreadGraph(graph=graph)
