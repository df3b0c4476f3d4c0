"""What is to be scheduled in one window: sizes of fragments, and what each CPU begins with."""

from __future__ import annotations

from dataclasses import dataclass

FREE = -1
"""Of a CPU's state: its first fragment costs nothing."""

EMPTY = -2
"""Of a CPU's state: an empty cache; the first fragment is read, and nothing written back."""

FOREIGN = -3
"""Of a CPU's state: it holds something that no dispatch of the window can use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowProblem:
    """The dispatches of one window, to be put on CPUs at the least cost.

    Every change of fragment costs ``exit`` and the entry cost of the dispatch that comes next.
    Where a fragment is visited so often, its cheapest dispatches come first in each visit.

    Parameters
    ----------
    capacity
        Most dispatches a CPU may run.
    sizes
        Number of dispatches of each fragment.
    entries
        The lowest entry costs of each fragment, ascending; the last one stands for all others.
    exit
        What leaving a fragment costs.
    states
        What each CPU's cache holds: a fragment, :data:`FREE`, :data:`EMPTY` or :data:`FOREIGN`.
    fixed
        Entry costs of what evicts on each CPU wherever the fragments go; empty if nothing does.
    final
        Whether every CPU that ends with something in its cache pays ``exit`` once more.
    by_worst
        Whether the CPU that pays most counts, instead of all together.
    """

    capacity: int
    sizes: tuple[int, ...]
    entries: tuple[tuple[int, ...], ...]
    exit: int
    states: tuple[int, ...]
    fixed: tuple[tuple[int, ...], ...] = ()
    final: bool = False
    by_worst: bool = False

    def entry(self, fragment: int, visit: int) -> int:
        """Return the entry cost of a fragment's paid visit, counted from 0, cheapest first."""
        costs = self.entries[fragment]
        return costs[min(visit, len(costs) - 1)]

    def evicting(self, cpu: int) -> tuple[int, ...]:
        """Return the entry costs of what evicts on a CPU."""
        return self.fixed[cpu] if self.fixed else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where the fragments of a window go, and what that costs.

    Parameters
    ----------
    visits
        The fragments that each CPU visits. What costs nothing comes first; the others may be
        taken in any order.
    spared
        Whether the first visit of each CPU costs nothing because it comes first.
    costs
        What each CPU pays.
    cost
        The cost that counts: all together, or the largest.
    lower_bound
        No placement costs less.
    """

    visits: tuple[tuple[int, ...], ...]
    spared: tuple[bool, ...]
    costs: tuple[int, ...]
    cost: int
    lower_bound: int

    @property
    def is_closed(self) -> bool:
        """Whether no placement costs less than this one."""
        return self.cost == self.lower_bound
