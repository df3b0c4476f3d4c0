"""Column generation: whether contents within a limit can cover all tasks, or why they cannot."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from dfopt.solvers.configuration.columns import Column, Pool
from dfopt.solvers.configuration.master import TOLERANCE, Duals, Master, Solution
from dfopt.solvers.configuration.pricing import GroupPricing, Prices, Pricing
from dfopt.solvers.configuration.problem import Problem

SHARES = (0.7, 0.35, 0.0)
"""How far prices stay with the best ones known, after Wentges (1997): less if that fails."""

SCALE = 2**24
"""Prices are integers; all that one CPU holds is worth about so much."""

MOST_COLUMNS = 40
"""So many new columns a round at most, of each group."""


class Offer:
    """What CPUs can hold at some prices.

    Parameters
    ----------
    problem
        What there is to hold.
    prices
        What it is worth.
    """

    def __init__(self, problem: Problem, prices: Prices) -> None:
        self.problem = problem
        self.prices = prices
        pricing = Pricing(problem.layout, problem.stock, prices, problem.whole, problem.paired)
        self.groups = [
            [GroupPricing(pricing, group, pattern) for pattern in problem.patterns()]
            for group in problem.layout.groups
        ]
        self.worth = problem.worth(prices)

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
        low, high = least - 1, limit
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
    """

    def __init__(
        self,
        problem: Problem,
        pool: Pool,
        check: Callable[[], None],
        on_offer: Callable[[Offer, int], None] = lambda offer, limit: None,
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

    def decide(self, limit: int) -> Solution | None:
        """Return how contents within ``limit`` provide everything; None when they cannot.

        Raises
        ------
        Undecided
            When rounding errors hide the answer.
        """
        known = self.pool.within(None if self._is_total else limit)
        master = Master(self.problem, [one for one in known if self.problem.admits(one)])
        enough = float(limit) if self._is_total else 1.0
        best: Duals | None = None
        best_quality = 0.0
        while True:
            self._check()
            solution = master.solve()
            if solution.value <= enough + TOLERANCE:
                if solution.missing <= TOLERANCE:
                    return solution
                if not master.raise_price():
                    raise Undecided
                continue
            new: list[Column] = []
            for share in SHARES if best is not None else (0.0,):
                duals = solution.duals if best is None else solution.duals.towards(best, share)
                offer = Offer(self.problem, self._prices(duals))
                self._on_offer(offer, limit)
                if offer.refutes(limit):
                    return None
                quality, scaled = self._quality(offer, limit, duals)
                if quality > best_quality:
                    best, best_quality = scaled, quality
                new = [one for one in offer.columns(limit, solution.duals) if self.pool.add(one)]
                if new:
                    break
                self._check()
            if not new:
                raise Undecided
            master.add(new)

    def _prices(self, duals: Duals) -> Prices:
        """Return ``duals`` in integers."""
        return Prices(
            np.rint(duals.weights * self._scale).astype(np.int64),
            np.rint(duals.charges * self._scale).astype(np.int64),
            {feature: round(price * self._scale) for feature, price in duals.features.items()},
            self._scale if self._is_total else 0,
        )

    def _quality(self, offer: Offer, limit: int, duals: Duals) -> tuple[float, Duals]:
        """Return how good a bound prices give, and the prices in a common scale."""
        if self._is_total:
            return float(offer.surplus), duals
        capacity = max(1, offer.capacity(limit))
        return offer.worth / capacity, duals.over(capacity / self._scale)


class Undecided(Exception):  # noqa: N818 - an answer, if a poor one
    """The LP's optimum is too close to the limit for floating point numbers."""
