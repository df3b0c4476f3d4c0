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

from dfopt.compare.attainable.bound.cpu_path import LATER
from dfopt.compare.attainable.bound.entry_costs import FORBIDDEN
from dfopt.compare.attainable.bound.linear_program import Reals
from dfopt.compare.attainable.bound.stretch_paths import CpuPath, Services, StretchPaths
from dfopt.compare.dispatches import Rows
from dfopt.solvers.compilation.compiled import compiled
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
class StretchConditions:
    """The conditions of all fragments in a stretch, as columns.

    Parameters
    ----------
    fragment, begin, end, count
        x(begin) + e(begin, end] ≥ count for the fragment with this number.
    first_slot, last_slot
        The slots that (begin, end] contains: from the first one to just before the last one.
    entry
        What an entry costs in each slot of any fragment.
    """

    fragment: Rows
    begin: Integers
    end: Integers
    count: Integers
    first_slot: Rows
    last_slot: Rows
    entry: Integers


def fitted(conditions: StretchConditions, prices: Reals, scale: int) -> Integers:
    """Return prices in integers that reward no entry by more than it costs."""
    found = np.floor(prices * scale).astype(np.int64)
    _fit(conditions.first_slot, conditions.last_slot, conditions.entry.copy(), found)
    return found


@compiled
def _fit(first: Rows, last: Rows, room: Integers, prices: Integers) -> int:
    """Lower prices to what is left in each slot after those before them."""
    for row in range(len(prices)):
        price = prices[row]
        for slot in range(first[row], last[row]):
            price = min(price, room[slot])
        for slot in range(first[row], last[row]):
            room[slot] -= price
        prices[row] = price
    return 0


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


def raised_prices(
    paths: StretchPaths,
    conditions: StretchConditions,
    services: Services,
    prices: Reals,
    scale: int,
) -> FoundPrices:
    """Return the best prices that were found.

    Parameters
    ----------
    paths
        The costs of visits.
    conditions, services
        What has a price.
    prices
        Prices of the conditions from which the search begins.
    scale
        Prices of the answer are multiples of 1/scale.
    """
    begins = _run_begins(conditions)
    none = np.zeros(len(services.fragment))
    best = _evaluated(paths, conditions, services, begins, np.concatenate([prices, none]), scale)
    if not len(none):
        return best
    costs = (paths.entry[:-1] + paths.leaving[:-1]).astype(float) / scale
    usual = float(costs[paths.entry[:-1] < FORBIDDEN].max(initial=1.0)) or 1.0
    current = np.concatenate([prices, none + FIRST_PRICE * usual])
    direction, square = np.zeros((2, len(current)))
    for number in range(STEPS):
        found = _evaluated(paths, conditions, services, begins, current, scale)
        if found.value > best.value:
            best = found
        current = np.concatenate([found.conditions, found.services]) / scale
        direction = INERTIA * direction + (1 - INERTIA) * found.lacking
        square = SCALING * square + (1 - SCALING) * found.lacking**2
        step = LONGEST_STEP * usual * (1 - number / STEPS) ** 2
        current += step * direction / np.sqrt(square + SMALLEST_SQUARE)
        current = np.clip(current, 0, MOST_EXPENSIVE * usual)
    return best


def _evaluated(  # noqa: PLR0913, PLR0917
    paths: StretchPaths,
    conditions: StretchConditions,
    services: Services,
    begins: Rows,
    prices: Reals,
    scale: int,
) -> FoundPrices:
    count = len(conditions.count)
    own = fitted(conditions, prices[:count], scale)
    rewards = np.floor(prices[count:] * scale).astype(np.int64)
    rows = np.flatnonzero(rewards)
    cheapest = paths.cheapest(
        conditions.fragment, conditions.begin, conditions.end, own,
        services.part(rows), rewards[rows],
    )  # fmt: skip
    value = int((own * conditions.count).sum()) + int(rewards.sum())
    met = np.zeros(len(prices))
    for path in cheapest:
        value += path.cpus * path.price
        met[count:] += path.cpus * np.bincount(rows[path.services], minlength=len(rewards))
        met[:count] += path.cpus * _visited(conditions, begins, path)
    demanded = np.concatenate([conditions.count, np.ones(len(rewards))])
    return FoundPrices(value=value, conditions=own, services=rewards, lacking=demanded - met)


def _run_begins(conditions: StretchConditions) -> Rows:
    """Return where runs of conditions begin: of one fragment, ordered by begin and by end."""
    breaks = np.diff(conditions.fragment) != 0
    breaks |= (np.diff(conditions.begin) < 0) | (np.diff(conditions.end) < 0)
    return np.unique(np.concatenate([[0], np.flatnonzero(breaks) + 1, [len(conditions.count)]]))


def _visited(conditions: StretchConditions, begins: Rows, path: CpuPath) -> Integers:
    """Return the number of visits of a path that meet each condition."""
    change = np.zeros(len(conditions.count) + 1, np.int64)
    ends = np.concatenate([[LATER], path.begin[:-1]])
    for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        own = path.fragment == conditions.fragment[begin]
        first = np.searchsorted(conditions.end[begin:end], path.begin[own], side="left")
        last = np.searchsorted(conditions.begin[begin:end], ends[own], side="left")
        inside = first < last
        np.add.at(change, begin + first[inside], 1)
        np.add.at(change, begin + last[inside], -1)
    return np.cumsum(change)[:-1]
