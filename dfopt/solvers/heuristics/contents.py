"""The contents of the CPUs, with their costs kept up to date, for penalties f and g."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dfopt.costs.closed_form import ClosedForm, Roles, best_ends

Part = Mapping[int, int]
"""Tasks of one fragment on one CPU: the number of tasks of each type."""

Parts = Mapping[int, Part]
"""The tasks that one CPU holds, by fragment."""

NOTHING: Part = {}
LARGEST_CACHE = 200_000


class PartCosts:
    """F* of a CPU's parts; a part that was seen before is not worked out again.

    Parameters
    ----------
    form
        The closed form of the instance.
    """

    def __init__(self, form: ClosedForm) -> None:
        self.form = form
        self._known: dict[frozenset[tuple[int, int]], tuple[int, Roles]] = {}

    def cost(self, cpu: int, parts: Parts) -> int:
        """Return F* of ``parts`` on ``cpu``."""
        if not parts:
            return self.form.starts[cpu].idle
        total = 0
        blocks = {}
        for fragment, part in parts.items():
            base, blocks[fragment] = self._priced(part)
            total += base
        return total + best_ends(self.form.starts[cpu], blocks).cost

    def _priced(self, part: Part) -> tuple[int, Roles]:
        key = frozenset(part.items())
        priced = self._known.get(key)
        if priced is None:
            if len(self._known) >= LARGEST_CACHE:
                self._known.clear()
            base = sum(self.form.costs[task_type].base * count for task_type, count in part.items())
            priced = self._known[key] = (base, self.form.roles(list(part.items())))
        return priced


class Contents:
    """The tasks that every CPU holds, and the costs of the CPUs.

    Parameters
    ----------
    costs
        Prices the parts.
    held
        For each CPU how many tasks of each type it holds.
    sizes
        The size of a task of each type; None where only the number of tasks counts.
    """

    def __init__(
        self,
        costs: PartCosts,
        held: Sequence[Mapping[int, int]],
        sizes: Sequence[int] | None = None,
    ) -> None:
        self._price = costs
        self.sizes = sizes
        self.loads = [self.size_of(content) for content in held]
        self.parts: list[Parts] = []
        self.costs: list[int] = []
        for cpu, content in enumerate(held):
            parts, cost = self.filled(cpu, content)
            self.parts.append(parts)
            self.costs.append(cost)

    def orders(self) -> list[list[int]]:
        """Return the cheapest order of every CPU's tasks, as type numbers."""
        return [self._price.form.order(cpu, held) for cpu, held in enumerate(self.held())]

    def held(self) -> list[dict[int, int]]:
        """Return for each CPU how many tasks of each type it holds."""
        return [
            {task_type: count for part in parts.values() for task_type, count in part.items()}
            for parts in self.parts
        ]

    def filled(self, cpu: int, content: Mapping[int, int]) -> tuple[Parts, int]:
        """Return parts and cost of ``cpu`` if it holds this number of tasks of each type."""
        parts: dict[int, dict[int, int]] = {}
        for task_type, count in content.items():
            if count:
                fragment = self._price.form.costs[task_type].fragment
                parts.setdefault(fragment, {})[task_type] = count
        return parts, self._price.cost(cpu, parts)

    def priced(self, cpu: int, lost: Part, gained: Part) -> tuple[Parts, int]:
        """Return the content and cost of ``cpu`` with some tasks lost and others gained."""
        parts = dict(self.parts[cpu])
        self._add(parts, lost, -1)
        self._add(parts, gained, 1)
        return parts, self._price.cost(cpu, parts)

    def holds(self, cpu: int, part: Part) -> bool:
        """Return whether a CPU holds something of the fragment of ``part``, perhaps from before."""
        fragment = self._price.form.costs[next(iter(part))].fragment
        return fragment in self.parts[cpu] or (
            self._price.form.starts[cpu].free_fragment == fragment
        )

    def size_of(self, tasks: Part) -> int:
        """Return the size of some tasks."""
        if self.sizes is None:
            return sum(tasks.values())
        return sum(self.sizes[task_type] * count for task_type, count in tasks.items())

    def put(self, cpu: int, parts: Parts, cost: int, growth: int) -> None:
        """Let ``cpu`` hold ``parts``, of a size that is larger by ``growth`` than before."""
        self.parts[cpu] = parts
        self.costs[cpu] = cost
        self.loads[cpu] += growth

    def _add(self, parts: dict[int, Part], tasks: Part, sign: int) -> None:
        if not tasks:
            return
        fragment = self._price.form.costs[next(iter(tasks))].fragment
        part = dict(parts.get(fragment, NOTHING))
        for task_type, count in tasks.items():
            part[task_type] = part.get(task_type, 0) + sign * count
            if not part[task_type]:
                del part[task_type]
        if part:
            parts[fragment] = part
        else:
            parts.pop(fragment, None)
