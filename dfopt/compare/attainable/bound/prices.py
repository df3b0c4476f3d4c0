"""The conditions of a stretch, and prices for them: by a linear program (LP), then raised.

For each fragment there are points of time τ_0 < τ_1 < …, at which its conditions begin and end, and

- x_i: CPUs that hold the fragment at τ_i;
- h_i: CPUs that hold it throughout the slot from τ_i to just before τ_{i+1}; h_i ≤ x_i;
- e_i: visits to it that start in (τ_i, τ_{i+1}]; x_{i+1} ≤ h_i + e_i.

At each point of a fragment, x of those with this point and h of the others' slots around it add up
to at most the number of CPUs. The cost of the entries is minimised.

The dual solution of the LP prices the conditions. A subgradient method raises the bound by better
prices. The bound that prices prove is what conditions and services demand at these prices, and what
the cheapest paths of the CPUs pay. That is a concave function of the prices, linear near most of
them: a condition that the cheapest paths meet less often than demanded needs a higher price, and
one that they meet more often a lower price. Directions are averaged over steps, and each price has
steps of its own length, by the mean square of its directions (D. P. Kingma and J. Ba, *Adam*,
2015). Steps become shorter until they are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.attainable.bound.proof import LARGEST
from dfopt.compare.attainable.bound.stretches import (
    FORBIDDEN,
    CpuPaths,
    TraceStretch,
)
from dfopt.compare.dispatches import Rows
from dfopt.errors import DfoptError
from dfopt.native.cpu_path import CONDITION
from dfopt.native.library import rows_of
from dfopt.native.trace import SLOTS, fit_prices
from dfopt.trace.events import Integers

Reals = NDArray[np.float64]

OUT_OF_ITERATIONS = 1
"""The status with which the solver gives up."""

STEPS = 150
"""Prices change this number of times (times the effort)."""

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


class StretchProgram:
    """The conditions of a stretch in which some dispatch certainly starts.

    Parameters
    ----------
    stretch
        The stretch.
    step
        Intervals of hits are made longer, until their ends are multiples of it.
    scale
        The factor of all costs.
    uses_lengths
        Whether dispatches are as long as recorded.

    Attributes
    ----------
    paths
        What visits cost.
    conditions
        First those that dispatches make hits, then those that dispatches are running. Each of the
        two kinds is ordered by fragment, begin and end.
    hits
        The rows of the stretch that make hits.
    times, points, entry
        As :meth:`~dfopt.compare.attainable.bound.stretches.TraceStretch.least_entries` returns
        them: points are where conditions begin or end.
    first, last
        The points at which each condition begins and ends.
    """

    def __init__(self, stretch: TraceStretch, step: int, scale: int, *, uses_lengths: bool) -> None:
        due = due_in(stretch)
        fragments = np.unique(stretch.fragment[due])
        number = np.searchsorted(fragments, stretch.fragment[due])
        # A longer interval makes a weaker condition. Many of them are equal or contain each other.
        begin = np.maximum(stretch.seen_from[due] // step * step, stretch.begin)
        end = np.minimum(-(-stretch.last[due] // step) * step, stretch.end - 1)
        minimal = _minimal(number, begin, end)
        number, begin, end = number[minimal], begin[minimal], end[minimal]
        fragment, time, count = _held(stretch, due if uses_lengths else due[:0])
        self.hits = due[minimal]
        self.conditions = conditions = rows_of(
            CONDITION,
            fragment=np.concatenate([number, np.searchsorted(fragments, fragment)]),
            begin=np.concatenate([begin, time]),
            end=np.concatenate([end, time]),
            count=np.concatenate([np.ones_like(begin), count]),
        )
        self.paths = CpuPaths(stretch, fragments, conditions, scale)
        owner = np.tile(conditions["fragment"], 2)
        at = np.concatenate([conditions["begin"], conditions["end"]])
        found = stretch.least_entries(fragments, owner, at, scale)
        self.times, self.points, self.entry = found
        places = owner * len(self.times) + np.searchsorted(self.times, at)
        self.first, self.last = np.searchsorted(self.points, places).reshape(2, -1)


def condition_prices(program: StretchProgram, most_steps: int | None) -> Reals | None:
    """Return the prices that the LP of a stretch gives its conditions.

    Parameters
    ----------
    program
        The conditions.
    most_steps
        The solver gives up after this number of iterations x rows, and the answer is None. None:
        never.

    Raises
    ------
    DfoptError
        When the solver fails.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_array, csr_array, eye_array

    paths, scale = program.paths, program.paths.scale
    # The columns are x of all points, then h and e of the slots after them.
    points, count, times = program.points, len(program.points), len(program.times)
    owner, position = np.divmod(points, times)
    slots = np.flatnonzero(np.diff(owner, append=-1) == 0)
    one_each = eye_array(count, format="csr")
    now, after, begun = one_each[slots], one_each[slots + 1], one_each[program.first]
    # The entries of each condition, and at each time the x or h of each fragment.
    covered = program.last - program.first
    ends = np.cumsum(covered)
    entry = np.arange(ends[-1]) + np.repeat(program.first - ends + covered, covered)
    entered = csr_array((np.ones(len(entry)), entry, [0, *ends]), shape=(len(ends), count))
    every = np.arange((owner[-1] + 1) * times)
    holder = np.searchsorted(points, every, "right") - 1
    holder += count * (points[holder] != every)
    shape = times, 2 * count
    holders = csr_array((np.ones(len(every)), (every % times, holder)), shape=shape)
    rows = [
        [-now, now, None],
        [after, -now, -now],
        [-begun, None, -entered],
        [holders[:, :count], holders[:, count:], None],
    ]
    limit = np.zeros(2 * len(slots) + len(program.first) + times)
    cover = slice(2 * len(slots), -times)
    limit[cover] = -program.conditions["count"]
    limit[-times:] = len(paths.stretch.blocks)
    cost, most = np.zeros(3 * count), np.full(3 * count, np.inf)
    cost[:count][position == 0] = paths.costs["first"][:-1] / scale
    startable = program.entry < FORBIDDEN
    cost[2 * count :][startable] = (
        program.entry[startable] + paths.costs["leaving"][:-1].min()
    ) / scale
    most[2 * count :][~startable] = 0
    answer = linprog(
        cost,
        A_ub=block_array(rows, format="csr"),
        b_ub=limit,
        bounds=np.column_stack([np.zeros_like(most), most]),
        method="highs",
        # Looking for a smaller program first takes longer than it saves.
        options={
            "presolve": False,
            **({} if most_steps is None else {"maxiter": most_steps // len(limit)}),
        },
    )
    if most_steps is not None and answer.status == OUT_OF_ITERATIONS:
        return None
    if answer.status != 0:
        raise DfoptError(f"the linear program of a bound was not solved: {answer.message}")
    prices: Reals = np.maximum(-answer.ineqlin.marginals[cover], 0.0)
    return prices


def due_in(stretch: TraceStretch) -> Rows:
    """Return the dispatches that certainly start in the stretch."""
    return np.flatnonzero((stretch.seen_from >= stretch.begin) & (stretch.last < stretch.end))


def _minimal(fragment: Rows, begin: Integers, end: Integers) -> Rows:
    """Return intervals that contain no other one of their fragment; of equal ones, one counts.

    They are ordered by fragment, begin and end.
    """
    order = np.lexsort((-begin, end, fragment))
    times = np.unique(begin)
    position = (fragment * len(times) + np.searchsorted(times, begin))[order]
    latest = np.maximum.accumulate(position)
    return order[np.diff(latest, prepend=-1) > 0]


def _held(stretch: TraceStretch, due: Rows) -> tuple[Integers, Integers, Integers]:
    """Return fragments, times and numbers of the dispatches that are certainly running.

    At these times they begin to run, or are just before their end.
    """
    ends = stretch.first + stretch.length
    certain = due[stretch.last[due] < ends[due]]
    times = np.concatenate([stretch.last[certain], ends[certain] - 1])
    pairs = np.column_stack([np.tile(stretch.fragment[certain], 2), times])
    fragment, time = np.unique(pairs[times < stretch.end], axis=0).T.copy()
    count = stretch.running(fragment, time)
    return fragment, time, count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundPrices:
    """Prices, and what they prove, all times the scale.

    Parameters
    ----------
    value
        The bound of the stretch.
    scaled
        The price of each condition, then of each service.
    lacking
        By how much less each condition, then each service, is met than demanded; not scaled.
    """

    value: int
    scaled: Integers
    lacking: Reals


def raised_prices(
    program: StretchProgram, services: Rows, prices: Reals, effort: float = 1.0
) -> FoundPrices:
    """Return the best prices that were found.

    Parameters
    ----------
    program
        The conditions.
    services
        Rows of the stretch that have a price, too, in the order of ``first``.
    prices
        Prices of the conditions from which the search begins.
    effort
        The number of steps is in proportion to this.
    """
    none = np.zeros(len(services))
    best = _evaluated(program, services, np.concatenate([prices, none]))
    if not len(services):
        return best
    paths, scale = program.paths, program.paths.scale
    costs = paths.costs[:-1][paths.costs["entry"][:-1] < FORBIDDEN]
    usual = float(((costs["entry"] + costs["leaving"]) / scale).max(initial=1.0)) or 1.0
    current = np.concatenate([prices, none + FIRST_PRICE * usual])
    direction, square = np.zeros((2, len(current)))
    steps = max(1, round(STEPS * effort))
    for number in range(steps):
        found = _evaluated(program, services, current)
        if found.value > best.value:
            best = found
        current = found.scaled / scale
        direction = INERTIA * direction + (1 - INERTIA) * found.lacking
        square = SCALING * square + (1 - SCALING) * found.lacking**2
        step = LONGEST_STEP * usual * (1 - number / steps) ** 2
        current += step * direction / np.sqrt(square + SMALLEST_SQUARE)
        current = np.clip(current, 0, MOST_EXPENSIVE * usual)
    return best


def _evaluated(program: StretchProgram, services: Rows, prices: Reals) -> FoundPrices:
    """Return what prices prove, once they are integers that the checker accepts."""
    conditions = program.conditions
    count = len(conditions)
    # The checker adds up to this much in 64 bits.
    scaled = np.minimum(
        np.floor(prices * program.paths.scale), LARGEST // (4 * len(prices))
    ).astype(np.int64)
    own, rewards = scaled[:count], scaled[count:]
    slots = rows_of(SLOTS, first=program.first, last=program.last)
    fit_prices(slots, program.entry.copy(), own)
    rows = np.flatnonzero(rewards)
    value, met_by_paths = program.paths.proven(own, services[rows], rewards[rows])
    met = np.zeros(len(prices))
    met[:count], met[count + rows] = met_by_paths[:count], met_by_paths[count:]
    demanded = np.concatenate([conditions["count"], np.ones(len(rewards))])
    return FoundPrices(value=value, scaled=scaled, lacking=demanded - met)
