"""Recognises the text format of another tool by its content, and reads an instance from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files.imported.bins import (
    is_bins_with_colours,
    is_bins_with_setups,
    read_bins_with_colours,
    read_bins_with_setups,
)
from dfopt.files.imported.source_text import SourceLine, source_lines
from dfopt.files.imported.task_graph import is_task_graph, read_task_graph
from dfopt.files.imported.tsplib import (
    is_ordering_matrix,
    is_tsplib,
    read_ordering_matrix,
    read_tsplib,
)
from dfopt.files.storage import naming, read_text
from dfopt.problem.instance import Instance


@dataclass(frozen=True, slots=True)
class ImportedFormat:
    """A text format of another tool.

    Attributes
    ----------
    name
        What it is called.
    recognises
        Whether these lines, at least one, are in this format.
    read
        Reads an instance from lines, under a name, with a number of CPUs or None.
    """

    name: str
    recognises: Callable[[list[SourceLine]], bool]
    read: Callable[[list[SourceLine], str, int | None], Instance]


def _on_one_cpu(
    read: Callable[[list[SourceLine], str], Instance],
    lines: list[SourceLine],
    name: str,
    cpus: int | None,
) -> Instance:
    if cpus is not None:
        raise FileError("is a problem of one CPU; leave `cpus` out")
    return read(lines, name)


FORMATS = (
    ImportedFormat("TSPLIB (TSP, ATSP, SOP)", is_tsplib, partial(_on_one_cpu, read_tsplib)),
    ImportedFormat("BPPS", is_bins_with_setups, read_bins_with_setups),
    ImportedFormat("BPPMCF", is_bins_with_colours, read_bins_with_colours),
    ImportedFormat(
        "table of a sequential ordering",
        is_ordering_matrix,
        partial(_on_one_cpu, read_ordering_matrix),
    ),
    ImportedFormat("STG", is_task_graph, read_task_graph),
)
"""What can be imported; the first that recognises a file reads it."""


def import_instance(path: str | Path, *, cpus: int | None = None) -> Instance:
    """Return the instance that a file of another tool describes.

    The format is told by the content: TSPLIB (TSP, ATSP and SOP), the bare table of a sequential
    ordering, STG, bin packing with setups (BPPS), and with colours (BPPMCF).

    Parameters
    ----------
    path
        The file; ``-`` is standard input, and a name that ends in ``.gz`` is compressed.
    cpus
        The number of CPUs, where the file leaves it open: STG and BPPS. For BPPMCF it replaces
        the number in the file.

    Returns
    -------
    Instance
        It carries the name that the file gives, or that of the file.

    Raises
    ------
    FileError, InstanceError
        With file, line and remedy, when the file is of no known format, is cut off or contradicts
        itself, or says something that an instance cannot say.
    """
    lines = source_lines(read_text(path))
    with naming(path):
        if not lines:
            raise FileError(f"is empty; name a file of {known_formats()}")
        for known in FORMATS:
            if known.recognises(lines):
                return known.read(lines, stem(path), cpus)
        raise FileError(f"is of no known format; known are {known_formats()}", place=lines[0].place)


def known_formats() -> str:
    """Return the names of the formats as a list in words."""
    *names, last = (known.name for known in FORMATS)
    return f"{', '.join(names)} and {last}"


def stem(path: str | Path) -> str:
    """Return the name of a file without its folder and its ending."""
    name = Path(path).name.removesuffix(".gz")
    for ending in (".atsp", ".tsp", ".sop", ".stg", ".txt"):
        name = name.removesuffix(ending)
    return name or "imported"
