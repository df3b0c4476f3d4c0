"""Certificates: proofs by prices, as integer weights of tasks, charges and bin weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfopt.problem.certificate import DualWeights, TaskClass, VisitPrice
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF
from dfopt.solvers.configuration.branching_rules import VisitsFragment
from dfopt.solvers.configuration.cost_grid import Integers
from dfopt.solvers.configuration.prices import Prices
from dfopt.solvers.configuration.pricing import PricedProblem
from dfopt.solvers.configuration.pricing_data import PricingData

SCALES = (10**2, 10**3, 10**4, 10**5)
"""The largest weight of a class in a certificate; tried in turn, as small numbers read well."""

COST_SCALES = (12, 10**2, 10**3, 10**4)
"""The value of a unit of cost, under total-penalty; tried in turn."""


def claim(priced: PricedProblem, refuted: int) -> tuple[int, DualWeights]:
    """Return the bound that prices prove, and these prices as the certificate.

    Parameters
    ----------
    priced
        The contents that CPUs can hold at some prices.
    refuted
        The largest limit that they refute.
    """
    if not priced.prices.cost:
        return refuted + 1, _weights(priced, refuted + 1)
    unit = priced.problem.data.common_unit
    bound = -(-priced.surplus // (priced.prices.cost * unit)) * unit
    return bound, _weights(priced, bound)


def shorter(priced: PricedProblem, bound: int, otherwise: DualWeights) -> DualWeights:
    """Return a certificate of a bound in smaller numbers, or ``otherwise`` if there is none."""
    for prices in smaller_prices(priced.prices):
        smaller = PricedProblem(priced.problem, prices, priced.check)
        if smaller.refutes(bound - 1):
            return _weights(smaller, bound)
    return otherwise


def smaller_prices(prices: Prices) -> Iterator[Prices]:
    """Yield prices rounded to smaller numbers, the smallest ones first."""
    if not prices.cost:
        largest = max(1, int(np.abs(prices.weights).max()))
        yield from (_scaled(prices, scale / largest) for scale in SCALES)
        return
    # In the unit of costs many bounds are sums of whole numbers.
    yield _scaled(prices, 1 / prices.cost, cost=1)
    yield _scaled(prices, 1 / prices.cost, np.floor, cost=1)
    yield from (_scaled(prices, scale / prices.cost, cost=scale) for scale in COST_SCALES)


def _scaled(
    prices: Prices,
    factor: float,
    rounded: Callable[[NDArray[Any]], NDArray[Any]] = np.rint,
    *,
    cost: int = 0,
) -> Prices:
    return Prices(
        rounded(prices.weights * factor).astype(np.int64),
        np.rint(prices.charges * factor).astype(np.int64),
        {feature: round(price * factor) for feature, price in prices.features.items()},
        cost,
    )


def _weights(priced: PricedProblem, bound: int) -> DualWeights:
    data = priced.problem.data
    cost = priced.prices.cost
    limit = None if cost else bound - 1
    bins = [0] * data.aggregation.instance.cpus
    for group, largest in zip(data.groups, priced.bins(limit), strict=True):
        for cpu in group.cpus:
            bins[cpu] = largest
    weights = list(_weight_rows(data, priced.prices.weights))
    charges = list(_charge_rows(data, priced.prices.charges))
    visits = [
        (class_rows(data, data.ranges[feature.fragment][0])[0].df, price)
        for feature, price in priced.prices.features.items()
        if isinstance(feature, VisitsFragment) and price
    ]
    numbers = [*bins, *(value for _, value in [*weights, *charges, *visits])]
    divisor = gcd(cost, *numbers) or 1
    return DualWeights(
        bin_weights=tuple(bin_weight // divisor for bin_weight in bins),
        weights=tuple(row.weighing(value // divisor) for row, value in weights),
        entry_charges=tuple(row.charged(value // divisor) for row, value in charges),
        visit_prices=tuple(VisitPrice(df=df, price=value // divisor) for df, value in visits),
        threshold=limit,
        lower_bound=bound if cost else None,
        scale=cost // divisor if cost else 1,
    )


def _weight_rows(data: PricingData, weights: Integers) -> Iterator[tuple[TaskClass, int]]:
    """Yield the rows for weights that are not 0; a fragment of one weight needs only one."""
    for first, last in data.ranges:
        own = weights[first:last].tolist()
        if not any(own):
            continue
        if len(set(own)) == 1:
            yield TaskClass(df=class_rows(data, first)[0].df), own[0]
            continue
        for task_class, weight in enumerate(own, first):
            if weight:
                for row in class_rows(data, task_class):
                    yield row, weight


def _charge_rows(data: PricingData, charges: Integers) -> Iterator[tuple[TaskClass, int]]:
    """Yield the rows for charges that are not 0."""
    for token in np.flatnonzero(charges).tolist():
        for row in token_rows(data, token):
            yield row, int(charges[token])


def class_rows(data: PricingData, task_class: int) -> tuple[TaskClass, ...]:
    """Return the rows that stand for the tasks of a class."""
    task_types = data.aggregation.classes[task_class].task_types
    return tuple(dict.fromkeys(_row(data, task_type) for task_type in task_types))


def token_rows(data: PricingData, token: int) -> tuple[TaskClass, ...]:
    """Return the rows that stand for the tasks that a token stands for."""
    aggregation = data.aggregation
    task_class = aggregation.classes[int(data.token_classes[token])]
    costs, entry = aggregation.form.costs, data.entries[token]
    types = [task_type for task_type in task_class.task_types if costs[task_type].entry == entry]
    return tuple(dict.fromkeys(_row(data, task_type, with_lines=True) for task_type in types))


def _row(data: PricingData, task_type: int, *, with_lines: bool = False) -> TaskClass:
    instance = data.aggregation.instance
    task = data.aggregation.types[task_type].example
    has_lines = isinstance(instance.penalty, PenaltyF)
    return TaskClass(
        df=str(task.df),
        leaves=task.leaves if has_lines else None,
        lines=task.lines if has_lines and with_lines else None,
        exec=task.exec if instance.objective is Objective.MAKESPAN else None,
        size=task.size if instance.has_sizes else None,
    )
