"""Labels that the threads themselves wrote into the trace."""

from __future__ import annotations

from dfopt.errors import FileError
from dfopt.trace.labels.relabelling import Changes, label_changes
from dfopt.trace.trace import Trace


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
    marks = trace.marks
    if not len(marks.time):
        raise FileError(
            "has no marks dfopt:df=ID; let threads write them to tracefs's trace_marker, or take "
            "another source of labels"
        )
    changes = Changes(task=marks.task, time=marks.time, fragment=marks.df)
    return label_changes(trace, changes, marks.names)
