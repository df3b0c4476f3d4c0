"""One way out for traces: the ending of a file's name says in which format."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files.storage import replacing
from dfopt.trace.events import Integers
from dfopt.trace.trace import Trace

WRITERS = {
    ".jsonl": "dfopt_trace",
    ".jsonl.gz": "dfopt_trace",
    ".perfetto-trace": "perfetto",
    ".pftrace": "perfetto",
    ".json": "chrome",
    ".json.gz": "chrome",
    ".txt": "systrace",
    ".txt.gz": "systrace",
    ".systrace": "systrace",
    ".systrace.gz": "systrace",
}
"""For each ending the module in :mod:`dfopt.trace.writers`, which has ``write_`` and its name."""

COUNTING = ("perfetto", "chrome")
"""Formats that can show what switches cost."""


def write_trace(trace: Trace, path: str | Path, *, costs: Integers | None = None) -> None:
    """Write a trace as a whole or not at all; the ending of the name is the format.

    ``.jsonl`` is dfopt-trace/1, ``.perfetto-trace`` and ``.pftrace`` are for Perfetto's viewer,
    ``.json`` is for Chrome's, and ``.txt`` and ``.systrace`` are the kernel's own text. All but
    Perfetto's may have ``.gz`` after it.

    Parameters
    ----------
    trace
        The trace.
    path
        The file.
    costs
        What the switch to each dispatch costs, for the counters of viewers; other formats leave
        it out.

    Raises
    ------
    FileError
        When the ending is unknown, or the file cannot be written.
    """
    module = writer_of(path)
    write = getattr(import_module(f"dfopt.trace.writers.{module}"), f"write_{module}")
    try:
        with replacing(path) as stream:
            if module in COUNTING:
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


def writer_of(path: str | Path) -> str:
    """Return the format that the ending of a name asks for.

    Raises
    ------
    FileError
        When there is none.
    """
    name = Path(path).name.lower()
    for ending, module in WRITERS.items():
        if name.endswith(ending):
            return module
    known = ", ".join(ending for ending in WRITERS if not ending.endswith(".gz"))
    raise FileError(
        f"its ending says no format of traces; choose one of {known}", file=str(path) or "''"
    )
