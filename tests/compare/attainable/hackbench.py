"""The recordings of hackbench in the documentation, with the groups that hackbench made."""

from pathlib import Path

import numpy as np

from dfopt import replace
from dfopt.trace import Trace, read_trace

EXAMPLES = Path(__file__).parents[3] / "docs/examples"

PROCESSES = 40
"""Processes of a group; hackbench makes one group after the other."""


def hackbench(groups: int) -> Trace:
    """Return a recording in which each dispatch uses the data of its group."""
    trace = read_trace(EXAMPLES / f"hackbench-{groups}.txt.gz")
    parents = np.bincount(trace.forks.parent)
    children = trace.forks.child[trace.forks.parent == parents.argmax()]
    assert len(children) == groups * PROCESSES
    group = np.full(len(trace.tasks), -1, np.int32)
    group[children] = np.arange(len(children)) // PROCESSES
    names = tuple(f"group-{number}" for number in range(groups))
    return replace(trace, fragment=group[trace.task], fragments=names)
