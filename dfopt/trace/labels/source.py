"""The sources of labels, and their names on the command line."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dfopt.errors import FileError
from dfopt.structs import Record
from dfopt.trace.labels.files import label_by_cgroup, label_by_file
from dfopt.trace.labels.inference import (
    Inferred,
    infer_fragments,
    label_by_inferred,
)
from dfopt.trace.labels.kernel_threads import kernel_threads
from dfopt.trace.labels.relabelling import label_changes, label_tasks, with_fragments
from dfopt.trace.labels.threads import compiled_pattern
from dfopt.trace.trace import UNMANAGED, Trace

CLOSE_ENOUGH = 0.75
"""How similar to a source a word must be to be taken for it; names of files are less so."""

GROUP = "df"
"""The group of a regular expression that names the fragment, if it has a group of this name."""

INFERRED = "wakeups"

FILE = "FILE"
"""What stands after the colon of a source that is read from a file."""

ALIASES = {"process": "tgid"}
"""Other words for sources."""

CHOICES = (
    "own, tgid (or process), marks, wakeups, comm:REGEX, cgroup:FILE, csv:FILE or the name of a "
    "CSV file"
)


class Labelled(Record):
    """A trace with labels, and where these come from.

    Parameters
    ----------
    trace
        Each dispatch says which fragment it used.
    source
        The source of the labels.
    inferred
        The inferred fragments of its tasks if the source is ``wakeups``; else None.
    """

    trace: Trace
    source: str
    inferred: tuple[Inferred, ...] | None = None


def default_source(trace: Trace) -> str | None:
    """Return the source of labels for a trace if the user names none.

    That is ``own`` if the trace came with labels, else ``marks`` if it has marks, else ``tgid`` if
    the process of any thread is known, else ``wakeups`` if it has wake-ups, else None.
    """
    if trace.fragments:
        return "own"
    if len(trace.marks.time):
        return "marks"
    if any(task.tgid is not None for task in trace.tasks):
        return "tgid"
    return INFERRED if len(trace.wakeups.time) else None


def label(trace: Trace, source: str | None = None) -> Trace:
    """Return a trace in which each dispatch says which fragment it used.

    Parameters
    ----------
    trace
        The trace to label. Labels that it has already are replaced.
    source
        ``own`` (the trace's own labels), ``tgid`` or ``process``, ``marks``, ``wakeups`` (inferred
        from wake-ups), ``comm:REGEX``, ``cgroup:FILE``, ``csv:FILE``, or the name of a CSV
        file; None for :func:`default_source`.

    Returns
    -------
    Trace
        With ``fragment`` and ``fragments``, and with more rows where a label changes in the
        middle of a run.

    Raises
    ------
    FileError
        When the source is unknown, does not fit the trace or leaves no dispatch managed. Only
        errors about a file of labels name a file.
    """
    return labelled(trace, source).trace


def labelled(trace: Trace, source: str | None = None) -> Labelled:
    """Return a trace labelled as by :func:`label`, with the source of its labels.

    Raises
    ------
    FileError
        As :func:`label` does.
    """
    if not len(trace):
        raise FileError("has no dispatch; record for longer")
    source = default_source(trace) if source is None else ALIASES.get(source, source)
    if source is None and all(task.tid is None for task in trace.tasks):
        raise FileError(
            "has no line that says which fragment a dispatch uses; write it there (df in "
            "dfopt-trace/1, cat in Chrome's), or take the labels from a CSV file tid,df, which "
            "may name the tasks"
        )
    if source is None:
        source = "tgid"  # its error says how to record what is missing
    inferred = infer_fragments(trace) if source == INFERRED else None
    found = _labelled(trace, source) if inferred is None else label_by_inferred(trace, inferred)
    if (found.fragment == UNMANAGED).all():
        raise FileError(
            f"has no managed dispatch with the labels from {source}; take another source: {CHOICES}"
        )
    return Labelled(trace=found, source=source, inferred=inferred)


def label_as_given(trace: Trace) -> Trace:
    """Return the trace itself, if it came with labels.

    Raises
    ------
    FileError
        When it has none.
    """
    if not trace.fragments:
        raise FileError("has no labels of its own; take another source of labels")
    return trace


def label_by_process(trace: Trace) -> Trace:
    """Return a trace in which the fragment of each thread is its process (``tgid``).

    Threads of the kernel are not managed. Threads whose process is not known are not labelled.

    Raises
    ------
    FileError
        When the process of no thread is known.
    """
    if all(task.tgid is None for task in trace.tasks):
        raise FileError(
            "says of no thread which process it belongs to; record it (perf script -F "
            "comm,pid,tid,cpu,time,event,trace, or ftrace with options/record-tgid), or take "
            "the labels from a file, cgroup:FILE, comm:REGEX, marks or wakeups"
        )
    is_kernel = kernel_threads(trace)
    return label_tasks(
        trace,
        [
            None if task.tgid is None or kernel else str(task.tgid)
            for task, kernel in zip(trace.tasks, is_kernel.tolist(), strict=True)
        ],
    )


def label_by_marks(trace: Trace) -> Trace:
    """Return a trace labelled by its marks ``dfopt:df=ID``.

    A thread uses the fragment that it names from the mark on, until its next mark; before its
    first mark it is not managed. A mark in the middle of a run that names another fragment cuts
    the dispatch in two.

    Raises
    ------
    FileError
        When the trace has no marks.
    """
    if not len(trace.marks.time):
        raise FileError(
            "has no marks dfopt:df=ID; let threads write them to tracefs's trace_marker, or take "
            "another source of labels"
        )
    return label_changes(trace, trace.marks)


def label_by_comm(trace: Trace, pattern: str) -> Trace:
    """Return a trace labelled by a regular expression on the comm.

    Parameters
    ----------
    trace
        The trace to label.
    pattern
        Searched for in the comm of each dispatch. The fragment is its group ``df``, or its first
        group, or the whole match. Where nothing matches, or the group is empty, the dispatch is
        not managed.

    Raises
    ------
    FileError
        When the expression is invalid, or the trace has no comms.
    """
    expression = compiled_pattern(pattern)
    if trace.comm is None:
        raise FileError("has no comms to look at; take another source of labels")
    group: str | int = GROUP if GROUP in expression.groupindex else min(expression.groups, 1)
    # One more at the end, for dispatches without a comm.
    of_comm = np.full(len(trace.comms) + 1, UNMANAGED, np.int32)
    names = []
    for number, comm in enumerate(trace.comms):
        found = expression.search(comm)
        names.append((found[group] or "") if found else "")
        if names[-1]:
            of_comm[number] = number
    return with_fragments(trace, of_comm[trace.comm], names)


PLAIN: dict[str, Callable[[Trace], Trace]] = {
    "own": label_as_given,
    "tgid": label_by_process,
    "marks": label_by_marks,
}
"""Sources that need only the trace, except ``wakeups``."""

WITH_ARGUMENT: dict[str, tuple[str, Callable[[Trace, str], Trace]]] = {
    "comm": ("REGEX", label_by_comm),
    "cgroup": (FILE, label_by_cgroup),
    "csv": (FILE, label_by_file),
}
"""Sources that are written with a colon and a value: what it is, and what labels by it."""

SPELLED = {name: name for name in (*PLAIN, *ALIASES, INFERRED)} | {
    name: f"{name}:{argument}" for name, (argument, _) in WITH_ARGUMENT.items()
}
"""How each source is written, for those who nearly wrote it."""


def in_folder(source: str, folder: Path) -> str:
    """Return a source of labels in which the name of a file does not depend on the folder."""
    name, _, argument = source.partition(":")
    if argument and WITH_ARGUMENT.get(name, ("",))[0] == FILE:
        return f"{name}:{folder / argument}"
    file = folder / source
    return str(file) if source not in SPELLED.values() and file.is_file() else source


def _labelled(trace: Trace, source: str) -> Trace:
    if source in PLAIN:
        return PLAIN[source](trace)
    name, colon, argument = source.partition(":")
    if colon and name in WITH_ARGUMENT:
        if not argument:
            raise FileError(f"the source of labels {name}: names nothing; take one of {CHOICES}")
        _, label_by = WITH_ARGUMENT[name]
        return label_by(trace, argument)
    if os.path.exists(source):
        return label_by_file(trace, source)
    nearest = difflib.get_close_matches(name.lower(), SPELLED, n=1, cutoff=CLOSE_ENOUGH)
    remedy = f"did you mean {SPELLED[nearest[0]]}?" if nearest else f"take one of {CHOICES}"
    raise FileError(f"{source!r} is neither a file nor a source of labels; {remedy}")
