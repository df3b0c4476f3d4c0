"""Certificates: proofs by prices, as integer weights of tasks, charges and bin weights."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import numpy as np

from dfopt.problem.certificate import Certificate, CompleteSearch, DualWeights, TaskClass
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF
from dfopt.solvers.configuration.fragment_knapsack import Integers
from dfopt.solvers.configuration.prices import Prices
from dfopt.solvers.configuration.pricing import PricedProblem
from dfopt.solvers.configuration.pricing_data import PricingData

SCALES = (10**2, 10**3, 10**4, 10**5)
"""The largest weight of a class in a certificate; tried in turn, as small numbers read well."""


def claim(priced: PricedProblem, refuted: int) -> tuple[int, Certificate]:
    """Return the bound that prices prove, and these prices as the certificate.

    Parameters
    ----------
    priced
        The contents that CPUs can hold at some prices.
    refuted
        The largest limit that they refute.
    """
    prices = priced.prices
    if not prices.cost:
        return refuted + 1, _weights(priced, refuted)
    bound = -(-(priced.worth - priced.capacity(None)) // prices.cost)
    return bound, CompleteSearch(threshold=bound - 1, solver="configuration LP")


def shorter(priced: PricedProblem, bound: int, otherwise: Certificate) -> Certificate:
    """Return a certificate in smaller numbers, or in the unit of costs, if that proves the bound.

    Weights in the unit of costs can do so only if rounding them to integers loses nothing.
    """
    if not priced.prices.cost:
        for scale in SCALES:
            smaller = PricedProblem(priced.problem, _scaled(priced.prices, scale), priced.check)
            if smaller.refutes(bound - 1):
                return _weights(smaller, bound - 1)
        return otherwise
    prices = priced.prices
    for weights in (np.rint, np.floor):
        rounded = PricedProblem(
            priced.problem,
            Prices(
                weights(prices.weights / prices.cost).astype(np.int64),
                np.rint(prices.charges / prices.cost).astype(np.int64),
                cost=1,
            ),
            priced.check,
        )
        if rounded.worth - rounded.capacity(None) >= bound:
            return _weights(rounded, None, bound)
    return otherwise


def _scaled(prices: Prices, largest: int) -> Prices:
    factor = largest / max(1, int(np.abs(prices.weights).max()))
    return Prices(
        np.rint(prices.weights * factor).astype(np.int64),
        np.rint(prices.charges * factor).astype(np.int64),
    )


def _weights(priced: PricedProblem, limit: int | None, bound: int | None = None) -> DualWeights:
    data = priced.problem.data
    bins = [0] * data.aggregation.instance.cpus
    for group, largest in zip(data.groups, priced.bins(limit), strict=True):
        for cpu in group.cpus:
            bins[cpu] = largest
    weights = list(_weight_rows(data, priced.prices.weights))
    charges = list(_charge_rows(data, priced.prices.charges))
    divisor = 1
    if limit is not None:
        divisor = (
            gcd(*bins, *(value for _, value in weights), *(value for _, value in charges)) or 1
        )
    return DualWeights(
        bin_weights=tuple(bin_weight // divisor for bin_weight in bins),
        weights=tuple((row, value // divisor) for row, value in weights),
        entry_charges=tuple((row, value // divisor) for row, value in charges),
        threshold=limit,
        lower_bound=bound,
    )


def _weight_rows(data: PricingData, weights: Integers) -> Iterator[tuple[TaskClass, int]]:
    """Yield the rows for weights that are not 0; a fragment of one weight needs only one."""
    aggregation = data.aggregation
    for first, last in data.ranges:
        own = weights[first:last].tolist()
        if not any(own):
            continue
        if len(set(own)) == 1:
            example = aggregation.types[aggregation.classes[first].task_types[0]].example
            yield TaskClass(df=str(example.df)), own[0]
            continue
        for task_class, weight in zip(aggregation.classes[first:last], own, strict=True):
            if weight:
                for row in dict.fromkeys(
                    _row(data, task_type) for task_type in task_class.task_types
                ):
                    yield row, weight


def _charge_rows(data: PricingData, charges: Integers) -> Iterator[tuple[TaskClass, int]]:
    """Yield the rows for charges that are not 0."""
    aggregation = data.aggregation
    for token in np.flatnonzero(charges).tolist():
        task_class = aggregation.classes[int(data.token_classes[token])]
        costs, entry = aggregation.form.costs, data.entries[token]
        types = [
            task_type for task_type in task_class.task_types if costs[task_type].entry == entry
        ]
        for row in dict.fromkeys(_row(data, task_type, with_lines=True) for task_type in types):
            yield row, int(charges[token])


def _row(data: PricingData, task_type: int, *, with_lines: bool = False) -> TaskClass:
    instance = data.aggregation.instance
    task = data.aggregation.types[task_type].example
    has_lines = isinstance(instance.penalty, PenaltyF)
    return TaskClass(
        df=str(task.df),
        leaves=task.leaves if has_lines else None,
        lines=task.lines if has_lines and with_lines else None,
        exec=task.exec if instance.objective is Objective.MAKESPAN else None,
    )
