"""Kinds of tasks, and labels that file formats of integer programs can hold."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix

LONGEST_LABEL = 40
"""Characters of a label: names of variables hold two of them, and some readers take 255."""

MOST_NAMED = 6
"""At most six tasks of a kind are named in the notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskKind:
    """Tasks that cost the same and take the same room, wherever they run.

    Parameters
    ----------
    label
        That of the first of them.
    task
        One of their entries in the instance.
    number
        How many tasks there are.
    names
        Ids of their entries.
    """

    label: str
    task: Task
    number: int
    names: tuple[str, ...]

    def note(self, instance: Instance) -> str:
        """Return a line that says which tasks these are."""
        named = ", ".join(self.names[:MOST_NAMED])
        more = ", ..." if len(self.names) > MOST_NAMED else ""
        task = self.task
        what = [
            f"type {task.type}" if isinstance(instance.penalty, PenaltyMatrix) else f"{task.df}"
        ]
        if isinstance(instance.penalty, PenaltyF):
            what += [f"{task.lines} lines", str(task.leaves)]
        if instance.objective is Objective.MAKESPAN:
            what.append(f"exec {task.exec}")
        if instance.has_sizes:
            what.append(f"size {task.size}")
        tasks = "1 task" if self.number == 1 else f"{self.number} tasks"
        return f"{self.label}: {tasks} ({named}{more}): {', '.join(what)}"


def kinds_of(instance: Instance) -> list[TaskKind]:
    """Return the kinds of tasks of an instance, in the order of their first task.

    Where tasks may have to wait, each is a kind of its own.
    """
    if instance.is_timed:
        tasks = instance.tasks_by_name()
        return [
            TaskKind(label=label, task=task, number=1, names=(name,))
            for label, (name, task) in zip(labels_of(tasks), tasks.items(), strict=True)
        ]
    groups: dict[Hashable, list[Task]] = {}
    for task in instance.tasks:
        groups.setdefault(_what_counts(instance, task), []).append(task)
    labels = labels_of(tasks[0].id for tasks in groups.values())
    return [
        TaskKind(
            label=label,
            task=tasks[0],
            number=sum(task.multiplicity for task in tasks),
            names=tuple(task.id for task in tasks),
        )
        for label, tasks in zip(labels, groups.values(), strict=True)
    ]


def _what_counts(instance: Instance, task: Task) -> Hashable:
    """Return all of a task that costs, times and capacities depend on."""
    time = task.exec if instance.objective is Objective.MAKESPAN else 0
    size = instance.size_of(task)
    match instance.penalty:
        case PenaltyMatrix():
            return task.type, time, size
        case PenaltyF():
            return task.df, instance.penalty.reading(task.lines or 0), task.leaves, time, size
    return task.df, time, size


def labels_of(names: Iterable[str]) -> list[str]:
    """Return different labels for names, of letters, digits and dots.

    Underscores divide the parts of a variable's name, so labels have none.

    Examples
    --------
    >>> labels_of(["web", "web#1", "web.1", "ä b"])
    ['web', 'web.1', 'web.1.2', '..b']
    """
    labels: dict[str, None] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]", ".", name)[:LONGEST_LABEL] or "."
        label, copy = plain, 1
        while label in labels:
            copy += 1
            label = f"{plain}.{copy}"
        labels[label] = None
    return list(labels)
