"""What prices prove, as certificates: integer weights of tasks, charges and bin weights."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import numpy as np

from dfopt.problem.certificate import Certificate, CompleteSearch, DualWeights, TaskClass
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF
from dfopt.solvers.configuration.layout import Layout
from dfopt.solvers.configuration.members import Integers
from dfopt.solvers.configuration.pricing import Prices
from dfopt.solvers.configuration.relaxation import Offer

SCALES = (10**2, 10**3, 10**4, 10**5)
"""What the dearest class may weigh in a certificate, smallest first: small numbers read well."""


def claim(offer: Offer, refuted: int) -> tuple[int, Certificate]:
    """Return the bound that an offer proves, and its prices, as they are, as the certificate.

    Parameters
    ----------
    offer
        CPUs, and what they hold at some prices.
    refuted
        The largest limit that it refutes.
    """
    prices = offer.prices
    if not prices.cost:
        return refuted + 1, _weights(offer, refuted)
    bound = -(-(offer.worth - offer.capacity(None)) // prices.cost)
    return bound, CompleteSearch(threshold=bound - 1, solver="configuration LP")


def shorter(offer: Offer, bound: int, otherwise: Certificate) -> Certificate:
    """Return a certificate in smaller numbers, or in the unit of costs, if that proves the bound.

    Weights in the unit of costs can do so only if rounding them to integers loses nothing.
    """
    if not offer.prices.cost:
        for scale in SCALES:
            smaller = Offer(offer.problem, _scaled(offer.prices, scale), offer.check)
            if smaller.refutes(bound - 1):
                return _weights(smaller, bound - 1)
        return otherwise
    prices = offer.prices
    for weights in (np.rint, np.floor):
        rounded = Offer(
            offer.problem,
            Prices(
                weights(prices.weights / prices.cost).astype(np.int64),
                np.rint(prices.charges / prices.cost).astype(np.int64),
                cost=1,
            ),
            offer.check,
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


def _weights(offer: Offer, limit: int | None, bound: int | None = None) -> DualWeights:
    layout = offer.problem.layout
    bins = [0] * layout.aggregation.instance.cpus
    for group, largest in zip(layout.groups, offer.bins(limit), strict=True):
        for cpu in group.cpus:
            bins[cpu] = largest
    weights = list(_weight_rows(layout, offer.prices.weights))
    charges = list(_charge_rows(layout, offer.prices.charges))
    divisor = 1
    if limit is not None:
        divisor = (
            gcd(*bins, *(value for _, value in weights), *(value for _, value in charges)) or 1
        )
    return DualWeights(
        bin_weights=tuple(one // divisor for one in bins),
        weights=tuple((row, value // divisor) for row, value in weights),
        entry_charges=tuple((row, value // divisor) for row, value in charges),
        threshold=limit,
        lower_bound=bound,
    )


def _weight_rows(layout: Layout, weights: Integers) -> Iterator[tuple[TaskClass, int]]:
    """Yield the rows for weights that are not 0; a fragment of one weight needs only one."""
    aggregation = layout.aggregation
    for first, last in layout.ranges:
        own = weights[first:last].tolist()
        if not any(own):
            continue
        if len(set(own)) == 1:
            example = aggregation.types[aggregation.classes[first].kinds[0]].example
            yield TaskClass(df=str(example.df)), own[0]
            continue
        for one, weight in zip(aggregation.classes[first:last], own, strict=True):
            if weight:
                for row in dict.fromkeys(_row(layout, kind) for kind in one.kinds):
                    yield row, weight


def _charge_rows(layout: Layout, charges: Integers) -> Iterator[tuple[TaskClass, int]]:
    """Yield the rows for charges that are not 0."""
    aggregation = layout.aggregation
    for token in np.flatnonzero(charges).tolist():
        number = int(layout.token_classes[token])
        one = aggregation.classes[number]
        entry = one.tokens[token - int(layout.first_token[number])].entry
        kinds = [kind for kind in one.kinds if aggregation.form.costs[kind].entry == entry]
        for row in dict.fromkeys(_row(layout, kind, with_lines=True) for kind in kinds):
            yield row, int(charges[token])


def _row(layout: Layout, kind: int, *, with_lines: bool = False) -> TaskClass:
    instance = layout.aggregation.instance
    task = layout.aggregation.types[kind].example
    has_lines = isinstance(instance.penalty, PenaltyF)
    return TaskClass(
        df=str(task.df),
        leaves=task.leaves if has_lines else None,
        lines=task.lines if has_lines and with_lines else None,
        exec=task.exec if instance.objective is Objective.MAKESPAN else None,
    )
