"""Comparisons as JSON documents of the format ``dfopt-comparison/1``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from dfopt.compare.comparison import Comparison
from dfopt.errors import DfoptError, FileError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format, read_json
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import Document
from dfopt.structs import DocumentPart


class Comparisons(DocumentPart):
    """Several traces side by side.

    Parameters
    ----------
    traces
        Their comparisons.
    """

    traces: Annotated[tuple[Comparison, ...], Meta(min_length=1)]


ONE_TRACE = DocumentType(Format.COMPARISON, Comparison)
SEVERAL_TRACES = DocumentType(Format.COMPARISON, Comparisons)


def comparisons_document(comparisons: Sequence[Comparison]) -> Document:
    """Return the document of a comparison, or of several side by side."""
    if len(comparisons) == 1:
        return ONE_TRACE.to_document(comparisons[0])
    return SEVERAL_TRACES.to_document(Comparisons(traces=tuple(comparisons)))


def read_comparisons(path: str | Path) -> tuple[Comparison, ...]:
    """Return the comparisons of traces in a file that ``dfopt compare --json`` has printed.

    Parameters
    ----------
    path
        The file; ``-`` is standard input, and one that ends in ``.gz`` is gunzipped.

    Raises
    ------
    FileError, InstanceError, MethodError
        With file, place and remedy, when the file holds no such document.
    """
    document = read_json(path, Format.COMPARISON)
    try:
        if "results" in document:
            raise FileError(
                "compares schedules of an instance; compare a trace, and save that", place="results"
            )
        if "traces" in document:
            return SEVERAL_TRACES.read_parsed(document).traces
        return (ONE_TRACE.read_parsed(document),)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None
