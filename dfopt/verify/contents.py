"""Proofs over contents, for the penalties f and g: what the tasks on one CPU can be worth.

The value of an order of tasks is that of its prices
(:class:`~dfopt.verify.relaxed_contents.OrderPrices`). Where the objective is the largest cost, no
order counts that costs more than the threshold. Under total-penalty any order counts, and its cost
is taken off its value. What an order is worth at most follows from a relaxation if that is enough
(:mod:`~dfopt.verify.relaxed_contents`), or from a dynamic program
(:mod:`~dfopt.verify.exact_contents`).

Forks are about schedules in which each CPU's order has the blocks that the dynamic program looks
at. Every schedule can be changed into such a one at no higher cost, so that none is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import gcd

from dfopt.problem.certificate import Count, EntryCount, Leaf, MeetingCount, Proof, VisitCount
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.verify.block_costs import costs_of_tasks, starts_of
from dfopt.verify.relaxed_contents import OrderPrices, relaxed_values
from dfopt.verify.tree import CpuArgument, Range, UnprovenError


class ContentArgument(CpuArgument):
    """A proof over contents.

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
        if isinstance(instance.penalty, PenaltyMatrix):
            raise UnprovenError("certificate.over: contents are for the penalties f and g")
        self._threshold: int | None = bound - 1
        if instance.objective is Objective.TOTAL_PENALTY:
            self._threshold, self.budget = None, largest_total_below(instance, bound)
        fragments: dict[str | None, list[int]] = defaultdict(list)
        for number, task in enumerate(instance.tasks):
            fragments[task.df].append(number)
        self._fragment_of = {frozenset(own): df or "" for df, own in fragments.items()}
        super().__init__(instance, proof, check)

    def range_of(self, count: Count) -> Range:
        """See :meth:`~dfopt.verify.tree.Argument.range_of`."""
        match count:
            case VisitCount():
                return self.range_of_visits(count)
            case EntryCount():
                return 0, self.number_of(self.tasks_of(count))
            case MeetingCount(classes=(first, second)):
                both = [self.members[first], self.members[second]]
                if both[0] == both[1] or not set(both) <= self._fragment_of.keys():
                    raise UnprovenError("must be of two fragments")
                return 0, min(self.instance.cpus, *map(self.number_of, both))
        raise UnprovenError("is nothing to count in contents")

    def largest(self, leaf: Leaf, worth: int, claims: Sequence[int]) -> Sequence[int]:
        """See :meth:`~dfopt.verify.tree.CpuArgument.largest`."""
        if leaf.scale < 1 or (leaf.scale > 1 and self._threshold is not None):
            need = "at least 1" if self._threshold is None else "1, because costs have a threshold"
            raise UnprovenError(f"the scale is {leaf.scale}, but must be {need}")
        if not claims and worth <= 0:
            return [0]  # whatever a CPU may hold, it may hold nothing
        prices = self._prices(leaf)
        for values in relaxed_values(self.instance, prices, self._threshold):
            if all(map(int.__le__, values, claims)) if claims else sum(values) < worth:
                return values
        from dfopt.verify.exact_contents import (
            largest_values,  # needs numpy, which small results need not
        )

        return largest_values(self.instance, prices, self._threshold, self.check)

    def _prices(self, leaf: Leaf) -> OrderPrices:
        weights, charges = ([0] * len(self.instance.tasks) for _ in range(2))
        visits: dict[str, int] = defaultdict(int)
        meetings: dict[tuple[str, str], int] = defaultdict(int)
        holdings = []
        for number, weight in leaf.weights:
            for task in self.members[number]:
                weights[task] += weight
        for number, price in leaf.prices:
            count = self.proof.counts[number]
            match count:
                case EntryCount():
                    for task in self.tasks_of(count):
                        charges[task] -= price
                case MeetingCount(classes=(first, second)):
                    df, other = (self._fragment_of[self.members[own]] for own in (first, second))
                    meetings[df, other] += price
                case VisitCount(tasks=tasks):
                    own = self.tasks_of(count)
                    if tasks == 1 and own in self._fragment_of:
                        visits[self._fragment_of[own]] += price
                    else:
                        holdings.append((own, tasks, price))
        return OrderPrices(
            weights=weights,
            charges=charges,
            visits=visits,
            meetings=meetings,
            holdings=holdings,
            scale=leaf.scale,
        )


def largest_total_below(instance: Instance, bound: int) -> int:
    """Return the largest total penalty below a bound: every cost is a multiple of a unit."""
    costs = {cost for own in costs_of_tasks(instance) for cost in own}
    for start in starts_of(instance, ()):
        costs |= {start.home_cost, start.away_cost}
    unit = gcd(*costs) or 1
    return (bound - 1) // unit * unit
