"""The dispatches of a trace, cut into windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from dfopt.compare.cost_model import TypeCosts
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.compare.windows.window import (
    EMPTY,
    FOREIGN,
    INVALIDATED,
    UNKNOWN,
    Cache,
    DispatchClass,
    WindowProblem,
)
from dfopt.errors import MethodError
from dfopt.trace.events import Flags, Integers, Numbers
from dfopt.trace.trace import UNMANAGED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowedDispatches:
    """The dispatches that count, cut into windows: all that a bound or a schedule depends on.

    Parameters
    ----------
    cpus
        Number of CPUs.
    cpu, fragment
        The CPU and the fragment of each dispatch; ``UNMANAGED`` for one that evicts.
    entry
        The cost of a dispatch that finds another fragment in the cache.
    leaves
        The state in which it leaves its fragment, an index into
        :data:`~dfopt.trace.trace.LEAVES`.
    write_back
        The cost of a fragment that is not left clean; 0 if all are left clean.
    leaves_differ
        Whether it matters which dispatch of a fragment comes last: some leave theirs invalidated,
        or some clean and others dirty.
    types
        Costs between fragments that are types of a matrix; then the other costs are 0.
    starts
        The first dispatch of each window.
    unknown
        For each window the CPUs with unknown caches: nothing is known about them when it begins.
    """

    cpus: int
    cpu: Numbers
    fragment: Numbers
    entry: Integers
    leaves: Numbers
    write_back: int
    leaves_differ: bool
    types: TypeCosts | None
    starts: Rows
    unknown: dict[int, list[int]]

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.starts)

    @property
    def managed(self) -> Flags:
        """Which dispatches have a fragment."""
        return np.not_equal(self.fragment, UNMANAGED)

    @property
    def window(self) -> Rows:
        """The number of the window of each dispatch."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts, append=len(self.cpu)))

    def rows(self, index: int) -> tuple[int, int]:
        """Return the first dispatch of a window, and the first one after it."""
        ends = (*self.starts[index : index + 2].tolist(), len(self.cpu))
        return ends[0], ends[1]

    def part(self, first: int, last: int) -> WindowedDispatches:
        """Return the windows from number ``first`` up to, not including, ``last``."""
        ends = np.append(self.starts, len(self.cpu))
        rows = slice(ends[first], ends[last])
        return WindowedDispatches(
            cpus=self.cpus,
            cpu=self.cpu[rows],
            fragment=self.fragment[rows],
            entry=self.entry[rows],
            leaves=self.leaves[rows],
            write_back=self.write_back,
            leaves_differ=self.leaves_differ,
            types=self.types,
            starts=self.starts[first:last] - ends[first],
            unknown={
                index - first: cpus for index, cpus in self.unknown.items() if first <= index < last
            },
        )


