"""The check of a ``tour`` certificate: what the order of all tasks on one CPU costs at least.

Nodes are the types of the tasks, or the tasks themselves if some wait for others. Node 0 is the
start of the order as the node before, and its end as the node after. Each node is visited once for
each of its tasks, so an order leaves it and enters it as often as that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import TopologicalSorter
from itertools import pairwise

from dfopt.errors import MethodError
from dfopt.problem.certificate import ArcFork, ArcWeights, OrderCut, Tour
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.verify.beginnings import Beginnings, cheapest_order
from dfopt.verify.cases import Range, UnprovenError, first_flaw, leaves

DEPOT = 0
"""The node that is both the start and the end."""

MOST_NODES = 3_000
MOST_CUT_ENDS = 10_000_000
"""At most these numbers of nodes, and of cuts times nodes; more take too much memory."""

Arc = tuple[int, int]


def false_tour(
    instance: Instance, certificate: Tour, bound: int, check: Callable[[], None] = lambda: None
) -> list[str]:
    """Return the errors in a proof that no order of all tasks costs less than ``bound``."""
    if instance.cpus != 1:
        return [f"certificate.kind: 'tour' is for one CPU, and there are {instance.cpus}"]
    if not instance.tasks:
        return ["certificate.kind: 'tour' is for the order of tasks, and there are none"]
    nodes = {name for task in instance.tasks for name in nodes_of(instance, task)}
    if len(certificate.nodes) != len(nodes) or set(certificate.nodes) != nodes:
        what = "tasks" if instance.has_precedence else "types of the tasks"
        return [f"certificate.nodes: must name the {len(nodes)} {what}, each of them once"]
    if len(nodes) > MOST_NODES:
        raise MethodError(f"an order of {len(nodes)} nodes has too many arcs")
    if len(certificate.cuts) * len(nodes) > MOST_CUT_ENDS:
        return [f"certificate.cuts: are {len(certificate.cuts)}, more than are looked at"]
    tours = Tours(instance, certificate.nodes, check)
    cuts: list[CutArcs] = []
    for position, order_cut in enumerate(certificate.cuts):
        cut = tours.cut(order_cut)
        if isinstance(cut, str):
            return [f"certificate.cuts[{position}]{cut}"]
        cuts.append(cut)
    budget = bound - 1 - tours.base
    place = "certificate.tree"
    return first_flaw(
        (
            f"{place}[{position}]",
            partial(_false_arc_weights, tours, cuts, node, ranges, budget),
        )
        for position, ranges, node in leaves(certificate.tree, tours.fork, tours.range, place)
        if isinstance(node, ArcWeights)
    )


def nodes_of(instance: Instance, task: Task) -> Iterable[str]:
    """Return the names of the nodes of an entry: its type, or its tasks if some tasks wait."""
    return task.names if instance.has_precedence else (str(task.type),)


@dataclass(frozen=True, slots=True)
class CutArcs:
    """A cut with the nodes from which and to which its arcs lead; every order uses one of them."""

    claim: OrderCut
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

    def range(self, arc: Arc) -> Range:
        """Return how often an order uses an arc."""
        return 0, self.most(*arc)

    def fork(self, node: ArcFork | ArcWeights) -> tuple[Arc, int] | None:
        """Return the arc of a fork, and the limit of its first case; None for weights."""
        if isinstance(node, ArcWeights):
            return None
        arc = node.before, node.after
        if not all(0 <= end < self.size for end in arc):
            raise UnprovenError(
                f"certificate.tree: a fork names a node that is none of 0 to {self.size - 1}"
            )
        return arc, node.at_most

    def cut(self, claim: OrderCut) -> CutArcs | str:
        """Return the arcs of a cut, or why some order may not use any of them.

        Between the last visit of ``last_of`` and the first one of ``first_of`` an order leaves
        ``within``. Meanwhile it visits no node that comes before one of the former, and none that
        comes after one of the latter.
        """
        self.check()
        within, last_of, first_of = set(claim.within), set(claim.last_of), set(claim.first_of)
        named = within | last_of | first_of
        if any(not 0 < node < self.size for node in named):
            return f": names a node that is none of 1 to {self.size - 1}"
        if not last_of <= within:
            return ".last_of: must lie within the nodes that are left"
        if first_of & within:
            return ".first_of: must lie outside the nodes that are left"
        if any(not first_of <= self.after[node] for node in last_of):
            return ".first_of: has a node that need not come after all of last_of"
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


def _false_arc_weights(  # noqa: PLR0911 - one for each error
    tours: Tours,
    cuts: Sequence[CutArcs],
    weights: ArcWeights,
    ranges: Mapping[Arc, Range],
    budget: int,
) -> str | None:
    """Return why weights do not exclude orders of at most ``budget``; None if they do."""
    if weights.scale < 1:
        return f".scale: is {weights.scale}, but must be at least 1"
    if len(weights.leaving) != tours.size or len(weights.entering) != tours.size:
        return f": needs {tours.size} weights for leaving, and as many for entering"
    for number, weight in weights.cuts:
        if not 0 <= number < len(cuts):
            return f".cuts: there is no cut {number}"
        if weight < 0:
            return f".cuts: the weight {weight} is negative"
    reduced = _reduced_costs(tours, cuts, weights)
    worth = _worth(tours, weights, ranges, reduced)
    limit = weights.scale * budget
    if worth > limit:
        return None
    if not weights.beginnings:
        return f": the weights are {worth}, no more than orders may cost, {limit}"
    if max(tours.visits) > 1:
        return ".beginnings: is for tasks that are nodes of their own"
    orders = beginnings_of(tours, cuts, weights, ranges)
    if cheapest_order(orders, limit, tours.check) is not None:
        return f": some order costs no more than {budget}"
    return None


def _reduced_costs(tours: Tours, cuts: Sequence[CutArcs], weights: ArcWeights) -> list[list[int]]:
    """Return the costs of arcs, times the scale, less what their ends and cuts weigh."""
    reduced = [
        [
            weights.scale * cost - leave - enter
            for cost, enter in zip(row, weights.entering, strict=True)
        ]
        for row, leave in zip(tours.cost, weights.leaving, strict=True)
    ]
    for number, weight in weights.cuts:
        tours.check()
        for tail in cuts[number].tails:
            row = reduced[tail]
            for head in cuts[number].heads:
                row[head] -= weight
    return reduced


def _worth(
    tours: Tours,
    weights: ArcWeights,
    ranges: Mapping[Arc, Range],
    reduced: Sequence[Sequence[int]],
) -> int:
    """Return what every order costs at least, times the scale.

    Its cost is the sum of what it pays for its visits and cuts and of the reduced costs of its
    arcs. It pays for each visit, and at least once for each cut.
    """
    worth = sum(weight for _, weight in weights.cuts)
    for visits, leave, enter in zip(tours.visits, weights.leaving, weights.entering, strict=True):
        worth += visits * (leave + enter)
    for tail, row in enumerate(reduced):
        for head, cost in enumerate(row):
            if cost < 0 and (tail, head) not in ranges:
                worth += cost * tours.most(tail, head)
    for (tail, head), (least, most) in ranges.items():
        cost = reduced[tail][head]
        worth += cost * (least if cost > 0 else most)
    return worth


def beginnings_of(
    tours: Tours,
    cuts: Sequence[CutArcs],
    weights: ArcWeights,
    ranges: Mapping[Arc, Range],
) -> Beginnings:
    """Return what the beginnings of orders cost, and what follows them at least."""
    reduced = _reduced_costs(tours, cuts, weights)
    cost: list[list[int | None]] = [[None] * tours.size for _ in range(tours.size)]
    spare = 0
    for tail, row in enumerate(reduced):
        for head, arc_cost in enumerate(row):
            _, most = ranges.get((tail, head), (0, tours.most(tail, head)))
            if most:
                cost[tail][head] = weights.scale * tours.cost[tail][head]
                spare -= most * min(0, arc_cost)
    return Beginnings(
        cost=cost,
        leaving=weights.leaving,
        entering=weights.entering,
        cuts=[
            (cuts[number].claim.last_of, cuts[number].claim.first_of, cuts[number].tails, weight)
            for number, weight in weights.cuts
        ],
        before=tours.before,
        reduced=reduced,
        spare=spare,
    )
