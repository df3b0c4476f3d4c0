"""From schedules to columns of the LP, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dfopt.solvers.aggregation import contents_of
from dfopt.solvers.configuration.columns import Column
from dfopt.solvers.configuration.features import Content
from dfopt.solvers.configuration.layout import Layout


def columns_of(layout: Layout, held: Sequence[Mapping[int, int]]) -> Iterator[Column]:
    """Yield a column for every CPU that is not empty.

    Parameters
    ----------
    layout
        The instance as arrays.
    held
        For each CPU how many tasks of each type it holds.
    """
    for number, group in enumerate(layout.groups):
        for cpu in group.cpus:
            if held[cpu]:
                cost = layout.aggregation.form.cost(cpu, held[cpu])
                yield Column(number, _content(layout, cpu, held[cpu]), cost)


def orders_of(layout: Layout, columns: Sequence[Column]) -> list[list[int]]:
    """Return the schedule that columns are, as orders of type numbers, one per CPU."""
    aggregation = layout.aggregation
    waiting = [list(group.cpus) for group in layout.groups]
    counts: list[dict[int, int]] = [{} for _ in range(aggregation.instance.cpus)]
    openers: list[dict[int, list[int]]] = [{} for _ in counts]
    for column in columns:
        cpu = waiting[column.group].pop()
        counts[cpu] = dict(column.content.tasks)
        for token in column.content.tokens:
            one = int(layout.token_classes[token])
            openers[cpu].setdefault(one, []).append(layout.entries[token])
    contents = contents_of(aggregation, counts, openers)
    return [aggregation.form.order(cpu, content) for cpu, content in enumerate(contents)]


def _content(layout: Layout, cpu: int, held: Mapping[int, int]) -> Content:
    """Return what a CPU holds by classes, with the tokens of its best order."""
    form = layout.aggregation.form
    tasks = Counter(layout.class_of[kind] for kind in held for _ in range(held[kind]))
    tokens = []
    fragments: list[int] = []
    last = None
    for kind in form.order(cpu, held):
        fragment = form.costs[kind].fragment
        if fragment != last and not (last is None and form.starts[cpu].spares_entry(fragment)):
            tokens.append(layout.token_of[layout.class_of[kind], form.costs[kind].entry])
        if fragment not in fragments:
            fragments.append(fragment)
        last = fragment
    return Content(tuple(sorted(tasks.items())), tuple(sorted(tokens)), tuple(sorted(fragments)))
