"""Windows whose dispatches all leave their fragments in the same state.

Each change of fragment then costs the entry of the next dispatch, and an exit that is always the
same. So only the number of a fragment's dispatches and their lowest entries matter. A placement
says which fragments a CPU visits; the dispatches with the lowest entries begin the visits.

If a CPU has room for k dispatches, at least ⌈s/k⌉ CPUs visit a fragment of s dispatches. Only the
first visit of a CPU can be free: that of the fragment in its cache, or of any fragment where
nothing is known about the cache. That bounds the cost from below. Whole fragments, packed like bins
by best fit decreasing, mostly attain the bound.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dfopt.compare.windows.as_instance import uniform_instance
from dfopt.compare.windows.window import (
    DIRTY,
    EMPTY,
    FOREIGN,
    UNKNOWN,
    Cache,
    WindowProblem,
    WindowSchedule,
    canonical_order,
)
from dfopt.problem.instance import Instance

ATTEMPTS = 12
"""At most 12 random orders of the fragments are tried before a solver is asked."""

FRESH = (UNKNOWN.fragment, EMPTY.fragment)
"""Caches without anything that would have to be written back."""

Visits = tuple[tuple[int, int], ...]
"""The fragments that a CPU visits, each with the number of its dispatches there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement(WindowSchedule):
    """The CPUs that the fragments of a window go to, and the cost of that.

    Parameters
    ----------
    window
        The window that was placed.
    visits
        The visits of each CPU. A free visit comes first; the others may be taken in any order.
    spared
        Whether the first visit of each CPU costs nothing because it comes first.
    """

    window: WindowProblem
    visits: tuple[Visits, ...]
    spared: tuple[bool, ...]

    def sequence(self, cpu: int, latest: Sequence[int]) -> list[int]:
        """Return the fragments of a CPU in order; see :meth:`state_after`."""
        fragments = [fragment for fragment, _ in self.visits[cpu]]
        first = self.spared[cpu]
        return fragments[:first] + sorted(fragments[first:], key=latest.__getitem__)

    def state_after(self, cpu: int, latest: Sequence[int]) -> Cache | None:
        """Return what a cache holds after the window; None if it holds what it held."""
        leaves = DIRTY if self.window.write_back else 0
        visits = len(self.visits[cpu])
        evicts = bool(self.window.evicting_on(cpu))
        if evicts and visits <= self.spared[cpu]:
            return Cache(FOREIGN, leaves)
        return Cache(self.sequence(cpu, latest)[-1], leaves) if visits else None

    def orders(self) -> tuple[tuple[int, ...], ...]:
        """Return for each CPU the classes of its dispatches in order.

        Visits that are paid for begin with the dispatches of lowest entry cost.
        """
        window = self.window
        left: list[list[int]] = [[] for _ in window.fragments]
        for class_index, (fragment, (_, _, count)) in enumerate(window.classes()):
            left[fragment] += [class_index] * count
        openers = [
            [
                None if position < spared else left[fragment].pop(0)
                for position, (fragment, _) in enumerate(visits)
            ]
            for visits, spared in zip(self.visits, self.spared, strict=True)
        ]
        found = []
        for visits, first in zip(self.visits, openers, strict=True):
            order: list[int] = []
            for (fragment, count), opener in zip(visits, first, strict=True):
                rest = count if opener is None else count - 1
                order += [] if opener is None else [opener]
                order += [left[fragment].pop() for _ in range(rest)]
            found.append(tuple(order))
        return tuple(found)


