"""Methods over a set of instances: every instance in a process of its own, a CSV row for each."""

from dfopt.bench.published import (
    Judged,
    PublishedBounds,
    Verdict,
    judged,
    read_published,
    verdict_counts,
)
from dfopt.bench.row import Row, RowStatus, rows_frame
from dfopt.bench.run import Report, RunProgress, run
from dfopt.bench.sets import Entry, read_set
from dfopt.bench.settings import Settings
from dfopt.bench.summary import MethodFigures, summarise
from dfopt.bench.table import read_rows

__all__ = [
    "Entry",
    "Judged",
    "MethodFigures",
    "PublishedBounds",
    "Report",
    "Row",
    "RowStatus",
    "RunProgress",
    "Settings",
    "Verdict",
    "judged",
    "read_published",
    "read_rows",
    "read_set",
    "rows_frame",
    "run",
    "summarise",
    "verdict_counts",
]
