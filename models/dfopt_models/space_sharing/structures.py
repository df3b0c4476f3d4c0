"""Applications: how their threads depend on each other, and what losing a cache costs them.

A graph of threads with given work is a document ``dfopt-thread-graph/1``: JSON in NetworkX's
node-link form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import numpy as np
from msgspec import Meta

from dfopt.errors import DfoptError, FileError, InstanceError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.files.storage import shown_name
from dfopt.files.strict import Document
from dfopt.structs import Checked, DocumentPart, NonNegative, Record
from dfopt.type_reader import described_value
from dfopt_models.errors import check_distinct
from dfopt_models.model import PositiveNumber
from dfopt_models.space_sharing.programs import (
    GraphProgram,
    PhaseProgram,
    Structure,
    thread_seconds,
    time_at_levels,
)

if TYPE_CHECKING:
    import networkx as nx

ANY_OTHER = "*"
"""The key of the penalty that holds for every application that is not named."""


MOST_THREADS = 10**7
"""At most this many threads in a structure; the limit of every other count too."""

MOST_SHOWN = 6
"""At most this many threads of a cycle stand in an error."""

Count = Annotated[int, Meta(ge=1, le=MOST_THREADS)]
Seconds = NonNegative
PositiveSeconds = PositiveNumber


class Penalties(DocumentPart):
    """Seconds that a reallocation costs because the cache lacks data.

    Parameters
    ----------
    no_affinity
        P^NA: the task comes to a processor on which it did not run last.
    affinity
        P^A: the task returns to the processor on which it ran last. It depends on the application
        whose task ran there in between; ``*`` stands for all that are not named.
    """

    no_affinity: Seconds
    affinity: dict[str, Seconds]

    def returning_after(self, application: str) -> float | None:
        """Return P^A after a task of an application, or None if it is not known."""
        return self.affinity.get(application, self.affinity.get(ANY_OTHER))


class PenaltyRow(Penalties):
    """Penalties of an application, measured with one quantum.

    Parameters
    ----------
    quantum
        Seconds for which a task ran before it lost its processor.
    """

    quantum: PositiveSeconds


class ApplicationTable(Checked, tag_field="structure"):
    """A program that jobs run; its structure says how its threads depend on each other.

    Parameters
    ----------
    penalties
        Its penalties, a row for each quantum.
    """

    penalties: tuple[PenaltyRow, ...] = ()


class Application(Record):
    """A program that jobs run.

    Parameters
    ----------
    name
        Its name, unique in a mix.
    structure
        How its threads depend on each other.
    penalties
        Its penalties at the machine's quantum.
    """

    name: str
    structure: Structure
    penalties: Penalties


class Blocks(ApplicationTable, tag="blocks"):
    """Independent threads, such as the blocks of a matrix product.

    The parallelism is massive and constant.

    Parameters
    ----------
    work
        Mean work of all threads together, in processor-seconds.
    threads
        Number of threads.
    variation
        Coefficient of variation of their work.
    """

    work: PositiveSeconds
    threads: Count
    variation: Seconds

    @property
    def most_parallel(self) -> int:
        """The most threads that can run at the same time."""
        return self.threads

    def program(self, seed: int) -> PhaseProgram:
        """Return the threads of one run."""
        random = np.random.default_rng(seed)
        mean = self.work / self.threads
        return PhaseProgram(iter([thread_seconds(random, self.threads, mean, self.variation)]))


class TimeSteps(ApplicationTable, tag="time-steps"):
    """Steps of one serial phase and several parallel ones, such as the simulation of a galaxy.

    A barrier stands between two parallel phases. There the parallelism is 1 for a moment: the
    barrier is a thread of its own, run by the processor that comes last.

    Parameters
    ----------
    work
        Mean work of all threads together, serial ones included, in processor-seconds.
    steps
        Number of steps.
    serial
        Work of the serial phase that begins each step, in seconds.
    phases
        Parallel phases of each step.
    threads
        Threads of each parallel phase.
    variation
        Coefficient of variation of their work.
    barrier
        Work of each barrier between parallel phases, in seconds.

    Raises
    ------
    InstanceError
        When the serial phases and barriers alone are more than the work.
    """

    work: PositiveSeconds
    steps: Count
    serial: PositiveSeconds
    phases: Count
    threads: Count
    variation: Seconds
    barrier: PositiveSeconds

    def __post_init__(self) -> None:
        """Check that work is left for the parallel phases."""
        super().__post_init__()
        if self._parallel_work <= 0:
            raise InstanceError(
                f"must be more than the {self._serial_work:g} s of the serial phases and barriers",
                place="work",
            )

    @property
    def most_parallel(self) -> int:
        """The most threads that can run at the same time."""
        return self.threads

    @property
    def _serial_work(self) -> float:
        return self.steps * (self.serial + (self.phases - 1) * self.barrier)

    @property
    def _parallel_work(self) -> float:
        return self.work - self._serial_work

    def program(self, seed: int) -> PhaseProgram:
        """Return the threads of one run."""
        return PhaseProgram(self._phases(np.random.default_rng(seed)))

    def _phases(self, random: np.random.Generator) -> Iterator[list[float]]:
        mean = self._parallel_work / (self.steps * self.phases * self.threads)
        for _ in range(self.steps):
            yield [self.serial]
            for phase in range(self.phases):
                if phase:
                    yield [self.barrier]
                yield thread_seconds(random, self.threads, mean, self.variation)


class WaveFront(ApplicationTable, tag="wave-front"):
    """A thread for each cell of a table, such as in dynamic programming.

    It waits for the cells above and to the left. The parallelism slowly grows, then slowly falls.

    Parameters
    ----------
    work
        Mean work of all threads together, in processor-seconds.
    rows, columns
        Size of the table.
    variation
        Coefficient of variation of the threads' work.
    """

    work: PositiveSeconds
    rows: Count
    columns: Count
    variation: Seconds

    def __post_init__(self) -> None:
        """Refuse a table with too many cells."""
        super().__post_init__()
        threads = self.rows * self.columns
        if threads > MOST_THREADS:
            raise InstanceError(
                f"has {threads:,} threads, and {MOST_THREADS:,} is the most; take fewer rows or "
                "columns"
            )

    @property
    def most_parallel(self) -> int:
        """The most threads that can run at the same time: those of a diagonal."""
        return min(self.rows, self.columns)

    def program(self, seed: int) -> GraphProgram:
        """Return the threads of one run."""
        cells = self.rows * self.columns
        successors = []
        for row in range(self.rows):
            for column in range(self.columns):
                cell = row * self.columns + column
                right = (cell + 1,) if column + 1 < self.columns else ()
                below = (cell + self.columns,) if row + 1 < self.rows else ()
                successors.append(right + below)
        random = np.random.default_rng(seed)
        seconds = thread_seconds(random, cells, self.work / cells, self.variation)
        return GraphProgram(seconds, successors)


class GraphFile(ApplicationTable, tag="graph"):
    """A program whose threads are a graph.

    Parameters
    ----------
    file
        A file with a thread graph.
    """

    file: str


Structured = Blocks | TimeSteps | WaveFront | GraphFile

KEYS = {str(kind.__struct_config__.tag): kind.__struct_fields__ for kind in get_args(Structured)}
"""By structure: the keys that an application may have."""


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
    work: PositiveSeconds


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
