"""The truth about traces of ``perf bench sched messaging``, and how close labels come to it."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dfopt.trace import Trace
from dfopt.trace.labels import Inferred
from tests.trace.labels.scores import adjusted_rand_index, each_apart

GROUP = 40
"""The benchmark forks 20 receivers and then 20 senders for each of its groups."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """The agreement of inferred labels with the truth.

    Parameters
    ----------
    index
        Adjusted Rand index; an unassigned task counts as a fragment of its own.
    unassigned
        Tasks without a label.
    wrong
        Tasks with another label than most of their group.
    time_right
        Share of the run time of the groups that has the label of most of the group.
    labels
        The confidence of each label that a group has, and whether it is right: most of its group
        have it, and most that have it are of this group. On tasks that are not of the benchmark
        no such label is right.
    """

    index: float
    unassigned: int
    wrong: int
    time_right: float
    labels: tuple[tuple[float, bool], ...]


def groups_by_fork_order(trace: Trace) -> dict[int, int]:
    """Return the group of each of the benchmark's tasks, by its number in the trace."""
    parents = trace.forks.parent.tolist()
    ((parent, _),) = Counter(parents).most_common(1)
    children = trace.forks.child[trace.forks.parent == parent].tolist()
    assert len(children) % GROUP == 0
    return {child: place // GROUP for place, child in enumerate(children)}


def groups_in_file(trace: Trace, path: Path) -> dict[int, int]:
    """Return the group of each of the benchmark's tasks, as ``pid,group,role`` says."""
    with path.open(newline="") as stream:
        groups = {int(row["pid"]): int(row["group"]) for row in csv.DictReader(stream)}
    return {n: groups[task.tid] for n, task in enumerate(trace.tasks) if task.tid in groups}


def score(trace: Trace, inferred: tuple[Inferred, ...], truth: dict[int, int]) -> Score:
    """Return how well labels agree with the groups."""
    found = {task: inferred[task].fragment for task in truth}
    usual: dict[int, str | None] = {}
    for group in set(truth.values()):
        labels = Counter(found[task] for task in truth if truth[task] == group)
        labels.pop(None, None)
        usual[group] = max(labels, key=labels.__getitem__, default=None)
    ran = np.bincount(trace.task, trace.end - trace.start, len(trace.tasks))
    right = [
        task for task in truth if found[task] is not None and found[task] == usual[truth[task]]
    ]
    of_groups = {label for label in found.values() if label is not None}
    owner = {
        label: Counter(truth[task] for task in truth if found[task] == label).most_common(1)[0][0]
        for label in of_groups
    }
    judged = tuple(
        (
            given.confidence,
            truth.get(task) == owner[given.fragment]
            and given.fragment == usual[owner[given.fragment]],
        )
        for task, given in enumerate(inferred)
        if given.fragment in of_groups
    )
    unassigned = sum(label is None for label in found.values())
    return Score(
        index=adjusted_rand_index(each_apart(list(found.values())), list(truth.values())),
        unassigned=unassigned,
        wrong=len(truth) - len(right) - unassigned,
        time_right=float(ran[right].sum() / ran[list(truth)].sum()),
        labels=judged,
    )
