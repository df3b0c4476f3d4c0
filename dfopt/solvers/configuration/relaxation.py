"""Column generation: whether contents within a limit can cover all tasks, or why they cannot."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from dfopt.solvers.configuration.columns import Column, Pool
from dfopt.solvers.configuration.master import TOLERANCE, Duals, Master, Solution, Undecided
from dfopt.solvers.configuration.pricing import GroupPricing, Prices, Pricing
from dfopt.solvers.configuration.problem import Problem

SHARES = (0.85, 0.5, 0.0)
"""How far prices stay with the best ones known, after Wentges (1997): less if that fails."""

SCALE = 2**24
"""Prices are integers; all that one CPU holds is worth about so much."""

LARGEST_VALUE = 2**57
"""All that there is may be worth so much at most, so that sums of values fit into 64 bits."""

MOST_COLUMNS = 40
"""So many columns at most come out of one pricing, for each group."""

FAR = 1.02
"""From here on, in terms of the limit, the LP's value is far from an answer."""

COMPLEMENTS, COMPLEMENTS_NEAR = 6, 2
"""So often in a round what is left beside the best content is priced too: far and near.

Contents that go together make the LP converge in a fraction of the rounds.
"""


class Offer:
    """What CPUs can hold at some prices.

    Parameters
    ----------
    problem
        What there is to hold.
    prices
        What it is worth.
    check
        Called often; may end the work by an exception.
    """

    def __init__(
        self, problem: Problem, prices: Prices, check: Callable[[], None] = lambda: None
    ) -> None:
        self.problem = problem
        self.prices = prices
        self.check = check
        pricing = Pricing(
            problem.layout, problem.stock, prices, problem.whole, problem.paired, check
        )
        self.groups = [
            [GroupPricing(pricing, group, pattern) for pattern in problem.patterns()]
            for group in problem.layout.groups
        ]
        self.worth = problem.worth(prices)

    def release(self) -> None:
        """Give memory back; after that there are bins, but no columns any more."""
        for group in self.groups:
            for pattern in group:
                pattern.release()

    def bins(self, limit: int | None) -> tuple[int, ...]:
        """Return the most that a CPU of each group holds within ``limit``."""
        return tuple(max(one.largest(limit) for one in group) for group in self.groups)

    def capacity(self, limit: int | None) -> int:
        """Return the most that all CPUs hold within ``limit``."""
        bins = zip(self.bins(limit), self.problem.cpus, strict=True)
        return sum(largest * number for largest, number in bins)

    @cached_property
    def surplus(self) -> int:
        """By how much all that there is is worth more than CPUs of any cost hold."""
        return self.worth - self.capacity(None)

    def refutes(self, limit: int) -> bool:
        """Whether no schedule keeps ``limit`` at these prices."""
        if self.prices.cost:
            return self.surplus > limit * self.prices.cost
        return self.worth > self.capacity(limit)

    def refuted(self, least: int, limit: int) -> int:
        """Return the largest limit from ``least`` to ``limit`` that is refuted; else less."""
        known = self.problem.layout.limit
        low, high = least - 1, limit if known is None else min(limit, known)
        while low < high:
            middle = (low + high + 1) // 2
            if self.refutes(middle):
                low = middle
            else:
                high = middle - 1
        return low

    def columns(self, limit: int, duals: Duals) -> list[Column]:
        """Return contents that are worth more than a CPU by ``duals``, within ``limit``."""
        within = None if self.prices.cost else limit
        return [
            Column(number, content, cost)
            for number, group in enumerate(self.groups)
            for pattern in group
            for content, cost in pattern.contents(within, MOST_COLUMNS)
            if duals.worth(content)
            > duals.bins[number] + (cost if self.prices.cost else 0) + TOLERANCE
        ]


