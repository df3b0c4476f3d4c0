"""The aggregation that the exact methods for f and g stand on: task classes and entry tokens.

Within a fragment, tasks that leave it in the same state and pay the same wherever they run
differ only in their entry cost, and that counts only for a task that opens a block. So a CPU's
content is a count per class, and a named task, a *token*, for each opened block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.task_types import TaskType
from dfopt.problem.instance import Instance
from dfopt.solvers.search import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """Tasks of one class that cost the same to open a block with.

    Parameters
    ----------
    entry
        That cost.
    count
        How many blocks they can open.
    """

    entry: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedClass:
    """Tasks of one fragment that differ at most in their entry cost.

    Parameters
    ----------
    fragment, base, exit, end
        What they have in common, see :class:`~dfopt.costs.closed_form.BlockCosts`.
    kinds
        Their types, cheapest entry first.
    count
        How many tasks they are.
    tokens
        The cheapest of them, as many as there are CPUs.
    """

    fragment: int
    base: int
    exit: int
    end: int
    kinds: tuple[int, ...]
    count: int
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregation:
    """An instance as the count model sees it.

    Parameters
    ----------
    instance, types, form
        The instance, its types, and what they cost by their place in a block.
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
    members: defaultdict[tuple[int, int, int, int], list[int]] = defaultdict(list)
    for kind, costs in enumerate(form.costs):
        members[costs.fragment, costs.base, costs.exit, costs.end].append(kind)
    classes = []
    for (fragment, base, leaving, ending), kinds in sorted(members.items()):
        kinds.sort(key=lambda kind: form.costs[kind].entry)
        classes.append(
            CountedClass(
                fragment=fragment,
                base=base,
                exit=leaving,
                end=ending,
                kinds=tuple(kinds),
                count=sum(types[kind].count for kind in kinds),
                tokens=tuple(_tokens(types, form, kinds, cpus)),
            )
        )
    return tuple(classes)


def _tokens(
    types: Sequence[TaskType], form: ClosedForm, kinds: Sequence[int], most: int
) -> list[Token]:
    """Merge equal entry costs; no class opens more blocks than there are CPUs."""
    counts: dict[int, int] = {}
    for kind in kinds:
        available = min(types[kind].count, most - sum(counts.values()))
        if available > 0:
            entry = form.costs[kind].entry
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
    left = [one.count for one in aggregation.types]
    contents: list[dict[int, int]] = [{} for _ in counts]

    def take(cpu: int, kind: int, number: int) -> None:
        contents[cpu][kind] = contents[cpu].get(kind, 0) + number
        left[kind] -= number

    missing = [dict(by_class) for by_class in counts]
    for cpu, by_class in enumerate(openers):
        for one, entries in by_class.items():
            for entry in entries:
                kind = next(
                    kind
                    for kind in classes[one].kinds
                    if left[kind] and form.costs[kind].entry == entry
                )
                take(cpu, kind, 1)
                missing[cpu][one] -= 1
    for cpu, still_missing in enumerate(missing):
        for one, held in still_missing.items():
            number = held
            # The dearest first: their entries are not paid for.
            for kind in reversed(classes[one].kinds):
                part = min(number, left[kind])
                if part:
                    take(cpu, kind, part)
                    number -= part
    return contents
