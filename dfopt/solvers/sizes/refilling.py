"""Large-neighbourhood search where tasks have sizes and there is little room, for f and g.

Moves of single tasks hardly ever fit there. So a few CPUs are emptied and filled anew, fragment
after fragment, each as far as possible; that is kept if everything fits again and costs no more
(Shaw 1998; the filling is that of :mod:`dfopt.solvers.sizes.packings`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from dfopt.problem.instance import Objective
from dfopt.solvers.heuristics.contents import Contents, PartCosts
from dfopt.solvers.search import Search
from dfopt.solvers.sizes.packings import Item, can_fill, filled_cpu

STEPS_PER_TASK = 60
MOST_STEPS = 15_000

MOST_CPUS = 5
"""At most 5 CPUs are emptied at a time."""

EXPENSIVE = 0.5
"""Probability that the first emptied CPU is the most expensive one of a few."""

RELATED = 0.8
"""Probability that all emptied CPUs hold a fragment of the first one."""


def refill(search: Search) -> None:
    """Improve the best schedule of an instance with sizes, under f or g without waits."""
    instance = search.instance
    if not can_fill(search) or instance.cpus == 1 or search.schedule is None:
        return
    refilling = _Refilling(search)
    for step in range(min(MOST_STEPS, STEPS_PER_TASK * instance.task_count)):
        if step % 16 == 0:
            search.check()
        refilling.step()


class _Refilling:
    """The contents of the CPUs, which never become more expensive.

    Parameters
    ----------
    search
        It knows a schedule.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._costs = PartCosts(search.form)
        self._sizes = [task_type.size for task_type in search.types]
        self._contents = Contents(self._costs, search.contents(), self._sizes)
        self._source = random.Random(f"{search.seed}/{len(search.history)}")
        self._adds_up = search.instance.objective is Objective.TOTAL_PENALTY

    def step(self) -> None:
        """Empty some CPUs, fill them anew, and keep that if it costs no more."""
        chosen = self._some_cpus()
        groups: dict[int, list[Item]] = {}
        for cpu in chosen:
            for fragment, part in self._contents.parts[cpu].items():
                items = [
                    (self._sizes[number], number) for number in part for _ in range(part[number])
                ]
                groups.setdefault(fragment, []).extend(items)
        for items in groups.values():
            items.sort()
        order = list(groups.values())
        self._source.shuffle(order)
        self._source.shuffle(chosen)
        held = []
        for _ in chosen:
            left = [group for group in order if group]
            held.append(filled_cpu(left, self._search.instance.room, self._source))
        if any(order):
            return
        contents = [Counter(number for _, number in own) for own in held]
        priced = [
            self._contents.filled(cpu, content)
            for cpu, content in zip(chosen, contents, strict=True)
        ]
        before = [self._contents.costs[cpu] for cpu in chosen]
        after = [cost for _, cost in priced]
        if self._rank(after) > self._rank(before):
            return
        for cpu, content, (parts, cost) in zip(chosen, contents, priced, strict=True):
            growth = self._contents.size_of(content) - self._contents.loads[cpu]
            self._contents.put(cpu, parts, cost, growth)
        value = sum(self._contents.costs) if self._adds_up else max(self._contents.costs)
        if self._search.objective is None or value < self._search.objective:
            self._search.found(self._contents.orders())

    def _some_cpus(self) -> list[int]:
        """Return CPUs to empty: the first one at random or a most expensive one, then others."""
        source, parts = self._source, self._contents.parts
        cpus = range(len(parts))
        first = source.choice(cpus)
        if source.random() < EXPENSIVE:
            costs = self._contents.costs
            first = max(source.sample(cpus, min(4, len(cpus))), key=costs.__getitem__)
        others: Sequence[int] = [cpu for cpu in cpus if cpu != first]
        if source.random() < RELATED:
            others = [cpu for cpu in others if parts[cpu].keys() & parts[first].keys()] or others
        number = source.randint(1, MOST_CPUS - 1)
        return [first, *source.sample(others, min(number, len(others)))]

    def _rank(self, costs: Sequence[int]) -> tuple[int, ...]:
        return (sum(costs),) if self._adds_up else (max(costs), sum(costs))
