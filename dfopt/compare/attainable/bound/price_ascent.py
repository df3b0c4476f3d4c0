"""Raise a bound by better prices: a subgradient method.

The bound that prices prove is what conditions and services demand at these prices, and what the
cheapest paths of the CPUs pay. That is a concave function of the prices, linear near most of them:
a condition that the cheapest paths meet less often than demanded needs a higher price, and one that
they meet more often a lower price. Directions are averaged over steps, and each price has steps of
its own length, by the mean square of its directions (D. P. Kingma and J. Ba, *Adam*, 2015). Steps
become shorter until they are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.bound.cpu_paths import CpuPath
from dfopt.compare.attainable.bound.linear_program import Reals, StretchProgram
from dfopt.compare.attainable.bound.proof import LARGEST
from dfopt.compare.attainable.bound.visit_costs import FORBIDDEN
from dfopt.compare.dispatches import Rows
from dfopt.native.cpu_path import LATER
from dfopt.native.library import rows_of
from dfopt.native.trace import SLOTS, fit_prices
from dfopt.trace.events import Integers

STEPS = 150
"""Prices change this number of times."""

LONGEST_STEP = 0.1
"""The first change of a price is about this share of the cost of an entry; later ones are less."""

INERTIA = 0.9
"""The share of a direction that comes from the directions before it."""

SCALING = 0.99
"""The same for the mean square of each price's directions."""

SMALLEST_SQUARE = 0.01
"""Mean squares count as at least this, so that prices that are met as demanded stay."""

FIRST_PRICE = 0.1
"""The first price of a service, as a share of the cost of an entry."""

MOST_EXPENSIVE = 8
"""No price is raised above this number of times the cost of an entry."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundPrices:
    """Prices, and what they prove, all times the scale.

    Parameters
    ----------
    value
        The bound of the stretch.
    conditions, services
        The price of each of them.
    lacking
        By how much less each condition, then each service, is met than demanded; not scaled.
    """

    value: int
    conditions: Integers
    services: Integers
    lacking: Reals


def raised_prices(program: StretchProgram, services: Rows, prices: Reals) -> FoundPrices:
    """Return the best prices that were found.

    Parameters
    ----------
    program
        The conditions.
    services
        Rows of the stretch that have a price, too, in the order of ``first``.
    prices
        Prices of the conditions from which the search begins.
    """
    none = np.zeros(len(services))
    best = _evaluated(program, services, np.concatenate([prices, none]))
    if not len(services):
        return best
    paths, scale = program.paths, program.paths.scale
    costs = (paths.entry[:-1] + paths.leaving[:-1]).astype(float) / scale
    usual = float(costs[paths.entry[:-1] < FORBIDDEN].max(initial=1.0)) or 1.0
    current = np.concatenate([prices, none + FIRST_PRICE * usual])
    direction, square = np.zeros((2, len(current)))
    for number in range(STEPS):
        found = _evaluated(program, services, current)
        if found.value > best.value:
            best = found
        current = np.concatenate([found.conditions, found.services]) / scale
        direction = INERTIA * direction + (1 - INERTIA) * found.lacking
        square = SCALING * square + (1 - SCALING) * found.lacking**2
        step = LONGEST_STEP * usual * (1 - number / STEPS) ** 2
        current += step * direction / np.sqrt(square + SMALLEST_SQUARE)
        current = np.clip(current, 0, MOST_EXPENSIVE * usual)
    return best


def _evaluated(program: StretchProgram, services: Rows, prices: Reals) -> FoundPrices:
    """Return what prices prove, once they are integers that the checker accepts."""
    conditions = program.conditions
    count = len(conditions.count)
    # The checker adds up to this much in 64 bits.
    scaled = np.minimum(
        np.floor(prices * program.paths.scale), LARGEST // (4 * len(prices))
    ).astype(np.int64)
    own, rewards = scaled[:count], scaled[count:]
    slots = rows_of(SLOTS, first=program.first, last=program.last)
    fit_prices(slots, program.entry.copy(), own)
    rows = np.flatnonzero(rewards)
    cheapest = program.paths.cheapest(conditions, own, services[rows], rewards[rows])
    value = int((own * conditions.count).sum()) + int(rewards.sum())
    met = np.zeros(len(prices))
    for path in cheapest:
        value += path.cpus * path.price
        met[count:] += path.cpus * np.bincount(rows[path.services], minlength=len(rewards))
        met[:count] += path.cpus * _visited(program, path)
    demanded = np.concatenate([conditions.count, np.ones(len(rewards))])
    return FoundPrices(value=value, conditions=own, services=rewards, lacking=demanded - met)


def _visited(program: StretchProgram, path: CpuPath) -> Integers:
    """Return the number of visits of a path that meet each condition."""
    change = np.zeros(len(program.first) + 1, np.int64)
    times, points = program.times, program.points
    # Visits from the last to the first one: each ends where the one before it here begins.
    begin, end = (
        np.searchsorted(points, path.fragment * len(times) + np.searchsorted(times, visits))
        for visits in (path.begin, np.concatenate([[LATER], path.begin[:-1]]))
    )
    for kind in (slice(0, len(program.hits)), slice(len(program.hits), None)):
        first = np.searchsorted(program.last[kind], begin, "left") + kind.start
        last = np.searchsorted(program.first[kind], end, "left") + kind.start
        inside = first < last
        np.add.at(change, first[inside], 1)
        np.add.at(change, last[inside], -1)
    return np.cumsum(change)[:-1]
