"""Local search over what each CPU holds, for f and g, where the best order is known."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from dfopt.instance import Objective
from dfopt.ordering import ClosedForm
from dfopt.solvers.constructive import Contents, construct
from dfopt.solvers.search import Search

Move = tuple[int, Counter[int], int, Counter[int]]
"""CPU, what leaves it, the other CPU, what comes back from there."""


class ContentSearch:
    """Repeated descents by moving and swapping tasks and whole parts of fragments.

    Parameters
    ----------
    search
        Where improvements are reported.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.form = ClosedForm(search.instance, search.types)
        self.random = random.Random(search.seed)
        self.total = search.instance.objective is Objective.TOTAL_PENALTY
        self.capacity = search.instance.tasks_per_cpu

    def run(self, rounds: int) -> None:
        """Improve ``rounds`` constructed schedules, and shaken copies of the best one."""
        best: Contents | None = None
        best_rank: tuple[int, ...] | None = None
        constructions = construct(self.search, self.form, self.random)
        for number in range(rounds):
            if best is None or number % 4 < 2:
                contents = next(constructions)
            else:
                contents = self._shaken(best)
            self._report(contents)
            self._descend(contents)
            rank = self._rank(self._costs(contents))
            if best_rank is None or rank < best_rank:
                best, best_rank = contents, rank
                self._report(contents)
            self.search.check()

    def _costs(self, contents: Contents) -> list[int]:
        return [self.form.cost(cpu, content) for cpu, content in enumerate(contents)]

    def _rank(self, costs: list[int]) -> tuple[int, ...]:
        """Return what is minimised: the objective first, then what leads towards it."""
        return (sum(costs),) if self.total else (*sorted(costs, reverse=True),)

    def _report(self, contents: Contents) -> None:
        costs = self._costs(contents)
        value = sum(costs) if self.total else max(costs)
        if self.search.objective is None or value < self.search.objective:
            self.search.found(
                [self.form.order(cpu, content) for cpu, content in enumerate(contents)]
            )

    def _descend(self, contents: Contents) -> None:
        """Take improving moves until there is none; contents change in place."""
        costs = self._costs(contents)
        improved = True
        while improved:
            improved = False
            self.search.check()
            for cpu in self._sources(costs):
                improved = self._improve_from(cpu, contents, costs)
                if improved:
                    break

    def _sources(self, costs: list[int]) -> list[int]:
        """Return the CPUs whose cost must fall for the objective to fall."""
        if self.total:
            return self.random.sample(range(len(costs)), len(costs))
        worst = max(costs)
        return [cpu for cpu, cost in enumerate(costs) if cost == worst][:1]

    def _improve_from(self, cpu: int, contents: Contents, costs: list[int]) -> bool:
        others = [other for other in range(len(contents)) if other != cpu]
        self.random.shuffle(others)
        for count, (_, out, other, back) in enumerate(self._moves(cpu, others, contents)):
            if count % 64 == 63:
                self.search.check()
            mine = contents[cpu] - out + back
            if self.total:
                cost = self.form.cost(cpu, mine)
                theirs = contents[other] - back + out
                better = cost + self.form.cost(other, theirs) < costs[cpu] + costs[other]
            else:
                cost = self.form.cost(cpu, mine)
                if cost >= costs[cpu]:
                    continue
                theirs = contents[other] - back + out
                better = self.form.cost(other, theirs) < costs[cpu]
            if better:
                contents[cpu], contents[other] = mine, theirs
                costs[cpu] = self.form.cost(cpu, mine)
                costs[other] = self.form.cost(other, theirs)
                return True
        return False

    def _moves(self, cpu: int, others: list[int], contents: Contents) -> Iterator[Move]:
        """Yield moves and swaps: parts of fragments first, then single tasks."""
        parts = self._parts(contents[cpu])
        load = contents[cpu].total()
        for other in others:
            room = self.capacity - contents[other].total()
            their_parts = self._parts(contents[other])
            for part in parts:
                if part.total() <= room:
                    yield cpu, part, other, Counter()
                for their_part in their_parts:
                    grows = part.total() - their_part.total()
                    if grows <= room and load - grows <= self.capacity:
                        yield cpu, part, other, their_part
                    elif grows > room:
                        yield cpu, _head(part, their_part.total() + room), other, their_part
                    else:
                        yield cpu, part, other, _head(their_part, self.capacity - load + part.total())
        for other in others:
            has_room = contents[other].total() < self.capacity
            for kind in contents[cpu]:
                out = Counter({kind: 1})
                if has_room:
                    yield cpu, out, other, Counter()
                for their_kind in contents[other]:
                    if their_kind != kind:
                        yield cpu, out, other, Counter({their_kind: 1})

    def _parts(self, content: Counter[int]) -> list[Counter[int]]:
        parts: dict[int, Counter[int]] = {}
        for kind, count in content.items():
            parts.setdefault(self.form.costs[kind].fragment, Counter())[kind] = count
        return list(parts.values())

    def _shaken(self, contents: Contents) -> Contents:
        """Return a copy with a few random tasks swapped between random CPUs."""
        shaken = [content.copy() for content in contents]
        for _ in range(self.random.randint(2, 6)):
            filled = [cpu for cpu, content in enumerate(shaken) if content]
            if len(filled) < 2:
                break
            one, two = self.random.sample(filled, 2)
            out = Counter({self.random.choice(list(shaken[one])): 1})
            back = Counter({self.random.choice(list(shaken[two])): 1})
            shaken[one] = shaken[one] - out + back
            shaken[two] = shaken[two] - back + out
        return shaken


def _head(part: Counter[int], most: int) -> Counter[int]:
    """Return ``most`` tasks of ``part``, taken evenly from its front."""
    head: Counter[int] = Counter()
    for kind, count in part.items():
        taken = min(count, most)
        if taken:
            head[kind] = taken
        most -= taken
    return head
