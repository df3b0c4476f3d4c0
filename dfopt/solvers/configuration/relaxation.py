"""Column generation: whether contents within a limit can cover all tasks, or why they cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dfopt.solvers.configuration.columns import Column, Pool
from dfopt.solvers.configuration.layout import Layout
from dfopt.solvers.configuration.master import TOLERANCE, Duals, Master, Solution
from dfopt.solvers.configuration.pricing import Content, GroupPricing, Prices, Pricing, Stock

SMOOTHING = 0.7
"""How far prices stay with the best ones known, after Wentges (1997)."""

SCALE = 2**24
"""Prices are integers; all that one CPU holds is worth about so much."""

MOST_COLUMNS = 40
"""So many new columns a round at most, of each group."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is left to be scheduled.

    Parameters
    ----------
    layout
        The instance as arrays.
    stock
        The tasks and tokens left.
    cpus
        How many CPUs of each group are left.
    """

    layout: Layout
    stock: Stock
    cpus: tuple[int, ...]

    @classmethod
    def whole(cls, layout: Layout) -> Problem:
        """Return the problem of scheduling everything."""
        stock = Stock(layout.counts, layout.token_counts)
        return cls(layout, stock, tuple(len(group.cpus) for group in layout.groups))


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
        pricing = Pricing(problem.layout, problem.stock, prices)
        self.groups = [GroupPricing(pricing, group) for group in problem.layout.groups]
        stock = problem.stock
        # Python's integers: sums of products may outgrow 64 bits.
        self.worth = sum(
            int(price) * int(number)
            for price, number in [
                *zip(prices.weights, stock.tasks, strict=True),
                *zip(-prices.charges, stock.tokens, strict=True),
            ]
        )

    def bins(self, limit: int | None) -> tuple[int, ...]:
        """Return the most that a CPU of each group holds within ``limit``."""
        return tuple(group.largest(limit) for group in self.groups)

    def capacity(self, limit: int | None) -> int:
        """Return the most that all CPUs hold within ``limit``."""
        bins = self.bins(limit)
        return sum(largest * number for largest, number in zip(bins, self.problem.cpus, strict=True))

    def refutes(self, limit: int) -> bool:
        """Whether all that there is is worth more than the CPUs hold within ``limit``."""
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

    def columns(self, limit: int | None, duals: Duals) -> list[Column]:
        """Return contents within ``limit`` that are worth more than a CPU by ``duals``."""
        return [
            Column(number, content, cost)
            for number, group in enumerate(self.groups)
            for content, cost in group.contents(limit, MOST_COLUMNS)
            if _worth(content, duals)
            > duals.bins[number] + (cost if limit is None else 0) + TOLERANCE
        ]


def _worth(content: Content, duals: Duals) -> float:
    tasks = sum(duals.weights[one] * number for one, number in content.tasks)
    return float(tasks - sum(duals.charges[token] for token in content.tokens))


class Relaxation:
    """The configuration LP of a problem, solved for one limit after the other.

    Parameters
    ----------
    problem
        What is to be scheduled.
    pool
        The columns known; new ones are added to it.
    check
        Called often; may end the search by an exception.
    on_offer
        Called with everything priced, since each may prove something.
    """

    def __init__(
        self,
        problem: Problem,
        pool: Pool,
        check: Callable[[], None],
        on_offer: Callable[[Offer, int | None], None] = lambda offer, limit: None,
    ) -> None:
        self.problem = problem
        self.pool = pool
        self._check = check
        self._on_offer = on_offer

    def decide(self, limit: int) -> Solution | None:
        """Return how contents within ``limit`` cover everything; None when they cannot.

        Raises
        ------
        Undecided
            When rounding errors hide the answer.
        """
        master = self._master(limit)
        best, best_ratio = None, 0.0
        while True:
            self._check()
            solution = master.solve()
            if solution.value <= 1 + TOLERANCE:
                if solution.missing <= TOLERANCE:
                    return solution
                master.raise_price()
                continue
            new: list[Column] = []
            for share in _shares(best is not None):
                duals = solution.duals if best is None else solution.duals.towards(best, share)
                offer = Offer(self.problem, _integers(duals, SCALE * sum(self.problem.cpus)))
                self._on_offer(offer, limit)
                capacity = offer.capacity(limit)
                if offer.worth > capacity:
                    return None
                if offer.worth > best_ratio * capacity:
                    best_ratio = offer.worth / capacity
                    best = duals.over(capacity / (SCALE * sum(self.problem.cpus)))
                new = [
                    column
                    for column in offer.columns(limit, solution.duals)
                    if self.pool.add(column)
                ]
                if new:
                    break
                self._check()
            if not new:
                raise Undecided
            master.add(new)

    def minimise(self) -> Solution | None:
        """Return how contents of least total cost cover everything; None when they cannot."""
        master = self._master(None)
        best, best_bound = None, 0.0
        while True:
            self._check()
            solution = master.solve()
            new: list[Column] = []
            for share in _shares(best is not None):
                duals = solution.duals if best is None else solution.duals.towards(best, share)
                scale = self.problem.layout.price_scale
                offer = Offer(self.problem, _integers(duals, scale, cost=scale))
                self._on_offer(offer, None)
                bound = offer.worth - offer.capacity(None)
                if best is None or bound > best_bound:
                    best, best_bound = duals, bound
                new = [
                    column
                    for column in offer.columns(None, solution.duals)
                    if self.pool.add(column)
                ]
                if new:
                    break
                self._check()
            if new:
                master.add(new)
            elif solution.missing > TOLERANCE:
                if not master.raise_price():
                    return None
            else:
                return solution

    def _master(self, limit: int | None) -> Master:
        columns = self.pool.within(limit, self.problem.stock)
        return Master(self.problem.layout, self.problem.stock, self.problem.cpus, columns)


class Undecided(Exception):  # noqa: N818 - an answer, if a poor one
    """The LP's optimum is too close to the number of CPUs for floating point numbers."""


def _shares(smoothed: bool) -> Sequence[float]:
    """Return how far to go towards the best prices: less when that gives no new column."""
    return (SMOOTHING, SMOOTHING / 2, 0.0) if smoothed else (0.0,)


def _integers(duals: Duals, scale: float, cost: int = 0) -> Prices:
    return Prices(
        np.rint(duals.weights * scale).astype(np.int64),
        np.rint(duals.charges * scale).astype(np.int64),
        cost,
    )
