"""The cheapest ways of all CPUs through a stretch, at given prices of conditions and services."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.bound.cpu_path import cheapest_path
from dfopt.compare.attainable.bound.entry_costs import FORBIDDEN, entry_costs
from dfopt.compare.dispatches import Rows
from dfopt.trace.events import Integers

Blocks = tuple[tuple[Integers, Integers], ...]
"""For each CPU begin and end of its blocks."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PossibleStarts:
    """Dispatches that may start in a stretch, and what visits with them cost, as columns.

    Parameters
    ----------
    fragment
        Their fragments.
    first, last
        Between which times each of them starts.
    entry, leaving
        What an entry by it costs, and an exit after it.
    opening, closing
        What the first visit of a CPU costs if it begins with it, and the last one if it ends with
        it; 0 where the stretch is not the first or the last one.
    """

    fragment: Integers
    first: Integers
    last: Integers
    entry: Integers
    leaving: Integers
    opening: Integers
    closing: Integers

    def __len__(self) -> int:
        """Return the number of dispatches."""
        return len(self.fragment)

    def within(self, begin: int, end: int) -> PossibleStarts:
        """Return those that may start from ``begin`` to just before ``end``.

        Those of a fragment that may start throughout this time differ only in what they cost, and
        only the least costs matter. So they are joined to a single one.
        """
        meets = (self.first < end) & (self.last >= begin)
        throughout = meets & (self.first < begin) & (self.last >= end)
        joined = np.unique(self.fragment[throughout])
        rows = np.flatnonzero(meets & ~throughout)
        always = np.flatnonzero(throughout)
        number = np.searchsorted(joined, self.fragment[always])

        def least(costs: Integers) -> Integers:
            found = np.full(len(joined), FORBIDDEN)
            np.minimum.at(found, number, costs[always])
            return np.concatenate([costs[rows], found])

        return PossibleStarts(
            fragment=np.concatenate([self.fragment[rows], joined]),
            first=np.concatenate([self.first[rows], np.full(len(joined), begin - 1)]),
            last=np.concatenate([self.last[rows], np.full(len(joined), end)]),
            entry=least(self.entry),
            leaving=least(self.leaving),
            opening=least(self.opening),
            closing=least(self.closing),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Services:
    """Dispatches for which a CPU is rewarded when it runs them, ordered by ``earliest``.

    Parameters
    ----------
    fragment
        Numbers of their fragments.
    earliest, latest, length
        Between which times they start, and for how long they run: above 0.
    """

    fragment: Rows
    earliest: Integers
    latest: Integers
    length: Integers

    def part(self, rows: Rows) -> Services:
        """Return some of them."""
        return Services(
            fragment=self.fragment[rows],
            earliest=self.earliest[rows],
            latest=self.latest[rows],
            length=self.length[rows],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CpuPath:
    """A cheapest way of one or more CPUs through a stretch.

    Parameters
    ----------
    cpus
        The number of CPUs for which it is the cheapest one.
    price
        What one of them pays.
    services
        The rows of its services.
    fragment, begin
        Its visits, from the last to the first one.
    """

    cpus: int
    price: int
    services: Rows
    fragment: Rows
    begin: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchPaths:
    """What visits cost in a stretch, and when CPUs have blocks; costs are multiplied by a scale.

    The last fragment stands for all that have no condition: a CPU may hold one of them first.

    Parameters
    ----------
    time, fragment, step
        When the least cost of an entry changes, of which fragment, and by how much.
    entry, leaving, opening, closing
        For each fragment: what an entry costs first, an exit, and the first and the last visit.
    blocks
        For each CPU begin and end of its blocks.
    """

    time: Integers
    fragment: Rows
    step: Integers
    entry: Integers
    leaving: Integers
    opening: Integers
    closing: Integers
    blocks: Blocks

    def cheapest(  # noqa: PLR0913, PLR0917
        self, fragment: Rows, begin: Integers, end: Integers, price: Integers,
        services: Services, reward: Integers,
    ) -> list[CpuPath]:  # fmt: skip
        """Return the cheapest paths of all CPUs.

        Parameters
        ----------
        fragment, begin, end, price
            Conditions x(begin) + e(begin, end] ≥ k of fragments, and their prices.
        services, reward
            What CPUs run, and the price for each of them.
        """
        priced = np.flatnonzero(price)
        fragment, price = fragment[priced], price[priced]
        time = np.concatenate([self.time, begin[priced] + 1, end[priced] + 1])
        order = np.argsort(time, kind="stable")
        none, no_change = np.zeros_like(price), np.zeros_like(self.step)
        steps = (
            time[order],
            np.concatenate([self.fragment, fragment, fragment])[order],
            np.concatenate([no_change, price, none])[order],
            np.concatenate([self.step, none, price])[order],
        )
        paths = []
        for (begins, ends), cpus in self._alike(services=len(reward) > 0):
            cost, used, visited, visits = cheapest_path(
                *(services.fragment, services.earliest, services.latest, services.length, reward),
                *(*steps, self.entry, self.leaving, self.opening, self.closing, begins, ends),
            )
            paths.append(
                CpuPath(cpus=cpus, price=int(cost), services=used, fragment=visited, begin=visits)
            )
        return paths

    def _alike(self, *, services: bool) -> list[tuple[tuple[Integers, Integers], int]]:
        """Return different blocks, and the number of CPUs with them; none matter to no service."""
        if not services:
            nothing = self.blocks[0][0][:0]
            return [((nothing, nothing), len(self.blocks))]
        found: dict[bytes, tuple[tuple[Integers, Integers], int]] = {}
        for begins, ends in self.blocks:
            key = begins.tobytes() + ends.tobytes()
            found[key] = ((begins, ends), found[key][1] + 1 if key in found else 1)
        return list(found.values())


def stretch_paths(
    starts: PossibleStarts,
    fragments: Integers,
    stretch: tuple[int, int],
    blocks: Blocks,
    scale: int,
) -> StretchPaths:
    """Return what visits cost in a stretch.

    Parameters
    ----------
    starts
        The dispatches that may start in the stretch.
    fragments
        The fragments with conditions, in increasing order.
    stretch
        When it begins and ends.
    blocks
        For each CPU begin and end of all its blocks, ordered and disjoint.
    scale
        The factor of all costs.
    """
    entry, leaving, opening, closing = np.zeros((4, len(fragments) + 1), np.int64)
    entry[-1] = FORBIDDEN
    times, steps, numbers = [], [], []
    for number, fragment in enumerate(fragments.tolist()):
        own = np.flatnonzero(starts.fragment == fragment)
        time, value = entry_costs(starts.first[own], starts.last[own], starts.entry[own], *stretch)
        value = np.where(value < FORBIDDEN, value * scale, FORBIDDEN)
        entry[number] = value[0]
        times.append(time[1:])
        steps.append(np.diff(value))
        numbers.append(np.full(len(time) - 1, number))
        leaving[number] = starts.leaving[own].min() * scale
        opening[number] = starts.opening[own].min() * scale
        # A CPU may also end with a fragment that has no condition.
        closing[number] = (
            min(int(starts.closing[own].min()), int(starts.leaving[own].min())) * scale
        )
    return StretchPaths(
        time=np.concatenate(times),
        fragment=np.concatenate(numbers),
        step=np.concatenate(steps),
        entry=entry,
        leaving=leaving,
        opening=opening,
        closing=closing,
        blocks=blocks_within(blocks, *stretch),
    )


def blocks_within(blocks: Blocks, begin: int, end: int) -> Blocks:
    """Return the blocks of each CPU between two times."""
    return tuple(
        (begins[inside], ends[inside])
        for begins, ends in blocks
        for inside in [(ends > begin) & (begins < end)]
    )
