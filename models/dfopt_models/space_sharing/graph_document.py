"""Thread graphs as JSON documents ``dfopt-thread-graph/1``, in NetworkX's node-link form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dfopt.errors import DfoptError, FileError
from dfopt.files import read_document
from dfopt.files.fields import at, check_format, each, fields_of, number, string
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import Document, described_json
from dfopt_models.space_sharing.structures import ThreadGraph

FORMAT = "dfopt-thread-graph/1"
KEYS = ("format", "name", "directed", "multigraph", "graph", "nodes", "edges", "links")


def read_thread_graph(path: str | Path) -> ThreadGraph:
    """Return the thread graph in a file.

    Raises
    ------
    DfoptError
        When the file is not a valid thread graph, or its threads wait for each other in a circle.
    """
    document = read_document(path)
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
    nodes = each("nodes", _node, fields["nodes"])
    for place, (name, work) in enumerate(nodes):
        if name in graph:
            raise FileError(
                f"{described_json(name)} is there more than once; rename one",
                place=f"nodes[{place}].id",
            )
        graph.add_node(name, work=work)
    key = "links" if "links" in fields else "edges"
    for place, ends in enumerate(each(key, _edge, fields.get(key, []))):
        for end, name in zip(("source", "target"), ends, strict=True):
            if name not in graph:
                raise FileError(
                    f"{described_json(name)} is the id of no node", place=f"{key}[{place}].{end}"
                )
        if ends in graph.edges:
            raise FileError("is there more than once; keep one", place=f"{key}[{place}]")
        graph.add_edge(*ends)
    return ThreadGraph(graph=graph)


def _node(value: object) -> tuple[str, float]:
    fields = fields_of(value, ("id", "work"), required=("id", "work"))
    return at("id", _name, fields["id"]), at("work", _work, fields["work"])


def _edge(value: object) -> tuple[str, str]:
    fields = fields_of(value, ("source", "target"), required=("source", "target"))
    return at("source", _name, fields["source"]), at("target", _name, fields["target"])


def _name(value: object) -> str:
    """Return the name of a node; NetworkX often numbers them."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return string(value)


def _work(value: Any) -> float:
    work = number(value)
    if work <= 0:
        raise FileError(f"must be more than 0 seconds, not {described_json(value)}")
    return float(work)
