"""Proofs over orders: what the order of all tasks on one CPU costs at least, under a matrix.

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

from dfopt.errors import MethodError
from dfopt.problem.certificate import ArcCount, Count, CrossingCount, Leaf, Proof, TaskClass
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.verify.beginnings import Beginnings, cheapest_order
from dfopt.verify.tree import Argument, Range, Ranges, UnprovenError

DEPOT = 0
"""The node that is both the start and the end."""

MOST_NODES = 3_000
MOST_CUT_ENDS = 10_000_000
"""At most these numbers of nodes, and of cuts times nodes; more take too much memory."""

Arc = tuple[int, int]


class OrderArgument(Argument):
    """A proof over orders.

    Parameters
    ----------
    instance, proof, check
        See :class:`~dfopt.verify.tree.Argument`.
    bound
        The lower bound.
    """

    def __init__(
        self, instance: Instance, proof: Proof, bound: int, check: Callable[[], None]
    ) -> None:
        if not isinstance(instance.penalty, PenaltyMatrix):
            raise UnprovenError("certificate.over: orders are for the penalty matrix")
        if instance.cpus != 1 or not instance.tasks:
            raise UnprovenError("certificate.over: orders are for tasks on one CPU")
        names = [str(row.node) for row in proof.classes[1:]]
        nodes = {name for task in instance.tasks for name in nodes_of(instance, task)}
        rows = (TaskClass(), *(TaskClass(node=name) for name in names))
        if rows != proof.classes or len(names) != len(nodes) or set(names) != nodes:
            what = "tasks" if instance.has_precedence else "types of the tasks"
            raise UnprovenError(
                "certificate.classes: must be one without keys, and then name the "
                f"{len(nodes)} {what}, each of them once"
            )
        if len(nodes) > MOST_NODES:
            raise MethodError(f"an order of {len(nodes)} nodes has too many arcs")
        if len(proof.counts) * len(nodes) > MOST_CUT_ENDS:
            raise UnprovenError(f"certificate.counts: are {len(proof.counts)}, too many to look at")
        self._tours = Tours(instance, names, check)
        self._budget = bound - 1 - self._tours.base
        self._cuts: dict[CrossingCount, CutArcs] = {}
        super().__init__(instance, proof, check)

    def _members(self) -> list[frozenset[int]]:
        return []  # nodes are known by their names

    def range_of(self, count: Count) -> Range:
        """See :meth:`~dfopt.verify.tree.Argument.range_of`."""
        match count:
            case CrossingCount():
                self._cuts[count] = self._tours.cut(count)
                return 1, sum(self._tours.visits)
            case ArcCount(before=before, after=after):
                if max(before, after) >= self._tours.size or min(before, after) < 0:
                    raise UnprovenError("names a class that is not there")
                return 0, self._tours.most(before, after)
        raise UnprovenError("is nothing to count in orders")

    def flaw(self, leaf: Leaf, ranges: Ranges) -> str | None:
        """See :meth:`~dfopt.verify.tree.Argument.flaw`."""
        if leaf.scale < 1:
            return f".scale: is {leaf.scale}, but must be at least 1"
        cuts = []
        for number, price in leaf.prices:
            count = self.proof.counts[number]
            if not isinstance(count, CrossingCount) or price < 0:
                return f".prices: {price} is negative, or that of an arc"
            cuts.append((self._cuts[count], price))
        arcs = {
            (count.before, count.after): ranges[number]
            for number, count in enumerate(self.proof.counts)
            if isinstance(count, ArcCount)
        }
        weights = ArcWeights(self._tours, leaf, cuts, arcs)
        limit = leaf.scale * self._budget
        flaw = None
        if weights.worth <= limit and not leaf.beginnings:
            flaw = f": the weights are {weights.worth}, no more than orders may cost, {limit}"
        elif weights.worth <= limit and max(self._tours.visits) > 1:
            flaw = ".beginnings: is for tasks that are nodes of their own"
        elif weights.worth <= limit and cheapest_order(weights.beginnings, limit, self.check):
            flaw = f": some order costs no more than {self._budget}"
        return flaw


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
        self._tours, self._cuts, self._ranges, self._scale = tours, cuts, ranges, leaf.scale
        self._leaving, self._entering = [0] * tours.size, [0] * tours.size
        for weights, rows in ((self._leaving, leaf.leaving), (self._entering, leaf.weights)):
            for node, weight in rows:
                weights[node] += weight
        self.reduced = [
            [
                leaf.scale * cost - leave - enter
                for cost, enter in zip(row, self._entering, strict=True)
            ]
            for row, leave in zip(tours.cost, self._leaving, strict=True)
        ]
        for cut, price in cuts:
            tours.check()
            for tail in cut.tails:
                row = self.reduced[tail]
                for head in cut.heads:
                    row[head] -= price

    @cached_property
    def worth(self) -> int:
        """What every order costs at least, times the scale.

        Its cost is the sum of what it pays for its visits and cuts and of the reduced costs of its
        arcs. It pays for each visit, and at least once for each cut.
        """
        worth = sum(price for _, price in self._cuts)
        visits = zip(self._tours.visits, self._leaving, self._entering, strict=True)
        worth += sum(number * (leave + enter) for number, leave, enter in visits)
        for tail, row in enumerate(self.reduced):
            for head, cost in enumerate(row):
                if cost < 0 and (tail, head) not in self._ranges:
                    worth += cost * self._tours.most(tail, head)
        for (tail, head), (least, most) in self._ranges.items():
            cost = self.reduced[tail][head]
            worth += cost * (least if cost > 0 else most)
        return worth

    @property
    def beginnings(self) -> Beginnings:
        """What the beginnings of orders cost, and what follows them at least."""
        size = self._tours.size
        cost: list[list[int | None]] = [[None] * size for _ in range(size)]
        spare = 0
        for tail, row in enumerate(self.reduced):
            for head, arc_cost in enumerate(row):
                _, most = self._ranges.get((tail, head), (0, self._tours.most(tail, head)))
                if most:
                    cost[tail][head] = self._scale * self._tours.cost[tail][head]
                    spare -= most * min(0, arc_cost)
        return Beginnings(
            cost=cost,
            leaving=self._leaving,
            entering=self._entering,
            cuts=[
                (cut.claim.last_of, cut.claim.first_of, cut.tails, price)
                for cut, price in self._cuts
            ],
            before=self._tours.before,
            reduced=self.reduced,
            spare=spare,
        )
