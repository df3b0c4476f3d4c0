"""The arcs between the tasks of one CPU: what they cost, and what weights leave of that.

Nodes are the types of the tasks, or the tasks themselves if some wait for others. Class 0 has no
keys: it is node 0, the start of the order as the node before and its end as the node after. Each
node is visited once for each of its tasks, so an order leaves it and enters it as often as that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import pairwise

from dfopt.problem.certificate import CrossingCount, Leaf
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.verify.tree import Range, UnprovenError

DEPOT = 0
"""The node that is both the start and the end."""

Arc = tuple[int, int]


def nodes_of(instance: Instance, task: Task) -> Iterable[str]:
    """Return the names of the nodes of an entry: its type, or its tasks if some tasks wait."""
    return task.names if instance.has_precedence else (str(task.type),)


@dataclass(frozen=True, slots=True)
class CutArcs:
    """A cut with the nodes from which and to which its arcs lead; every order uses one of them."""

    claim: CrossingCount
    tails: Sequence[int]
    heads: Sequence[int]


class Tours:
    """The arcs between nodes: what they cost, and how often an order can use them.

    Parameters
    ----------
    instance
        One with a single CPU and a matrix.
    names
        The nodes in their order, from 1 on.
    check
        Called often; what it raises ends the work.
    """

    def __init__(
        self,
        instance: Instance,
        names: Sequence[str],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.check = check
        numbers = {name: node for node, name in enumerate(names, 1)}
        self.size = len(names) + 1
        self.visits = [1] + [0] * len(names)
        examples: dict[int, Task] = {}
        named = {task.id: task for task in instance.tasks}
        self.base = 0
        direct: dict[int, set[int]] = {node: set() for node in range(1, self.size)}
        for task in instance.tasks:
            nodes = [numbers[name] for name in nodes_of(instance, task)]
            for node in nodes:
                examples[node] = task
                self.visits[node] += task.multiplicity // len(nodes)
                for before in task.after:
                    direct[node].update(numbers[name] for name in named[before].names)
            # Copies are alike, so that they can run in the order of their names.
            for earlier, later in pairwise(nodes):
                direct[later].add(earlier)
            if instance.objective is Objective.MAKESPAN:
                self.base += task.exec * task.multiplicity
        # All visits of these nodes come before those of a node, directly or not.
        self.before: list[set[int]] = [set() for _ in range(self.size)]
        for node in TopologicalSorter(direct).static_order():
            self.before[node] = direct[node].union(*(self.before[way] for way in direct[node]))
        self.after = [
            {later for later in range(1, self.size) if node in self.before[later]}
            for node in range(self.size)
        ]
        tasks = [examples[node] for node in range(1, self.size)]
        table = CostTable(instance, tasks)
        self.cost = [[0, *table.start[0]]]
        self.cost += [[end, *row] for end, row in zip(table.finish, table.switch, strict=True)]

    def most(self, tail: int, head: int) -> int:
        """Return how often an order can use an arc."""
        if tail == head:
            return self.visits[tail] - 1 if tail else 0
        if not tail:
            return 0 if self.before[head] else 1
        if not head:
            return 0 if self.after[tail] else 1
        if head in self.before[tail] or self.after[tail] & self.before[head]:
            return 0
        return 1 if tail in self.before[head] else min(self.visits[tail], self.visits[head])

    def cut(self, claim: CrossingCount) -> CutArcs:
        """Return the arcs of a cut, of which every order uses one.

        Between the last visit of ``last_of`` and the first one of ``first_of`` an order leaves
        ``within``. Meanwhile it visits no node that comes before one of the former, and none that
        comes after one of the latter.

        Raises
        ------
        UnprovenError
            Where some order may not leave them.
        """
        self.check()
        within, last_of, first_of = set(claim.within), set(claim.last_of), set(claim.first_of)
        named = within | last_of | first_of
        if any(not 0 < node < self.size for node in named):
            raise UnprovenError(f"names a class that is none of 1 to {self.size - 1}")
        if not last_of <= within:
            raise UnprovenError("last_of must lie within the classes that are left")
        if first_of & within:
            raise UnprovenError("first_of must lie outside the classes that are left")
        if any(not first_of <= self.after[node] for node in last_of):
            raise UnprovenError("first_of has a class that need not come after all of last_of")
        passed = set[int]().union(
            *(self.before[node] for node in last_of), *(self.after[node] for node in first_of)
        )
        tails = sorted(within - passed)
        heads = sorted(set(range(1, self.size)) - within - passed)
        return CutArcs(
            claim,
            tails if last_of else [DEPOT, *tails],
            heads if first_of else [DEPOT, *heads],
        )


class ArcWeights:
    """Weights of a leaf, and what they leave of the costs of arcs.

    Parameters
    ----------
    tours
        The arcs.
    leaf
        The weights of visits, and their scale.
    cuts
        Cuts, and their prices.
    ranges
        How often an order uses some arcs.

    Attributes
    ----------
    leaving, entering
        The weight of each time that a node is left, and entered.
    reduced
        The costs of arcs, times the scale, less what their ends and cuts weigh.
    """

    def __init__(
        self,
        tours: Tours,
        leaf: Leaf,
        cuts: Sequence[tuple[CutArcs, int]],
        ranges: Mapping[Arc, Range],
    ) -> None:
        self.tours, self.cuts, self.ranges, self.scale = tours, cuts, ranges, leaf.scale
        self.leaving, self.entering = [0] * tours.size, [0] * tours.size
        for weights, rows in ((self.leaving, leaf.leaving), (self.entering, leaf.weights)):
            for node, weight in rows:
                weights[node] += weight
        self.reduced = [
            [
                leaf.scale * cost - leave - enter
                for cost, enter in zip(row, self.entering, strict=True)
            ]
            for row, leave in zip(tours.cost, self.leaving, strict=True)
        ]
        for cut, price in cuts:
            tours.check()
            for tail in cut.tails:
                row = self.reduced[tail]
                for head in cut.heads:
                    row[head] -= price

    def range(self, tail: int, head: int) -> Range:
        """Return how often an order uses an arc."""
        return self.ranges.get((tail, head)) or (0, self.tours.most(tail, head))

    @cached_property
    def worth(self) -> int:
        """What every order costs at least, times the scale.

        Its cost is the sum of what it pays for its visits and cuts and of the reduced costs of its
        arcs. It pays for each visit, and at least once for each cut.
        """
        worth = sum(price for _, price in self.cuts)
        visits = zip(self.tours.visits, self.leaving, self.entering, strict=True)
        worth += sum(number * (leave + enter) for number, leave, enter in visits)
        for tail, row in enumerate(self.reduced):
            for head, cost in enumerate(row):
                if cost < 0:
                    worth += cost * self.range(tail, head)[1]
        return worth + sum(
            least * max(0, self.reduced[tail][head])
            for (tail, head), (least, _) in self.ranges.items()
        )
