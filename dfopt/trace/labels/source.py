"""Where labels are taken from, as the command line names it."""

from __future__ import annotations

import os
from collections.abc import Callable

from dfopt.errors import FileError
from dfopt.trace.labels.cgroups import label_by_cgroup
from dfopt.trace.labels.comm import label_by_comm
from dfopt.trace.labels.inference import label_by_wakeups
from dfopt.trace.labels.intervals import label_by_file
from dfopt.trace.labels.marks import label_by_marks
from dfopt.trace.labels.process import label_by_process
from dfopt.trace.trace import UNMANAGED, Trace


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


PLAIN: dict[str, Callable[[Trace], Trace]] = {
    "own": label_as_given,
    "tgid": label_by_process,
    "marks": label_by_marks,
    "wakeups": label_by_wakeups,
}
"""Sources that need nothing but the trace."""

WITH_ARGUMENT: dict[str, Callable[[Trace, str], Trace]] = {
    "comm": label_by_comm,
    "cgroup": label_by_cgroup,
    "csv": label_by_file,
}
"""Sources written with a colon and what follows it."""

CHOICES = "own, tgid, marks, wakeups, comm:REGEX, cgroup:FILE, csv:FILE or the name of a CSV file"


def default_source(trace: Trace) -> str:
    """Return the source of labels for a trace of which nobody says one.

    Its own labels (``own``) if it came with some, else its marks, else the process.
    """
    if trace.fragments:
        return "own"
    return "marks" if len(trace.marks.time) else "tgid"


def label(trace: Trace, source: str | None = None) -> Trace:
    """Return a trace in which each dispatch says which fragment it used.

    Parameters
    ----------
    trace
        Labels that it has already are replaced.
    source
        ``own`` (the trace's own labels), ``tgid`` (the process), ``marks``, ``wakeups`` (inferred
        from who wakes whom), ``comm:REGEX``, ``cgroup:FILE``, ``csv:FILE``, or the name of a CSV
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
    if not len(trace):
        raise FileError("has no dispatch; record for longer")
    source = default_source(trace) if source is None else source
    labelled = _labelled(trace, source)
    if (labelled.fragment == UNMANAGED).all():
        raise FileError(
            f"has no managed dispatch with the labels from {source}; take another source: {CHOICES}"
        )
    return labelled


def _labelled(trace: Trace, source: str) -> Trace:
    if source in PLAIN:
        return PLAIN[source](trace)
    name, colon, argument = source.partition(":")
    if colon and name in WITH_ARGUMENT:
        if not argument:
            raise FileError(f"the source of labels {name}: names nothing; take one of {CHOICES}")
        return WITH_ARGUMENT[name](trace, argument)
    if os.path.exists(source):
        return label_by_file(trace, source)
    raise FileError(f"{source!r} is neither a file nor a source of labels; take one of {CHOICES}")
