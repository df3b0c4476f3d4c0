"""A window: dispatches to be put on CPUs at the least cost, given what each cache holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from dfopt.problem.cache_state import Leaves
from dfopt.trace.trace import LEAVES

CLEAN, DIRTY, INVALIDATED = (
    LEAVES.index(state) for state in (Leaves.CLEAN, Leaves.DIRTY, Leaves.INVALIDATED)
)

FOREIGN = -3
"""The fragment of a cache that no dispatch of the window can use."""


class Cache(NamedTuple):
    """The content of a cache: a fragment of the window, and the state it was left in (an index)."""

    fragment: int
    leaves: int = CLEAN


UNKNOWN = Cache(-1)
"""Nothing is known about the cache: the first dispatch costs nothing."""

EMPTY = Cache(-2)
"""An empty cache: the first dispatch reads its fragment, and nothing is written back."""


class DispatchClass(NamedTuple):
    """Equal dispatches of one fragment: entry cost of each, state it leaves, and their number."""

    entry: int
    leaves: int
    copies: int


@dataclass(frozen=True, kw_only=True)
class WindowProblem:
    """The dispatches of one window, to be put on CPUs at the least cost.

    Parameters
    ----------
    capacity
        A CPU runs at most this number of dispatches, evicting ones not counted.
    fragments
        The classes of dispatches of each fragment, ascending.
    states
        The cache with which each CPU begins.
    write_back
        The cost T_w of a fragment that is not left clean; 0 if nothing is written back.
    evicting
        The classes of dispatches that evict on each CPU: each of these dispatches uses a fragment
        of its own and stays on its CPU. Empty if nothing evicts.
    types
        Under a matrix the type of each fragment, ascending; states hold types then.
    final
        Whether every cache is written back in the end.
    by_worst
        Whether the CPU that pays most counts, instead of all together.
    """

    capacity: int
    fragments: tuple[tuple[DispatchClass, ...], ...]
    states: tuple[Cache, ...]
    write_back: int = 0
    evicting: tuple[tuple[DispatchClass, ...], ...] = ()
    types: tuple[int, ...] = ()
    final: bool = False
    by_worst: bool = False

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of dispatches of each fragment."""
        return tuple([sum([count for _, _, count in classes]) for classes in self.fragments])

    @cached_property
    def least_busy(self) -> int:
        """The least number of CPUs that run dispatches, those that evict not counted."""
        return -(-sum(self.sizes) // self.capacity)

    @property
    def cpus(self) -> int:
        """The number of CPUs."""
        return len(self.states)

    def evicting_on(self, cpu: int) -> tuple[DispatchClass, ...]:
        """Return the classes of dispatches that evict on a CPU."""
        return self.evicting[cpu] if self.evicting else ()

    def classes(self) -> Iterator[tuple[int, DispatchClass]]:
        """Yield all classes of dispatches with their fragments, in the order of their numbers."""
        for fragment, classes in enumerate(self.fragments):
            for dispatch_class in classes:
                yield fragment, dispatch_class

    def value(self, costs: Sequence[int]) -> int:
        """Return the largest cost of a CPU, or the sum of all, as ``by_worst`` says."""
        return max(costs) if self.by_worst else sum(costs)

    def bound(self, total: int) -> int:
        """Return the lower bound of ``value`` if all CPUs together pay at least ``total``."""
        return -(-total // self.cpus) if self.by_worst else total


def canonical_order(window: WindowProblem, rank: Callable[[int], Any]) -> list[int]:
    """Return the fragments in an order that does not depend on their names.

    Parameters
    ----------
    window
        The window with the fragments.
    rank
        The sort key of a fragment. Of equal fragments, those that the first CPUs hold come first.
    """
    owners = [0] * len(window.fragments)
    for cpu, state in enumerate(window.states):
        if state.fragment >= 0:
            owners[state.fragment] |= 1 << cpu
    return sorted(range(len(owners)), key=lambda fragment: (rank(fragment), owners[fragment]))


def renamed(window: WindowProblem, order: Sequence[int]) -> WindowProblem:
    """Return the same window with its fragments in another order."""
    new = {old: number for number, old in enumerate(order)}
    return replace(
        window,
        fragments=tuple([window.fragments[old] for old in order]),
        states=tuple(
            [
                state if state.fragment < 0 else Cache(new[state.fragment], state.leaves)
                for state in window.states
            ]
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSchedule(ABC):
    """A schedule of a window, and a lower bound.

    Parameters
    ----------
    costs
        The cost of each CPU.
    cost
        The sum of these costs, or the largest of them, as the objective says.
    lower_bound
        No schedule costs less.
    """

    costs: tuple[int, ...]
    cost: int
    lower_bound: int

    @property
    def is_closed(self) -> bool:
        """Whether no schedule costs less than this one."""
        return self.cost <= self.lower_bound

    @abstractmethod
    def state_after(self, cpu: int, latest: Sequence[int]) -> Cache | None:
        """Return what a cache holds after the window; None if it holds what it held.

        Parameters
        ----------
        cpu
            The CPU of the cache.
        latest
            For each fragment a number. Of the fragments that may come last at the same cost, the
            one with the largest number comes last.
        """

    @abstractmethod
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """Return for each CPU the classes of its dispatches in order, without evicting ones."""
