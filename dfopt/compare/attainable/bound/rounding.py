"""Integer prices that prove almost the value of a linear program.

Whatever the integers are, they prove some bound, see
:mod:`dfopt.compare.attainable.bound.check_proof`. So what the solver found is rounded, and made
smaller where the prices of a slot would exceed the cost of an entry there.
"""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.bound.conditions import NOTHING_DUE, DelayConditions, StretchTimes
from dfopt.compare.attainable.bound.linear_program import (
    FragmentDuals,
    Reals,
    StretchDuals,
    covered_slots,
)
from dfopt.compare.attainable.bound.proof import (
    CompletionPrices,
    DelayPrices,
    DispatchPrices,
    FragmentPrices,
    FragmentTimes,
    IntervalPrices,
    PeriodPrices,
    StretchPrices,
    TimePrices,
)
from dfopt.compare.attainable.bound.visit_costs import VisitCosts
from dfopt.trace.events import Integers


def integer_prices(
    duals: StretchDuals,
    visit_costs: list[VisitCosts],
    times: StretchTimes,
    scale: int,
    wait_price: int,
) -> StretchPrices:
    """Return the prices of a stretch in integers.

    Parameters
    ----------
    duals
        What the solver found.
    visit_costs
        What visits to each fragment cost.
    times
        The times that the conditions speak of.
    scale
        The prices are multiples of 1/scale.
    wait_price
        The price of each unit of time that something waits, times the scale.
    """
    grid = times.grid
    hits, delays, started, finished, mandatory, energy = [], [], [], [], [], []
    points, exits = [], []
    periods = 0 if grid is None else len(grid) - 1
    largest = np.zeros(periods + 1, np.int64)
    for own, costs in zip(duals.fragments, visit_costs, strict=True):
        conditions = own.conditions
        fragment = conditions.fragment
        hit_prices, multiplicity_prices, delay_prices = _covering(own, costs.entry, scale)
        delays.append(_priced_delays(conditions.delays, delay_prices, wait_price, times))
        used = hit_prices > 0
        rows = conditions.windows.dispatch[conditions.hits[used]]
        hits.append(np.column_stack([rows, hit_prices[used]]))
        by_start = conditions.due == NOTHING_DUE
        interval = [conditions.begin, conditions.end]
        started.append(_priced(fragment, interval, multiplicity_prices * by_start))
        interval.append(conditions.due)
        finished.append(_priced(fragment, interval, multiplicity_prices * ~by_start))
        if own.exit > 0:
            exits.append(np.array([[fragment, int(own.exit * scale)]]))
        interval = [own.points[:-1], own.points[1:]]
        mandatory.append(_priced(fragment, interval, _floor(own.mandatory, scale)))
        if len(np.unique(costs.entry)) > 1:
            inside = own.points[own.points < times.end]
            points.append(np.column_stack([np.full(len(inside), fragment), inside]))
        if grid is not None:
            energy_prices = _floor(own.energies, scale)
            interval = [grid[conditions.period_begin], grid[conditions.period_end]]
            energy.append(_priced(fragment, interval, energy_prices))
            change = np.zeros(periods + 1, np.int64)
            np.add.at(change, conditions.period_begin, energy_prices)
            np.add.at(change, conditions.period_end, -energy_prices)
            largest = np.maximum(largest, np.cumsum(change))
    time_prices = _floor(duals.time_prices, scale)
    used = (time_prices > 0) & (duals.times < times.end)
    period_prices = PeriodPrices()
    if grid is not None:
        prices = np.maximum(np.ceil(duals.period_prices * scale).astype(np.int64), largest[:-1])
        priced = prices > 0
        period_prices = PeriodPrices(
            begin=grid[:-1][priced], end=grid[1:][priced], price=prices[priced]
        )
    return StretchPrices(
        begin=times.begin,
        end=times.end,
        hits=DispatchPrices(**_columns(hits, "dispatch", "price")),
        delays=DelayPrices(**_columns(delays, "dispatch", "delay", "price")),
        started=IntervalPrices(**_columns(started, "fragment", "begin", "end", "price")),
        finished=CompletionPrices(**_columns(finished, "fragment", "begin", "end", "due", "price")),
        mandatory=IntervalPrices(**_columns(mandatory, "fragment", "begin", "end", "price")),
        energy=IntervalPrices(**_columns(energy, "fragment", "begin", "end", "price")),
        exits=FragmentPrices(**_columns(exits, "fragment", "price")),
        times=TimePrices(time=duals.times[used], price=time_prices[used]),
        periods=period_prices,
        points=FragmentTimes(**_columns(points, "fragment", "time")),
    )


def _floor(prices: Reals, scale: int) -> Integers:
    return np.floor(prices * scale).astype(np.int64)


def _covering(
    own: FragmentDuals, costs: Integers, scale: int
) -> tuple[Integers, Integers, Integers]:
    """Return prices of hits, multiplicities and delays; slots do not reward more than they cost."""
    begin, end = covered_slots(own.conditions, own.points)
    prices = _floor(own.covers, scale)
    change = np.zeros(len(own.points), np.int64)
    np.add.at(change, begin, prices)
    np.add.at(change, end, -prices)
    covered, limit = np.cumsum(change)[:-1], costs * scale
    exceeded = (costs >= 0) & (covered > limit)
    if exceeded.any():
        # Only by what the solver tolerates; so all prices of the fragment may become smaller.
        factor = float((limit[exceeded] / covered[exceeded]).min())
        prices = np.floor(prices * factor).astype(np.int64)
    hits = len(own.conditions.hits)
    multiplicities = hits + len(own.conditions.count)
    return prices[:hits], prices[hits:multiplicities], prices[multiplicities:]


def _priced_delays(
    delays: DelayConditions, prices: Integers, wait_price: int, times: StretchTimes
) -> Integers:
    """Return rows of dispatch, delay and price; the dispatches of an interval share its price."""
    members = np.bincount(delays.interval, minlength=len(prices))
    most = np.diff(times.delays, prepend=0)[delays.delay] * wait_price
    shares = np.minimum(prices[delays.interval] // members[delays.interval], most)
    used = shares > 0
    return np.column_stack([delays.dispatch[used], delays.delay[used], shares[used]])


def _priced(fragment: int, interval: list[Integers], prices: Integers) -> Integers:
    """Return rows of fragment, interval and price; those without a price are left out."""
    used = prices > 0
    columns = [np.full(int(used.sum()), fragment), *(times[used] for times in interval)]
    return np.column_stack([*columns, prices[used]])


def _columns(tables: list[Integers], *names: str) -> dict[str, Integers]:
    """Return the columns of tables that stand below each other, by their names."""
    table = np.concatenate([np.empty((0, len(names)), np.int64), *tables])
    return {name: table[:, column].copy() for column, name in enumerate(names)}