class Relaxation:
    """The configuration LP of a problem, solved for one limit after the other.

    A limit is what no CPU may cost more than; under total-penalty, what all may cost together.

    Parameters
    ----------
    problem
        What is to be scheduled.
    pool
        The columns known; new ones are added to it.
    check
        Called often; may end the search by an exception.
    on_offer
        Called with everything priced, since each may prove something, and with the limit.
    start
        Prices to begin with, such as those of a similar problem.
    """

    def __init__(
        self,
        problem: Problem,
        pool: Pool,
        check: Callable[[], None],
        on_offer: Callable[[Offer, int], None] = lambda offer, limit: None,
        start: Duals | None = None,
    ) -> None:
        self.problem = problem
        self.pool = pool
        self._check = check
        self._on_offer = on_offer
        # With costs limited the LP finds how many times the CPUs there are would do.
        self._is_total = problem.layout.limit is None
        self._scale = (
            problem.layout.price_scale if self._is_total else SCALE * max(1, sum(problem.cpus))
        )
        self._best = start

    def decide(self, limit: int) -> Solution | None:
        """Return how contents within ``limit`` provide everything; None when they cannot.

        Raises
        ------
        Undecided
            When rounding errors hide the answer.
        """
        known = self.pool.within(None if self._is_total else limit)
        columns = [one for one in known if self.problem.admits(one)]
        master = Master(self.problem, columns, self._check)
        enough = float(limit) if self._is_total else 1.0
        first = self._start(limit)
        if first is None:
            return None
        best, best_quality = first
        while True:
            self._check()
            solution = master.solve()
            if solution.value <= enough + TOLERANCE:
                if solution.missing <= TOLERANCE:
                    return solution
                if not master.raise_price():
                    raise Undecided
                continue
            complements = COMPLEMENTS if solution.value > FAR * enough else COMPLEMENTS_NEAR
            new: list[Column] = []
            for share in SHARES:
                duals = solution.duals.towards(best, share)
                offer = Offer(self.problem, self._prices(duals), self._check)
                self._on_offer(offer, limit)
                if offer.refutes(limit):
                    return None
                quality = self._quality(offer, limit)
                if quality > best_quality:
                    self._best = best = self._in_scale(duals, offer, limit)
                    best_quality = quality
                new = self._columns(offer, limit, solution.duals, complements)
                offer.release()
                if new:
                    break
                self._check()
            if not new:
                raise Undecided
            master.add(new)

    def _start(self, limit: int) -> tuple[Duals, float] | None:
        """Return the prices to stay near at first and how good they are; None if they refute."""
        duals = self._best or first_duals(self.problem, limit)
        offer = Offer(self.problem, self._prices(duals), self._check)
        self._on_offer(offer, limit)
        offer.release()
        if offer.refutes(limit):
            return None
        return self._in_scale(duals, offer, limit), self._quality(offer, limit)

    def _columns(self, offer: Offer, limit: int, duals: Duals, complements: int) -> list[Column]:
        """Return new columns that improve the LP, some of them what is left beside others."""
        found = offer.columns(limit, duals)
        new = [column for column in found if self.pool.add(column)]
        if not new:
            return []
        rest = self.problem
        for _ in range(complements):
            rest = rest.without(max(found, key=lambda one: duals.worth(one.content)))
            if not any(rest.cpus) or not rest.stock.tasks.any():
                break
            further = Offer(rest, offer.prices, self._check)
            found = further.columns(limit, duals)
            further.release()
            if not found:
                break
            new += [column for column in found if self.pool.add(column)]
            self._check()
        return new

    def _scale_of(self, duals: Duals) -> int:
        """Return what integer prices are a multiple of: less where values outgrew 64 bits."""
        stock, layout = self.problem.stock, self.problem.layout
        reach = float(np.abs(duals.weights) @ stock.tasks + duals.charges @ stock.tokens)
        reach += sum(abs(duals.feature(one)) for one in self.problem.limits)
        if self._is_total:
            reach += float(layout.dearest_visit) * float(stock.tasks.sum())
        scale = self._scale
        while reach * scale > LARGEST_VALUE:
            scale //= 2
        if not scale:
            raise Undecided
        return scale

    def _prices(self, duals: Duals) -> Prices:
        """Return ``duals`` in integers."""
        scale = self._scale_of(duals)
        return Prices(
            np.rint(duals.weights * scale).astype(np.int64),
            np.rint(duals.charges * scale).astype(np.int64),
            {one: round(duals.feature(one) * scale) for one in self.problem.limits},
            scale if self._is_total else 0,
        )

    def _quality(self, offer: Offer, limit: int) -> float:
        """Return how good a bound prices give."""
        if self._is_total:
            return offer.surplus / offer.prices.cost
        return offer.worth / max(1, offer.capacity(limit))

    def _in_scale(self, duals: Duals, offer: Offer, limit: int) -> Duals:
        """Return prices at which all that the CPUs hold is worth 1, as it is in the LP."""
        if self._is_total:
            return duals
        return duals.over(max(1, offer.capacity(limit)) / self._scale_of(duals))


def first_duals(problem: Problem, limit: int) -> Duals:
    """Return prices to begin with: what tasks cost at least, and the room that they take."""
    layout = problem.layout
    base, leaving, entry = layout.exact_costs
    capacity = layout.aggregation.instance.tasks_per_cpu
    weights = np.zeros(len(base))
    for first, last in layout.ranges:
        tokens = slice(layout.first_token[first], layout.first_token[last])
        visit = int(entry[tokens].min() + leaving[1, first:last].min())
        size = min(int(layout.counts[first:last].sum()), capacity)
        weights[first:last] = base[first:last] + visit / size
    if layout.limit is not None:
        weights += max(1, limit) / capacity
        weights /= max(1.0, float(weights @ problem.stock.tasks))
    return Duals(weights, np.zeros(len(entry)), np.zeros(len(layout.groups)), {})
