"""Simulated annealing over the contents of the CPUs, for f and g, where the best order is known.

It looks for a schedule within a target, one less than the best objective so far. The energy is
every CPU's excess over the target. A small share of its cost is added, which guides the search
among schedules of equal excess.
"""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Sequence

from dfopt.problem.instance import Objective
from dfopt.solvers.heuristics.constructive import construct, first_of
from dfopt.solvers.heuristics.contents import NOTHING, Contents, Part, PartCosts
from dfopt.solvers.search import Search

logger = logging.getLogger(__name__)

COST_SHARE = 0.2
"""Share of a CPU's cost that counts as energy beside its excess over the target."""

CONSTRUCTIONS = 6
STEPS_PER_TASK = 400
MOST_STEPS = 30_000
ABOVE_TARGET = 0.5
"""Probability that a move begins at a CPU above the target."""

ONE_WAY = 0.3
"""Probability that tasks move without any in exchange, where there is room."""

SINGLE = 0.4
"""Probability that one task moves each way."""

EQUAL = 0.5
"""Probability that, of the other exchanges, equally many tasks go each way."""

FAILURES = 2
"""The annealing gives up after this number of missed targets in a row."""


class Annealing:
    """Improves the best schedule of a search.

    Parameters
    ----------
    search
        Where improvements are reported.
    effort
        Scales the number of steps.
    """

    def __init__(self, search: Search, effort: float = 1.0) -> None:
        self.search = search
        # A second annealing must not repeat the first one.
        self.random = random.Random(f"{search.seed}/{len(search.history)}")
        self.form = search.form
        self.room = search.instance.room
        self.sizes = None
        if search.instance.has_sizes:
            self.sizes = [task_type.size for task_type in search.types]
        self.total = search.instance.objective is Objective.TOTAL_PENALTY
        steps = min(MOST_STEPS, STEPS_PER_TASK * search.instance.task_count)
        self.steps = max(1, int(effort * steps))
        visit = sum(costs.entry + costs.exit for costs in self.form.costs) / len(self.form.costs)
        self.hot = max(1.0, visit / 3)
        self.cold = self.hot / 20

    def run(self) -> None:
        """Anneal the best schedule known, or constructed ones, until targets are missed."""
        costs = PartCosts(self.form)
        if self.search.schedule is None:
            contents = self._constructed(costs)
        else:
            contents = Contents(costs, self.search.contents(), self.sizes)
            self._report(contents)
        if self.search.instance.cpus == 1:
            return
        failures = 0
        while failures < FAILURES:
            if self._anneal(contents):
                failures = 0
            else:
                failures += 1

    def _constructed(self, costs: PartCosts) -> Contents:
        """Return the best of a few constructed schedules."""
        constructions = construct(self.search, costs, self.random)
        candidates = []
        for _ in range(CONSTRUCTIONS):
            candidates.append(next(constructions))
            self._report(candidates[-1])
            self.search.check()
        return min(candidates, key=lambda contents: self._value(contents.costs))

    def _value(self, costs: list[int]) -> int:
        return sum(costs) if self.total else max(costs)

    def _report(self, contents: Contents) -> bool:
        if self.search.objective is None or self._value(contents.costs) < self.search.objective:
            self.search.found(contents.orders())
            return True
        return False

    def _anneal(self, contents: Contents) -> bool:
        """Walk from hot to cold; return whether a better schedule was found on the way."""
        assert self.search.objective is not None
        target = self.search.objective - 1
        cooling = (self.cold / self.hot) ** (1 / self.steps)
        temperature = self.hot
        for step in range(self.steps):
            temperature *= cooling
            if step % 64 == 0:
                self.search.check()
            if self._step(contents, target, temperature) and self._report(contents):
                logger.debug("met the target %d after %d of %d steps", target, step, self.steps)
                return True
        logger.debug("missed the target %d", target)
        return False

    def _energy(self, cost: int, target: int) -> float:
        return cost if self.total else max(0, cost - target) + COST_SHARE * cost

    def _step(self, contents: Contents, target: int, temperature: float) -> bool:
        """Try one random move; return whether the target is then met."""
        cpu, other = self._two_cpus(contents, target)
        if not contents.parts[cpu]:
            return False
        lost, gained = self._exchange(contents, cpu, other)
        if not lost or lost == gained:
            return False
        growth = contents.size_of(gained) - contents.size_of(lost)
        if max(contents.loads[cpu] + growth, contents.loads[other] - growth) > self.room:
            return False
        parts, cost = contents.priced(cpu, lost, gained)
        other_parts, other_cost = contents.priced(other, gained, lost)
        rise = (
            self._energy(cost, target)
            + self._energy(other_cost, target)
            - self._energy(contents.costs[cpu], target)
            - self._energy(contents.costs[other], target)
        )
        if rise > 0 and self.random.random() >= math.exp(-rise / temperature):
            return False
        contents.put(cpu, parts, cost, growth)
        contents.put(other, other_parts, other_cost, -growth)
        return self._value(contents.costs) <= target

    def _two_cpus(self, contents: Contents, target: int) -> tuple[int, int]:
        """Return two CPUs; every second time the first one is above the target."""
        cpus = len(contents.costs)
        cpu = self.random.randrange(cpus)
        if self.random.random() < ABOVE_TARGET:
            above = [one for one, cost in enumerate(contents.costs) if cost > target]
            cpu = self.random.choice(above) if above else cpu
        other = self.random.randrange(cpus - 1)
        return cpu, other + (other >= cpu)

    def _exchange(self, contents: Contents, cpu: int, other: int) -> tuple[Part, Part]:
        """Return the tasks that ``cpu`` gives to ``other``, and those it gets in exchange."""
        part = self._random_part(contents, cpu)
        size = sum(part.values())
        room = self.room - contents.loads[other]
        single = self.random.random() < SINGLE
        if not contents.parts[other] or (room > 0 and self.random.random() < ONE_WAY):
            return self._some_of(part, 1 if single else min(size, room)), NOTHING
        other_part = self._random_part(contents, other)
        other_size = sum(other_part.values())
        if single:
            give = take = 1
        elif self.random.random() < EQUAL:
            give = take = min(size, other_size)
        else:
            own_room = self.room - contents.loads[cpu]
            give = min(size, other_size + room)
            take = min(other_size, size + own_room)
        lost = self._some_of(part, give)
        if self.sizes is not None:
            needed = contents.size_of(lost) - room
            return lost, self._some_of_size(other_part, self.sizes, needed)
        return lost, self._some_of(other_part, take)

    def _some_of_size(self, part: Part, sizes: Sequence[int], wanted: int) -> Part:
        """Return random tasks of ``part`` of at least this size together, if it has them."""
        tasks = [task_type for task_type, count in part.items() for _ in range(count)]
        self.random.shuffle(tasks)
        chosen: dict[int, int] = {}
        for task_type in tasks:
            if wanted <= 0:
                break
            chosen[task_type] = chosen.get(task_type, 0) + 1
            wanted -= sizes[task_type]
        return chosen

    def _random_part(self, contents: Contents, cpu: int) -> Part:
        parts = contents.parts[cpu]
        return parts[self.random.choice(list(parts))]

    def _some_of(self, part: Part, wanted: int) -> Part:
        """Return ``wanted`` random tasks of ``part``."""
        if wanted >= sum(part.values()):
            return part
        types = list(part)
        self.random.shuffle(types)
        return first_of({task_type: part[task_type] for task_type in types}, wanted)