def cut(dispatches: Dispatches, starts: Rows) -> WindowedDispatches:
    """Return dispatches cut into the windows that begin at ``starts``."""
    unknown: dict[int, list[int]] = {}
    numbers = np.searchsorted(dispatches.start[starts], dispatches.gap_end)
    for index, cpu in zip(numbers.tolist(), dispatches.gap_cpu.tolist(), strict=True):
        unknown.setdefault(index, []).append(cpu)
    leaves = dispatches.leaves
    return WindowedDispatches(
        cpus=dispatches.cpus,
        cpu=dispatches.cpu,
        fragment=dispatches.fragment,
        entry=dispatches.entry,
        leaves=leaves,
        write_back=dispatches.write_back if leaves.any() else 0,
        leaves_differ=bool(np.ptp(leaves) or leaves[0] == INVALIDATED),
        types=dispatches.types,
        starts=starts,
        unknown=unknown,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowConditions:
    """The conditions that hold for all windows of a comparison.

    Parameters
    ----------
    capacity
        A CPU runs at most this number of dispatches in a window, as in
        :class:`~dfopt.compare.cost_model.CostModel`.
    by_worst
        Whether the CPU that pays most in a window counts, instead of all together.
    begins_empty
        Whether the first window begins with empty caches.
    ends_written
        Whether after the last window everything is written back.
    """

    capacity: int | Literal["observed", "balanced", "unlimited"]
    by_worst: bool
    begins_empty: bool
    ends_written: bool

    def first_states(self, windows: WindowedDispatches) -> list[Cache]:
        """Return what the caches hold when the first window begins."""
        unknown = windows.unknown.get(0, ())
        return [
            EMPTY if self.begins_empty and cpu not in unknown else UNKNOWN
            for cpu in range(windows.cpus)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The dispatches of one window.

    Parameters
    ----------
    fragments
        The fragments that they use, ascending.
    classes
        The classes of dispatches of each fragment.
    latest
        The row of the last dispatch of each fragment.
    load
        The largest number of managed dispatches that the trace put on one CPU.
    evicting
        The classes of dispatches that evict, by CPU; empty if nothing does.
    is_last
        Whether it is the last window.
    """

    fragments: list[int]
    classes: tuple[tuple[DispatchClass, ...], ...]
    latest: list[int]
    load: int
    evicting: tuple[tuple[DispatchClass, ...], ...]
    is_last: bool

    def capacity(self, wanted: int | str, cpus: int) -> int:
        """Return the most dispatches that a CPU may run, at least 1; see :func:`check_room`."""
        count = sum(count for classes in self.classes for _, _, count in classes)
        match wanted:
            case "observed":
                return max(1, self.load)
            case "balanced":
                return max(1, -(-count // cpus))
            case "unlimited":
                return max(1, count)
        return int(wanted)

    def window(
        self, windows: WindowedDispatches, conditions: WindowConditions, states: Sequence[Cache]
    ) -> WindowProblem:
        """Return the window that begins with these states, which hold fragments of the trace."""
        local = {fragment: number for number, fragment in enumerate(self.fragments)}
        is_matrix = windows.types is not None
        return WindowProblem(
            capacity=self.capacity(conditions.capacity, windows.cpus),
            fragments=self.classes,
            # All fragments that the window does not use are alike, except under a matrix.
            states=tuple(states)
            if is_matrix
            else tuple(
                [
                    state
                    if state.fragment < 0
                    else Cache(local.get(state.fragment, FOREIGN), state.leaves)
                    for state in states
                ]
            ),
            write_back=windows.write_back,
            evicting=self.evicting,
            types=tuple(self.fragments) if is_matrix else (),
            final=conditions.ends_written and self.is_last,
            by_worst=conditions.by_worst,
        )


def check_room(windows: WindowedDispatches, capacity: int) -> None:
    """Refuse a capacity that leaves no room for the dispatches of some window.

    Raises
    ------
    MethodError
        With the number of the window's dispatches.
    """
    most = int(np.add.reduceat(windows.managed, windows.starts, dtype=np.int64).max())
    if most > capacity * windows.cpus:
        raise MethodError(
            f"{windows.cpus} CPUs that run {capacity} dispatches each have no room for a window "
            f"of {most}; raise the capacity (`capacity`)"
        )


def demands(windows: WindowedDispatches) -> Iterator[Demand]:
    """Yield the dispatches of each window."""
    window, managed = windows.window, np.flatnonzero(windows.managed)
    groups = _Groups(windows, window, managed)
    loads = _largest_loads(window[managed], windows.cpu[managed], windows.cpus, len(windows))
    evicting = _Evicting(windows, window) if len(managed) < len(windows.cpu) else None
    for index in range(len(windows)):
        first, last = groups.of_window[index], groups.of_window[index + 1]
        yield Demand(
            fragments=groups.fragments[first:last],
            classes=tuple([groups.classes(group) for group in range(first, last)]),
            latest=groups.latest[first:last],
            load=loads[index],
            evicting=() if evicting is None else evicting.of_window(index),
            is_last=index == len(windows) - 1,
        )


class _Groups:
    """The dispatches of each window, fragment by fragment, the cheapest to enter first."""

    def __init__(self, windows: WindowedDispatches, window: Rows, managed: Rows) -> None:
        window, fragment = window[managed], windows.fragment[managed]
        entry, leaves = windows.entry[managed], windows.leaves[managed]
        order = np.lexsort((leaves, entry, fragment, window))
        window, fragment, entry = window[order], fragment[order], entry[order]
        leaves = leaves[order]
        changes = (np.diff(window, prepend=-1) != 0) | (np.diff(fragment, prepend=-1) != 0)
        first = np.flatnonzero(changes)
        self.fragments = fragment[first].tolist()
        self.latest = np.maximum.reduceat(managed[order], first).tolist() if len(first) else []
        self.of_window = np.searchsorted(window[first], np.arange(len(windows) + 1)).tolist()
        if not windows.leaves_differ and len(first):
            # If all dispatches leave their fragments alike, only the first dispatch of a visit pays
            # its entry. A fragment has at most one visit for each CPU. So only the CPUs + 1
            # cheapest entries need to be told apart.
            sizes = np.diff(first, append=len(order))
            places = np.arange(len(order))
            entry = entry[np.minimum(places, np.repeat(first, sizes) + windows.cpus)]
        changes |= (np.diff(entry, prepend=-1) != 0) | (np.diff(leaves, prepend=-1) != 0)
        self._classes = _runs(changes, entry, leaves)
        class_first = np.flatnonzero(changes)
        self._first = np.searchsorted(class_first, np.append(first, len(order))).tolist()

    def classes(self, group: int) -> tuple[DispatchClass, ...]:
        """Return the classes of a group."""
        return tuple(self._classes[self._first[group] : self._first[group + 1]])


def _runs(changes: Flags, entry: Integers, leaves: Numbers) -> list[DispatchClass]:
    """Return a class for each run of equal rows; a run begins where ``changes`` is true."""
    first = np.flatnonzero(changes)
    counts = np.diff(first, append=len(changes))
    rows = zip(entry[first].tolist(), leaves[first].tolist(), counts.tolist(), strict=True)
    return list(map(DispatchClass._make, rows))


def _largest_loads(window: Rows, cpu: Numbers, cpus: int, windows: int) -> list[int]:
    """Return for each window the largest number of dispatches on one CPU."""
    key, count = np.unique(window * cpus + cpu, return_counts=True)
    loads = np.zeros(windows, np.int64)
    np.maximum.at(loads, key // cpus, count)
    return loads.tolist()


class _Evicting:
    """The dispatches that evict, by window and CPU."""

    def __init__(self, windows: WindowedDispatches, window: Rows) -> None:
        rows = np.flatnonzero(~windows.managed)
        key = window[rows] * windows.cpus + windows.cpu[rows]
        entry, leaves = windows.entry[rows], windows.leaves[rows]
        order = np.lexsort((leaves, entry, key))
        key, entry, leaves = key[order], entry[order], leaves[order]
        changes = np.diff(key, prepend=-1) != 0
        changes |= (np.diff(entry, prepend=-1) != 0) | (np.diff(leaves, prepend=-1) != 0)
        self._key = key[changes]
        self._classes = _runs(changes, entry, leaves)
        self._cpus = windows.cpus

    def of_window(self, index: int) -> tuple[tuple[DispatchClass, ...], ...]:
        """Return the classes on each CPU."""
        first = index * self._cpus
        ends = np.searchsorted(self._key, np.arange(first, first + self._cpus + 1)).tolist()
        return tuple(tuple(self._classes[begin:end]) for begin, end in pairwise(ends))
