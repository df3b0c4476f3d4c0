"""Results as JSON documents of the format ``dfopt-result/2``.

The reader checks the shape alone. Whether a result is true, even whether its figures agree with
each other, is for the checker to say: it must be able to read a wrong result.
"""

from __future__ import annotations

from pathlib import Path

from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.files.result_1 import of_today
from dfopt.files.strict_json import Document
from dfopt.problem.result import Result, relative_gap
from dfopt.structs import replace


def _with_gap(result: Result, document: Document) -> Result:
    if "gap" in document:
        return result
    return replace(result, gap=relative_gap(result.objective, result.lower_bound))


RESULTS = DocumentType(Format.RESULT, Result, complete=_with_gap, of_today=of_today)


def read_result(path: str | Path) -> Result:
    """Return the result in a file, true or not.

    Parameters
    ----------
    path
        A file of the format ``dfopt-result/2``, or ``/1``; ``-`` is standard input, and a name
        that ends in ``.gz`` is gunzipped.

    Raises
    ------
    FileError, InstanceError
        With file, place and remedy, when the file is not a result.
    """
    return RESULTS.read(path)


def write_result(result: Result, path: str | Path) -> None:
    """Write a result to a file, as a whole or not at all.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    RESULTS.write(result, path)


def result_from_document(document: Document) -> Result:
    """Return the result that a parsed document describes.

    One written by hand may leave out all but format, instance, status, objective and schedule:
    its lower bound is then 0, and its gap follows from objective and lower bound.

    Raises
    ------
    FileError, InstanceError
        With place and remedy, when the document is not a result.
    """
    return RESULTS.from_document(document)


def result_to_document(result: Result) -> Document:
    """Return the document that describes a result."""
    return RESULTS.to_document(result)
