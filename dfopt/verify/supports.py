"""Proofs over supports: on how many CPUs types must run, and what that costs at least.

The support of a CPU is the set of types that it runs. Two tables over all supports are computed by
:mod:`~dfopt.verify.support_orders`: the least cost of an order with this support, which says
whether a CPU within the threshold can have it, and the largest value of its tasks less its cost.

The value of an order is the sum of the weights of its tasks and of the prices of the sets of types
that it runs any of, less ``scale`` for each unit of its cost. Let each task of type a be taken to
cost u_a, so that no ring of switches costs less than its tasks. Of the weight of a task,
``scale`` · u_a make up for its cost in an order, which may run any number of tasks. What is left
counts for no more tasks than there are, and than a CPU has room for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from dfopt.errors import MethodError
from dfopt.problem.certificate import Count, Leaf, Proof, TaskClass, VisitCount
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.structs import Record
from dfopt.verify.support_orders import Orders, Start
from dfopt.verify.support_worth import LimitedCosts, TaskWorth
from dfopt.verify.tree import CpuArgument, Range, UnprovenError


class SupportWeights(Record):
    """The weights of a leaf, in the order of the types.

    Parameters
    ----------
    weights, least_costs
        What a task of each type weighs, and is taken to cost.
    sets
        Sets of types, a bit for each, and what it is worth to run any of them.
    scale
        What a unit of cost is worth.
    """

    weights: Sequence[int]
    least_costs: tuple[int, ...]
    sets: Sequence[tuple[int, int]]
    scale: int

    @property
    def prices(self) -> list[int]:
        """What tasks weigh to make up for what they are taken to cost."""
        return [self.scale * cost for cost in self.least_costs]

    @property
    def counted(self) -> list[int]:
        """What tasks weigh in addition."""
        return [weight - price for weight, price in zip(self.weights, self.prices, strict=True)]

    def limits(self, orders: Orders) -> dict[Start, LimitedCosts]:
        """Return for each start the tasks that CPUs can run; empty if costs are weighed instead."""
        if self.scale or not any(self.least_costs):
            return {}
        if min(self.least_costs) < 0:
            raise UnprovenError("no task costs less than nothing where costs are not weighed")
        return {
            start: LimitedCosts(
                orders.numbers,
                orders.capacity,
                self.least_costs,
                orders.limits(start, self.least_costs),
                self.counted,
            )
            for start in set(orders.starts)
        }

    def worths(
        self, orders: Orders, claims: Sequence[int], *, is_total: bool
    ) -> Iterator[tuple[Start, int, int]]:
        """Yield starts, supports, and the largest value of an order within the threshold.

        With ``claims`` for all CPUs, orders under total-penalty may cost anything, and supports may
        be left out that are worth no more than these; where costs are limited, the value may be
        larger within these.
        """
        worth = TaskWorth(orders.numbers, orders.capacity, self.counted, self.sets)
        limited = self.limits(orders)
        lowest: dict[Start, int] = {}
        for start, claim in zip(orders.starts, claims, strict=False):
            lowest[start] = min(claim, lowest.get(start, claim))
        for start in dict.fromkeys(orders.starts):
            if limited:
                for support in limited[start].limits:
                    orders.check()
                    of_sets, of_tasks = worth.of_sets(support), worth.of_tasks(support)
                    if start not in lowest or of_sets + of_tasks > lowest[start]:
                        best = limited[start].worth(support)
                        if best is None:
                            continue
                        of_tasks = best
                    yield start, support, of_sets + of_tasks
                continue
            if is_total and start in lowest:
                values = orders.values_above(start, self.prices, self.scale, worth, lowest[start])
            else:
                values = orders.values(start, self.prices, self.scale)
            for support, value in values:
                orders.check()
                yield start, support, value + worth.of_sets(support) + worth.of_tasks(support)


class SupportArgument(CpuArgument):
    """A proof over supports.

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
            raise UnprovenError("certificate.over: supports are for the penalty matrix")
        self._is_total = instance.objective is Objective.TOTAL_PENALTY
        self.budget = (bound - 1) * (1 if self._is_total else instance.cpus)
        self._orders = Orders(instance, bound - 1, check)
        types = {name: place for place, name in enumerate(self._orders.types)}
        self._places: list[int] = []
        self._least_costs = [0] * len(types)
        for position, row in enumerate(proof.classes):
            place = types.get(str(row.type))
            if place is None or row != TaskClass(type=row.type, least_cost=row.least_cost):
                raise UnprovenError(f"certificate.classes[{position}]: is no type of a task")
            if place in self._places:
                raise UnprovenError(f"certificate.classes[{position}]: is there already")
            self._places.append(place)
            self._least_costs[place] = row.least_cost
        super().__init__(instance, proof, check)

    def range_of(self, count: Count) -> Range:
        """See :meth:`~dfopt.verify.tree.Argument.range_of`."""
        if not isinstance(count, VisitCount) or count.tasks != 1 or not count.classes:
            raise UnprovenError("must be of CPUs that run a task of some types")
        return self.range_of_visits(count)

    def least_of(self, leaf: Leaf, number: int) -> int:
        """Return how many CPUs run some types at least, as costs limit the tasks on a CPU."""
        limited = self._weights(leaf).limits(self._orders)
        if not limited:
            return 0
        mask = self._mask(number)
        room = max(costs.most_tasks(mask) for costs in limited.values())
        tasks = (size for bit, size in enumerate(self._orders.numbers) if mask >> bit & 1)
        return -(-sum(tasks) // max(1, room))

    def largest(self, leaf: Leaf, worth: int, claims: Sequence[int]) -> Sequence[int]:
        """See :meth:`~dfopt.verify.tree.CpuArgument.largest`."""
        if leaf.scale < 0:
            raise UnprovenError(f"the scale is {leaf.scale}, but must not be negative")
        orders, largest = self._orders, dict[Start, int]()
        weights = self._weights(leaf)
        for start, _, value in weights.worths(orders, claims, is_total=self._is_total):
            largest[start] = max(value, largest.get(start, value))
        if len(largest) < len(set(orders.starts)):
            # Some CPU keeps to the threshold in no schedule at all.
            return [min([worth - 1, *claims])]
        values = [largest[start] for start in orders.starts]
        if self._is_total and any(map(int.__gt__, values, claims)):
            with suppress(MethodError):  # an order that costs more than all CPUs may is none
                return self.largest(leaf, worth, ())
        return values

    def _weights(self, leaf: Leaf) -> SupportWeights:
        weights = [0] * len(self._orders.types)
        for number, weight in leaf.weights:
            weights[self._places[number]] += weight
        return SupportWeights(
            weights=weights,
            least_costs=tuple(self._least_costs),
            sets=[(self._mask(number), price) for number, price in leaf.prices],
            scale=leaf.scale,
        )

    def _mask(self, number: int) -> int:
        """Return the types that a count is about, a bit for each."""
        count = self.proof.counts[number]
        assert isinstance(count, VisitCount)
        return sum(1 << place for place in {self._places[number] for number in count.classes})
