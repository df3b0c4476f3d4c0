"""Comparisons read back from JSON documents of the format ``dfopt-comparison/1``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dfopt.compare.comparison import Comparison
from dfopt.compare.document import FORMAT
from dfopt.errors import DfoptError, FileError
from dfopt.files.formats import read_json
from dfopt.files.streams import shown_name
from dfopt.structs import at, read_keys, reader


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
    document = read_json(path, FORMAT)
    try:
        if "results" in document:
            raise FileError(
                "compares schedules of an instance; compare a trace, and save that", place="results"
            )
        del document["format"]
        if "traces" not in document:
            return (_comparison(document),)
        known = {"traces": ("traces", reader(tuple[Any, ...]), False)}
        traces = read_keys(document, known, (), "")["traces"]
        return tuple(
            at(f"traces[{number}]", _comparison, trace) for number, trace in enumerate(traces)
        )
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def _comparison(value: object) -> Comparison:
    """Return what an object describes; the share without a fragment stands beside the quality."""
    if isinstance(value, dict) and isinstance(value.get("quality"), dict):
        quality = dict(value["quality"])
        unlabelled = quality.pop("unlabelled_share", 0)
        value = {**value, "quality": quality, "unlabelled_share": unlabelled}
    comparison: Comparison = reader(Comparison)(value)
    return comparison
