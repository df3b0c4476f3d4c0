"""The aggregation that the exact methods for f and g stand on: task classes and entry tokens.

Within a fragment, tasks of one size that leave it in the same state and pay the same wherever they
run differ only in their entry cost, and that counts only for a task that opens a block. So a CPU's
content is a count per class, and a named task, a *token*, for each opened block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.task_types import TaskType
from dfopt.problem.instance import Instance, Objective
from dfopt.solvers.search import Search
from dfopt.structs import Record

LARGEST_SIZES = 2**24
FEWEST_ROWS = 256
"""Fragments times the room on a CPU are at most 2**24, and where there is a grid of costs, at most
that by 256: tables of contents of CPUs grow with it."""


def has_moderate_sizes(search: Search) -> bool:
    """Return whether tables of contents by size and cost are small enough, under f and g."""
    instance = search.instance
    rows = 1 if instance.objective is Objective.TOTAL_PENALTY else FEWEST_ROWS
    entries = instance.room * len(search.form.fragments) * rows
    return not instance.has_sizes or entries <= LARGEST_SIZES


class Token(Record):
    """Tasks of one class that cost the same to open a block with.

    Parameters
    ----------
    entry
        That cost.
    count
        Number of blocks that they can open.
    """

    entry: int
    count: int


class CountedClass(Record):
    """Tasks of one fragment that differ at most in their entry cost.

    Parameters
    ----------
    fragment, base, exit, end
        Their common costs, see :class:`~dfopt.costs.closed_form.BlockCosts`.
    task_types
        Their types, cheapest entry first.
    count
        Number of the tasks.
    tokens
        The cheapest of them, as many as there are CPUs.
    size
        The size of each task, see :class:`~dfopt.costs.task_types.TaskType`.
    """

    fragment: int
    base: int
    exit: int
    end: int
    task_types: tuple[int, ...]
    count: int
    tokens: tuple[Token, ...]
    size: int = 1


class Aggregation(Record):
    """An instance as the count model sees it.

    Parameters
    ----------
    instance, types, form
        The instance, its types, and what they pay for their duties in a block.
    cpu_groups
        For each CPU the first CPU identical to it.
    classes
        The classes of its tasks, fragment by fragment.
    """

    instance: Instance
    types: Sequence[TaskType]
    form: ClosedForm
    cpu_groups: Sequence[int]
    classes: Sequence[CountedClass]

    @classmethod
    def of(cls, search: Search) -> Aggregation:
        """Return the aggregation of the instance of ``search``."""
        return cls(
            instance=search.instance,
            types=search.types,
            form=search.form,
            cpu_groups=search.cpu_groups,
            classes=task_classes(search.types, search.form, search.instance.cpus),
        )


def task_classes(
    types: Sequence[TaskType], form: ClosedForm, cpus: int
) -> tuple[CountedClass, ...]:
    """Return the classes of all tasks, fragment by fragment."""
    members: defaultdict[tuple[int, int, int, int, int], list[int]] = defaultdict(list)
    for task_type, costs in enumerate(form.costs):
        key = (costs.fragment, costs.base, costs.exit, costs.end, types[task_type].size)
        members[key].append(task_type)
    classes = []
    for (fragment, base, leaving, ending, size), task_types in sorted(members.items()):
        task_types.sort(key=lambda task_type: form.costs[task_type].entry)
        classes.append(
            CountedClass(
                fragment=fragment,
                base=base,
                exit=leaving,
                end=ending,
                task_types=tuple(task_types),
                count=sum(types[task_type].count for task_type in task_types),
                tokens=tuple(_tokens(types, form, task_types, cpus)),
                size=size,
            )
        )
    return tuple(classes)


def _tokens(
    types: Sequence[TaskType], form: ClosedForm, task_types: Sequence[int], most: int
) -> list[Token]:
    """Return tokens of equal entry costs; no class opens more blocks than there are CPUs."""
    counts: dict[int, int] = {}
    for task_type in task_types:
        available = min(types[task_type].count, most - sum(counts.values()))
        if available > 0:
            entry = form.costs[task_type].entry
            counts[entry] = counts.get(entry, 0) + available
    return [Token(entry=entry, count=count) for entry, count in counts.items()]


def contents_of(
    aggregation: Aggregation,
    counts: Sequence[Mapping[int, int]],
    openers: Sequence[Mapping[int, Sequence[int]]],
) -> list[dict[int, int]]:
    """Return contents as counts of types, for contents as counts of classes.

    Parameters
    ----------
    counts
        For each CPU the number of tasks of each class.
    openers
        For each CPU and class the entry costs of the tokens that it uses.
    """
    classes, form = aggregation.classes, aggregation.form
    left = [task_type.count for task_type in aggregation.types]
    contents: list[dict[int, int]] = [{} for _ in counts]

    def take(cpu: int, task_type: int, count: int) -> None:
        contents[cpu][task_type] = contents[cpu].get(task_type, 0) + count
        left[task_type] -= count

    missing = [dict(by_class) for by_class in counts]
    for cpu, by_class in enumerate(openers):
        for task_class, entries in by_class.items():
            for entry in entries:
                task_type = next(
                    task_type
                    for task_type in classes[task_class].task_types
                    if left[task_type] and form.costs[task_type].entry == entry
                )
                take(cpu, task_type, 1)
                missing[cpu][task_class] -= 1
    for cpu, still_missing in enumerate(missing):
        for task_class, held in still_missing.items():
            wanted = held
            # Those with the most expensive entries come first: these tasks do not pay them.
            for task_type in reversed(classes[task_class].task_types):
                taken = min(wanted, left[task_type])
                if taken:
                    take(cpu, task_type, taken)
                    wanted -= taken
    return contents