class UniformWindows:
    """Places the fragments of windows, quickly and mostly at the least cost."""

    def canonical(self, window: WindowProblem) -> list[int]:
        """Return the fragments in an order that does not depend on their names."""
        sizes, fragments = window.sizes, window.fragments
        return canonical_order(
            window,
            lambda fragment: (
                -sizes[fragment],
                [(entry, -count) for entry, _, count in fragments[fragment]],
            ),
        )

    def solve(self, window: WindowProblem) -> Placement:
        """Return a good placement; mostly it attains the lower bound."""
        entries = lowest_entries(window)
        bound = lower_bound(window, entries)
        sizes = window.sizes
        largest_first = sorted(range(len(sizes)), key=lambda fragment: -sizes[fragment])
        best = priced(window, entries, placed(window, largest_first), bound)
        source = random.Random(0)
        for _ in range(ATTEMPTS):
            if best.is_closed:
                break
            order = sorted(
                largest_first, key=lambda fragment: -sizes[fragment] * source.uniform(0.7, 1.3)
            )
            found = priced(window, entries, placed(window, order), bound)
            best = min(best, found, key=lambda placement: placement.cost)
        return best

    def instance(self, window: WindowProblem) -> Instance:
        """Return the instance whose schedules are those of a window."""
        return uniform_instance(window)

    def of_orders(
        self, window: WindowProblem, orders: Sequence[Sequence[int]], costs: Sequence[int]
    ) -> Placement:
        """Return the placement in which CPUs run classes of dispatches in these orders."""
        fragments = [fragment for fragment, _ in window.classes()]
        visited = [Counter([fragments[number] for number in order]) for order in orders]
        return Placement(
            window=window,
            visits=tuple(tuple(visits.items()) for visits in visited),
            spared=tuple(
                bool(visits) and (state == UNKNOWN or state.fragment == next(iter(visits)))
                for state, visits in zip(window.states, visited, strict=True)
            ),
            costs=tuple(costs),
            cost=window.value(costs),
            lower_bound=0,
        )


def lowest_entries(window: WindowProblem) -> list[list[int]]:
    """Return for each fragment the entry costs of its paid visits, cheapest first.

    At most one visit of each CPU is paid for a fragment.
    """
    most = window.cpus + 1
    return [
        [classes[0][0]] * most
        if len(classes) == 1
        else padded([entry for entry, _, count in classes for _ in range(min(count, most))], most)
        for classes in window.fragments
    ]


def padded(costs: list[int], length: int) -> list[int]:
    """Return the first ``length`` costs; if there are fewer, the last one is repeated."""
    return costs[:length] + costs[-1:] * (length - len(costs))


