"""The cheapest way for a CPU to hold one fragment, at given prices: a shortest path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.trace.events import Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rate:
    """A rate that changes at some times, and its integral.

    Parameters
    ----------
    time
        When it changes, in increasing order; it is 0 before the first time.
    rate
        The rate from each time on.
    integral
        Its integral up to each time.
    """

    time: Integers
    rate: Integers
    integral: Integers

    def up_to(self, times: Integers) -> Integers:
        """Return the integral up to each time."""
        if not len(self.time):
            return np.zeros(len(times), np.int64)
        position = np.searchsorted(self.time, times, side="right") - 1
        before = np.maximum(position, 0)
        totals = self.integral[before] + self.rate[before] * (times - self.time[before])
        return np.where(position < 0, 0, totals)

    def at(self, times: Integers) -> Integers:
        """Return the rate from each time on."""
        position = np.searchsorted(self.time, times, side="right")
        rates: Integers = np.concatenate([[0], self.rate])[position]
        return rates

    def exceeds(self, other: Rate) -> bool:
        """Whether it is above another rate at some time."""
        return bool(
            (self.rate > other.at(self.time)).any() or (self.at(other.time) > other.rate).any()
        )


def rate_of(begin: Integers, end: Integers, price: Integers) -> Rate:
    """Return the sum of the rates of periods."""
    time, position = np.unique(np.concatenate([begin, end]), return_inverse=True)
    change = np.zeros(len(time), np.int64)
    np.add.at(change, position, np.concatenate([price, -price]))
    rate = np.cumsum(change)
    integral = np.concatenate([[0], np.cumsum(rate[:-1] * np.diff(time))])[: len(time)]
    return Rate(time=time, rate=rate, integral=integral)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PointCharges:
    """What holding a fragment is charged at points of time.

    Parameters
    ----------
    time
        The points of time, in increasing order.
    sums
        The sum of the charges before each of them, and of all.
    """

    time: Integers
    sums: Integers

    def at(self, times: Integers) -> Integers:
        """Return the charge at each time."""
        return self._sum(times, "right") - self._sum(times, "left")

    def between(self, times: Integers) -> Integers:
        """Return the charges later than each time and before the next one."""
        return self._sum(times[1:], "left") - self._sum(times[:-1], "right")

    def _sum(self, times: Integers, side: str) -> Integers:
        position = np.searchsorted(self.time, times, side=side)  # type: ignore[call-overload]
        sums: Integers = self.sums[position]
        return sums


def point_charges(time: Integers, price: Integers) -> PointCharges:
    """Return charges at points of time, given in any order."""
    order = np.argsort(time, kind="stable")
    return PointCharges(time=time[order], sums=np.concatenate([[0], np.cumsum(price[order])]))


def least_entries(
    times: Integers, earliest: Integers, latest: Integers, entry: Integers
) -> Integers:
    """Return what an entry costs at least between each time (exclusive) and the next (inclusive).

    Parameters
    ----------
    times
        In increasing order.
    earliest, latest, entry
        Between which times dispatches can start, ordered by the first, and what an entry by them
        costs. Where none can start, the value has no meaning.
    """
    slots = len(times) - 1
    if not len(entry) or (entry == entry[0]).all():
        return np.full(slots, entry[0] if len(entry) else 0)
    if latest.min() >= times[-1]:
        least = np.minimum.accumulate(entry)
        reached = np.searchsorted(earliest, times[1:], side="right")
        values: Integers = least[np.maximum(reached - 1, 0)]
        return values
    startable = int(np.searchsorted(earliest, times[-1], side="right"))
    meets = np.flatnonzero(latest[:startable] > times[0])
    first = np.searchsorted(times[1:], earliest[meets], side="left").tolist()
    stop = np.searchsorted(times[:-1], latest[meets], side="left").tolist()
    costs = entry[meets].tolist()
    least_cost = [0] * slots
    # The cheapest dispatch fills its slots first. `free` leads from a filled slot to one that may
    # still be empty.
    free = list(range(slots + 1))
    for dispatch in sorted(range(len(costs)), key=costs.__getitem__):
        slot = _next_free(free, first[dispatch])
        while slot < stop[dispatch]:
            least_cost[slot] = costs[dispatch]
            free[slot] = slot + 1
            slot = _next_free(free, slot)
    return np.array(least_cost, np.int64)


def _next_free(free: list[int], slot: int) -> int:
    """Return the first empty slot from a slot on, and shorten the way there."""
    while free[slot] != slot:
        free[slot] = free[free[slot]]
        slot = free[slot]
    return slot


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingCosts:
    """What it costs a CPU to hold a fragment at some times and not at others.

    Parameters
    ----------
    at
        Holding it at each point of time; below 0 where that is rewarded.
    held, entry
        For the slot between each point of time and the next: holding it throughout, and an entry.
    exit
        Giving it up.
    first, last
        Holding it from the first point of time on, and up to the last one.
    """

    at: list[int]
    held: list[int]
    entry: list[int]
    exit: int
    first: int
    last: int


def cheapest_holding(costs: HoldingCosts) -> int:
    """Return the cost of the cheapest way to hold a fragment; never to hold it costs 0."""
    without, holding = 0, costs.first + costs.at[0]
    for at, held, entry in zip(costs.at[1:], costs.held, costs.entry, strict=True):
        given_up = holding + costs.exit
        holding = min(holding + held, without + entry, given_up + entry) + at
        without = min(without, given_up)
    return min(without, holding + costs.last)
