"""Inferred labels as a table that people can correct."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from dfopt.files.storage import write_text
from dfopt.trace.labels.inference import Inferred
from dfopt.trace.trace import Trace


def write_labels(path: str | Path, trace: Trace, inferred: Sequence[Inferred]) -> None:
    """Write what was inferred about the tasks of a trace as a CSV file.

    Its columns are ``tid``, ``df`` (empty for a task that is not managed), ``confidence`` and
    ``comm`` (the last that the task had). :func:`~dfopt.trace.labels.label` reads it.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    comms = _last_comms(trace)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["tid", "df", "confidence", "comm"])
    table.writerows(
        [task.name, found.fragment or "", f"{found.confidence:.3f}", comms.get(number, "")]
        for number, (task, found) in enumerate(zip(trace.tasks, inferred, strict=True))
    )
    write_text(path, text.getvalue())


def _last_comms(trace: Trace) -> dict[int, str]:
    if trace.comm is None:
        return {}
    pairs = zip(trace.task.tolist(), trace.comm.tolist(), strict=True)
    return {task: trace.comms[comm] for task, comm in pairs if comm >= 0}