def lower_bound(window: WindowProblem, entries: list[list[int]]) -> int:
    """Return a lower bound of the cost of a window.

    The theorem and its proof are in the documentation under "How windows are solved".
    """
    tokens = [
        entry for classes in window.evicting for entry, _, count in classes for _ in range(count)
    ]
    holders = Counter([state.fragment for state in window.states])
    for fragment, size in enumerate(window.sizes):
        visits = -(-size // window.capacity) - holders[fragment]
        tokens += [entries[fragment][visit] for visit in range(visits)]
    # Only one visit of a CPU can be the first one; at best that spares the most expensive entry.
    tokens.sort()
    unknown, empty = holders[UNKNOWN.fragment], holders[EMPTY.fragment]
    totals = []
    # Without a final write-back it makes no difference how many CPUs run something.
    for used in range(window.least_busy if window.final else window.cpus, window.cpus + 1):
        free = min(unknown, used)
        paid = tokens[: max(0, len(tokens) - free)]
        exits = max(0, len(paid) - empty) + used * window.final
        totals.append(sum(paid) + exits * window.write_back)
    return window.bound(min(totals))


def placed(
    window: WindowProblem, order: Sequence[int], *, by_worst: bool | None = None
) -> list[dict[int, int]]:
    """Return for each CPU its fragments with their numbers of dispatches, its own fragment first.

    Parameters
    ----------
    window
        The window to place.
    order
        The order in which whole fragments are placed, each where it fits most tightly.
    by_worst
        Whether to spread visits evenly; by default if the CPU that pays most counts.
    """
    spreads = window.by_worst if by_worst is None else by_worst
    cpus = range(window.cpus)
    rooms = [window.capacity] * len(cpus)
    visits: list[dict[int, int]] = [{} for _ in cpus]
    left = list(window.sizes)
    cheapest = [classes[0][0] for classes in window.fragments]
    evicting = [sum([count for _, _, count in classes]) for classes in window.evicting]
    evicting = evicting or [0] * window.cpus
    # The first visit of an unknown cache is free, and an empty one has nothing to write back.
    is_fresh = [
        state.fragment in FRESH and not evicts
        for state, evicts in zip(window.states, evicting, strict=True)
    ]

    def put(fragment: int, cpu: int) -> None:
        taken = min(left[fragment], rooms[cpu])
        visits[cpu][fragment] = taken
        rooms[cpu] -= taken
        left[fragment] -= taken

    # First of all each CPU runs the fragment that its cache holds.
    for cpu, state in enumerate(window.states):
        if state.fragment >= 0 and left[state.fragment]:
            put(state.fragment, cpu)
    # Then the most expensive fragments go to CPUs whose first visit is free. CPUs on which
    # something evicts are taken last: there the dispatch that evicts can be the free first one.
    free_cpus = sorted(
        [cpu for cpu, state in enumerate(window.states) if state.fragment == UNKNOWN.fragment],
        key=evicting.__getitem__,
        reverse=True,
    )
    for fragment in sorted(order, key=lambda fragment: -cheapest[fragment]):
        while left[fragment] and free_cpus:
            put(fragment, free_cpus.pop())
            if left[fragment] <= window.capacity:
                break
    # The other fragments go where they fit most tightly; a fragment that fits nowhere is split.
    for fragment in order:
        while left[fragment]:
            put(fragment, _roomy_cpu(rooms, visits, left[fragment], is_fresh, spreads=spreads))
    return visits


def _roomy_cpu(
    rooms: Sequence[int],
    visits: Sequence[Mapping[int, int]],
    size: int,
    is_fresh: Sequence[bool],
    *,
    spreads: bool,
) -> int:
    """Return the CPU where a fragment fits best; the one with most room if it fits nowhere."""
    fitting = [cpu for cpu, room in enumerate(rooms) if room >= size]
    if not fitting:
        return max(range(len(rooms)), key=rooms.__getitem__)
    if spreads:
        return min(fitting, key=lambda cpu: (len(visits[cpu]), rooms[cpu]))
    return min(fitting, key=lambda cpu: (bool(visits[cpu]) or not is_fresh[cpu], rooms[cpu]))


def priced(
    window: WindowProblem,
    entries: list[list[int]],
    visited: Sequence[Mapping[int, int]],
    bound: int,
) -> Placement:
    """Return a placement with its costs.

    Parameters
    ----------
    window, entries
        The window to place, and the costs of visits.
    visited
        For each CPU its fragments with their numbers of dispatches.
    bound
        A lower bound of the cost.
    """
    exit_cost = window.write_back
    evicting = window.evicting or ((),) * window.cpus
    held = [state.fragment for state in window.states]
    paid = [0] * len(window.sizes)
    for own, visits in zip(held, visited, strict=True):
        for fragment in visits:
            paid[fragment] += fragment != own
    ordered, spared, costs = [], [], []
    spared_eviction = [0] * window.cpus
    for cpu, (own, visits) in enumerate(zip(held, visited, strict=True)):
        first = own if own in visits else None
        if own == UNKNOWN.fragment:
            # The most expensive comes first: a visit, or a dispatch that evicts.
            most = max(
                visits, key=lambda fragment: entries[fragment][paid[fragment] - 1], default=None
            )
            largest = max((entry for entry, _, _ in evicting[cpu]), default=None)
            if most is not None and (largest is None or entries[most][paid[most] - 1] > largest):
                first = most
                paid[most] -= 1
            elif largest is not None:
                spared_eviction[cpu] = largest + exit_cost
        rest = [(fragment, count) for fragment, count in visits.items() if fragment != first]
        ordered.append(tuple(rest) if first is None else ((first, visits[first]), *rest))
        spared.append(first is not None)
    used = [0] * len(window.sizes)
    for cpu, own in enumerate(held):
        charged = ordered[cpu][spared[cpu] :]
        cost = -spared_eviction[cpu] + len(charged) * exit_cost
        for entry, _, count in evicting[cpu]:
            cost += (entry + exit_cost) * count
        for fragment, _ in charged:
            cost += entries[fragment][used[fragment]]
            used[fragment] += 1
        if own == EMPTY.fragment and (charged or evicting[cpu]):
            cost -= exit_cost
        if window.final and (ordered[cpu] or evicting[cpu] or own not in FRESH):
            cost += exit_cost
        costs.append(cost)
    return Placement(
        window=window,
        visits=tuple(ordered),
        spared=tuple(spared),
        costs=tuple(costs),
        cost=window.value(costs),
        lower_bound=bound,
    )
