"""Methods over a set of instances: every instance in a process of its own, a CSV row for each."""

from dfopt.bench.benchmark import Report, RunProgress, run
from dfopt.bench.rows import Entry, Row, RowStatus, Settings, read_rows, read_set
from dfopt.bench.summary import (
    JudgedInstance,
    MethodFigures,
    PublishedBounds,
    Verdict,
    judged,
    performance_ratios,
    read_published,
    share_within,
    summarise,
    verdict_counts,
)

__all__ = [
    "Entry",
    "JudgedInstance",
    "MethodFigures",
    "PublishedBounds",
    "Report",
    "Row",
    "RowStatus",
    "RunProgress",
    "Settings",
    "Verdict",
    "judged",
    "performance_ratios",
    "read_published",
    "read_rows",
    "read_set",
    "run",
    "share_within",
    "summarise",
    "verdict_counts",
]
