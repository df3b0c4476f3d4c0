"""Writes traces; the ending of a file's name tells the format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files.storage import replacing
from dfopt.trace.chrome import write_chrome
from dfopt.trace.dfopt_trace import write_dfopt_trace
from dfopt.trace.events import Integers
from dfopt.trace.perfetto_writer import write_perfetto
from dfopt.trace.trace import Trace

WRITERS: dict[str, Callable[..., None]] = {
    ".jsonl": write_dfopt_trace,
    ".jsonl.gz": write_dfopt_trace,
    ".perfetto-trace": write_perfetto,
    ".pftrace": write_perfetto,
    ".json": write_chrome,
    ".json.gz": write_chrome,
}
"""The writer for each ending; it gets the trace and a stream."""

WITH_COSTS = (write_perfetto, write_chrome)
"""Writers of formats that can show the costs of switches."""


def write_trace(trace: Trace, path: str | Path, *, costs: Integers | None = None) -> None:
    """Write a trace as a whole or not at all; the ending of the name is the format.

    ``.jsonl`` is dfopt-trace/1, ``.perfetto-trace`` and ``.pftrace`` are for Perfetto's viewer,
    ``.json`` is for Chrome's. All but Perfetto's may have ``.gz`` after it.

    Parameters
    ----------
    trace
        The trace.
    path
        The file.
    costs
        The cost of the switch to each dispatch, for the counters of viewers; other formats leave
        it out.

    Raises
    ------
    FileError
        When the ending is unknown, or the file cannot be written.
    """
    write = writer_of(path)
    try:
        with replacing(path) as stream:
            if write in WITH_COSTS:
                write(trace, stream, costs=costs)
            else:
                write(trace, stream)
    except FileError as error:
        raise error.in_file(str(path)) from None
    except UnicodeEncodeError as error:
        raise FileError(
            f"a name in the trace holds {error.object[error.start]!a}, which is no text; rename it",
            file=str(path),
        ) from None


def writer_of(path: str | Path) -> Callable[..., None]:
    """Return the writer of the format that the ending of a file's name means.

    Raises
    ------
    FileError
        When no format has this ending.
    """
    name = Path(path).name.lower()
    for ending, write in WRITERS.items():
        if name.endswith(ending):
            return write
    known = ", ".join(ending for ending in WRITERS if not ending.endswith(".gz"))
    raise FileError(
        f"its ending says no format of traces; choose one of {known}", file=str(path) or "''"
    )
