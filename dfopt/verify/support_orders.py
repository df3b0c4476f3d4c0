"""What orders of tasks cost at least and are worth at most, for every support.

The support of an order is the set of types that it runs. Orders are extended type by type
(dynamic programming over sets of types and the last type, as by Held and Karp, 1962).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import add

from dfopt.errors import MethodError
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.verify.support_worth import Extensions, TaskWorth
from dfopt.verify.tree import UnprovenError

MOST_SUPPORTS = 1 << 17
"""At most this number of supports are looked at."""

Start = tuple[tuple[int, ...], int]
"""What a CPU pays for each type as its first one, and without tasks."""

Table = dict[int, list[int | None]]
"""For each support, a bit for each type, the least cost of an order by its last type."""


class Orders:
    """What orders of tasks cost, type by type.

    Parameters
    ----------
    instance
        One with a matrix. Waits for releases and precedence are not counted.
    threshold
        The most that a CPU may pay.
    check
        Called often; what it raises ends the work.
    """

    def __init__(
        self, instance: Instance, threshold: int, check: Callable[[], object] = lambda: None
    ) -> None:
        timed = instance.objective is Objective.MAKESPAN
        self.threshold = threshold
        self.check = check
        self._limits: dict[tuple[Start, tuple[int, ...]], dict[int, int]] = {}
        self.capacity = instance.tasks_per_cpu
        numbers = Counter[str]()
        examples: dict[str, Task] = {}
        least_exec: dict[str, int] = {}
        for task in instance.tasks:
            name = str(task.type)
            numbers[name] += task.multiplicity
            examples[name] = task
            least_exec[name] = min(task.exec if timed else 0, least_exec.get(name, task.exec))
        self.types = list(examples)
        self.numbers = list(numbers.values())
        tasks = list(examples.values())
        run = [least_exec[name] for name in self.types]
        table = CostTable(instance, tasks)
        self.switch = [[*map(add, row, run)] for row in table.switch]
        self.finish = table.finish
        self.starts: list[Start] = [
            (tuple(map(add, row, run)), idle)
            for row, idle in zip(table.start, table.idle, strict=True)
        ]

    @cached_property
    def costs(self) -> dict[Start, Table]:
        """For each start the least costs of the supports that a CPU within the threshold has."""
        return {
            start: self._least(start[0], [0] * len(self.types), 1, None)
            for start in set(self.starts)
        }

    def values(self, start: Start, prices: Sequence[int], unit: int) -> Iterator[tuple[int, int]]:
        """Yield supports and the largest value of the tasks of an order less its cost.

        Parameters
        ----------
        start
            How the CPU starts.
        prices
            Value of a task of each type.
        unit
            What a unit of cost takes away.
        """
        costs = self.costs[start]
        if start[1] <= self.threshold:
            yield 0, -unit * start[1]
        if unit or any(prices):
            rests = self._least(start[0], prices, unit, costs)
        else:
            rests = {support: [0] for support in costs}
        for support, row in rests.items():
            ends = (
                cost + self.finish[last]
                for last, cost in enumerate(costs[support])
                if cost is not None
            )
            if min(ends) > self.threshold:
                continue
            yield (
                support,
                -min(
                    rest + unit * self.finish[last]
                    for last, rest in enumerate(row)
                    if rest is not None
                ),
            )

    def values_above(
        self, start: Start, prices: Sequence[int], unit: int, worth: TaskWorth, claim: int
    ) -> Iterator[tuple[int, int]]:
        """Yield supports as ``values`` does, at any cost.

        Left out are some from which no order that is worth more than ``claim`` can come.
        """
        yield 0, -unit * start[1]
        ends = [unit * cost for cost in self.finish]
        extensions = Extensions(self._arcs(prices, unit), ends, worth, claim)
        for support, row in self._least(start[0], prices, unit, None, extensions).items():
            yield (
                support,
                -min(rest + end for rest, end in zip(row, ends, strict=True) if rest is not None),
            )

    def limits(self, start: Start, costs: tuple[int, ...]) -> dict[int, int]:
        """Return for each support what its tasks may cost on a CPU within the threshold.

        Parameters
        ----------
        start
            How the CPU starts.
        costs
            What a task of each type costs at least.
        """
        if (start, costs) not in self._limits:
            limits = {} if start[1] > self.threshold else {0: 0}
            for support, row in self._least(start[0], costs, 1, self.costs[start]).items():
                rest = min(
                    cost + self.finish[last] for last, cost in enumerate(row) if cost is not None
                )
                limits[support] = self.threshold - rest
            self._limits[start, costs] = limits
        return self._limits[start, costs]

    def _arcs(self, prices: Sequence[int], unit: int) -> list[list[int]]:
        return [
            [unit * cost - price for cost, price in zip(row, prices, strict=True)]
            for row in self.switch
        ]

    def _least(
        self,
        start: Sequence[int],
        prices: Sequence[int],
        unit: int,
        known: Table | None,
        extensions: Extensions | None = None,
    ) -> Table:
        """Return what orders cost at least, times ``unit``, less the prices of their tasks.

        Only orders within the threshold are continued, or those with ``known`` supports, or those
        that may be worth enough.
        """
        types = range(len(prices))
        arcs = self._arcs(prices, unit)
        table: Table = {}
        singles = {1 << first for first in types}
        layer = singles if known is None else singles & known.keys()
        while layer:
            following: set[int] = set()
            for support in sorted(layer):
                self.check()
                members = [last for last in types if support >> last & 1]
                row: list[int | None] = [None] * len(prices)
                for last in members:
                    before = table.get(support ^ 1 << last)
                    if before is not None:
                        row[last] = _least_sum(before, arcs, last)
                    elif len(members) == 1:
                        row[last] = unit * start[last] - prices[last]
                _add_detours(row, arcs, members)
                if known is None and extensions is None:
                    row = [
                        cost if cost is not None and cost <= self.threshold else None
                        for cost in row
                    ]
                if all(cost is None for cost in row):
                    continue
                table[support] = row
                if len(table) > MOST_SUPPORTS:
                    raise MethodError(
                        f"a CPU can have more than {MOST_SUPPORTS} supports, too many to check"
                    )
                if len(members) >= self.capacity:
                    continue
                if extensions is not None:
                    following.update(extensions.beyond(support, row))
                else:
                    wider = {support | 1 << new for new in types} - {support}
                    following |= wider if known is None else wider & known.keys()
            layer = following
        return table


def _least_sum(costs: Sequence[int | None], arcs: Sequence[Sequence[int]], last: int) -> int | None:
    sums = (cost + arcs[before][last] for before, cost in enumerate(costs) if cost is not None)
    return min(sums, default=None)


def _add_detours(
    row: list[int | None], arcs: Sequence[Sequence[int]], members: Sequence[int]
) -> None:
    """Let orders go on to types that they have run already, while that makes an end cheaper."""
    for _ in range(len(members) + 1):
        changed = False
        for last in members:
            least = _least_sum(row, arcs, last)
            current = row[last]
            if least is not None and (current is None or least < current):
                row[last] = least
                changed = True
        if not changed:
            return
    raise UnprovenError("more tasks are worth ever more")
