"""Proofs over orders: what the order of all tasks on one CPU costs at least, under a matrix.

The weights of a leaf bound the costs of all orders (:class:`~dfopt.verify.arcs.ArcWeights`). Where
they leave a few beginnings of orders, these are tried (:mod:`~dfopt.verify.beginnings`).
"""

from __future__ import annotations

from collections.abc import Callable

from dfopt.errors import MethodError
from dfopt.problem.certificate import ArcCount, Count, CrossingCount, Leaf, Proof, TaskClass
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.verify.arcs import ArcWeights, CutArcs, Tours, nodes_of
from dfopt.verify.beginnings import cheapest_order
from dfopt.verify.tree import Argument, Range, Ranges, UnprovenError

MOST_NODES = 3_000
MOST_CUT_ENDS = 10_000_000
"""At most these numbers of nodes, and of cuts times nodes; more take too much memory."""


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
        elif weights.worth <= limit and cheapest_order(weights, limit):
            flaw = f": some order costs no more than {self._budget}"
        return flaw
