"""What each window of a trace demands, from one pass over its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dfopt.compare.runs import Rows, Runs
from dfopt.compare.type_costs import TypeCosts
from dfopt.errors import MethodError
from dfopt.trace.events import Flags, Integers, Numbers
from dfopt.trace.trace import UNMANAGED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowedRuns:
    """The dispatches that count, cut into windows: all that a bound or a schedule depends on.

    Parameters
    ----------
    cpus
        Number of CPUs.
    cpu, fragment
        Where each dispatch ran, and what it used; ``UNMANAGED`` for one that evicts.
    entry
        What it pays when it finds another fragment in the cache.
    exit
        What is paid when another fragment follows, by those that leave their fragment dirty.
    leaves
        Index into :data:`~dfopt.trace.trace.LEAVES`; None where all pay ``exit``.
    types
        Costs between fragments that are types of a matrix, which then stand for all others.
    starts
        At which dispatch each window begins.
    freed
        For each window the CPUs of whose caches nothing is known when it begins.
    """

    cpus: int
    cpu: Numbers
    fragment: Numbers
    entry: Integers
    exit: int
    leaves: Numbers | None
    types: TypeCosts | None
    starts: Rows
    freed: dict[int, list[int]]

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

    def rows(self, number: int) -> tuple[int, int]:
        """Return where a window begins and where it ends."""
        ends = (*self.starts[number : number + 2].tolist(), len(self.cpu))
        return ends[0], ends[1]

    def part(self, first: int, last: int) -> WindowedRuns:
        """Return the windows from number ``first`` up to, not including, ``last``."""
        ends = np.append(self.starts, len(self.cpu))
        rows = slice(ends[first], ends[last])
        return WindowedRuns(
            cpus=self.cpus,
            cpu=self.cpu[rows],
            fragment=self.fragment[rows],
            entry=self.entry[rows],
            exit=self.exit,
            leaves=None if self.leaves is None else self.leaves[rows],
            types=self.types,
            starts=self.starts[first:last] - ends[first],
            freed={
                number - first: cpus
                for number, cpus in self.freed.items()
                if first <= number < last
            },
        )


def windowed(runs: Runs, starts: Rows) -> WindowedRuns:
    """Return dispatches cut into the windows that begin at ``starts``."""
    freed: dict[int, list[int]] = {}
    numbers = np.searchsorted(runs.start[starts], runs.gap_end)
    for number, cpu in zip(numbers.tolist(), runs.gap_cpu.tolist(), strict=True):
        freed.setdefault(number, []).append(cpu)
    return WindowedRuns(
        cpus=runs.cpus,
        cpu=runs.cpu,
        fragment=runs.fragment,
        entry=runs.entry,
        exit=int(max(runs.exit.max(), runs.always.max())),
        leaves=_leaves(runs),
        types=runs.types,
        starts=starts,
        freed=freed,
    )


def _leaves(runs: Runs) -> Numbers | None:
    if not runs.always.any() and not np.ptp(runs.exit):
        return None
    states = np.select([runs.always > 0, runs.exit > 0], [2, 1], 0)
    return states.astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The dispatches of one window.

    Parameters
    ----------
    fragments
        Which fragments they use, ascending.
    sizes
        How many dispatches each has.
    entries
        The lowest entry costs of each, ascending; at most one more than there are CPUs.
    latest
        Where the last dispatch of each stands.
    load
        The largest number of managed dispatches that the trace put on one CPU.
    fixed
        Entry costs of what evicts, by CPU; empty if nothing does.
    """

    fragments: list[int]
    sizes: list[int]
    entries: list[tuple[int, ...]]
    latest: list[int]
    load: int
    fixed: tuple[tuple[int, ...], ...]

    def capacity(self, wanted: int | str, cpus: int) -> int:
        """Return how many dispatches a CPU may run, at least 1; see :func:`check_room`."""
        count = sum(self.sizes)
        match wanted:
            case "observed":
                return max(1, self.load)
            case "balanced":
                return max(1, -(-count // cpus))
            case "unlimited":
                return max(1, count)
        return int(wanted)


def check_room(windows: WindowedRuns, capacity: int) -> None:
    """Refuse a capacity under which the dispatches of some window find no room.

    Raises
    ------
    MethodError
        With the number of its dispatches.
    """
    most = int(np.add.reduceat(windows.managed, windows.starts, dtype=np.int64).max())
    if most > capacity * windows.cpus:
        raise MethodError(
            f"{windows.cpus} CPUs that run {capacity} dispatches each have no room for a window "
            f"of {most}; raise the capacity (--capacity)"
        )


def demands(windows: WindowedRuns) -> Iterator[Demand]:
    """Yield what each window demands."""
    window, managed = windows.window, np.flatnonzero(windows.managed)
    groups = _Groups(windows, window, managed)
    loads = _largest_loads(window[managed], windows.cpu[managed], windows.cpus, len(windows))
    evicting = _Evicting(windows, window) if len(managed) < len(windows.cpu) else None
    for number in range(len(windows)):
        first, last = groups.of_window[number], groups.of_window[number + 1]
        yield Demand(
            fragments=groups.fragments[first:last],
            sizes=groups.sizes[first:last],
            entries=[groups.entries(group) for group in range(first, last)],
            latest=groups.latest[first:last],
            load=loads[number],
            fixed=() if evicting is None else evicting.of_window(number),
        )


class _Groups:
    """The dispatches of each window, fragment by fragment and the cheapest first."""

    def __init__(self, windows: WindowedRuns, window: Rows, managed: Rows) -> None:
        window, fragment = window[managed], windows.fragment[managed]
        entry = windows.entry[managed]
        order = np.lexsort((entry, fragment, window))
        window, fragment = window[order], fragment[order]
        begins = (np.diff(window, prepend=-1) != 0) | (np.diff(fragment, prepend=-1) != 0)
        first = np.flatnonzero(begins)
        self.fragments = fragment[first].tolist()
        self.sizes = np.diff(first, append=len(order)).tolist()
        self.latest = np.maximum.reduceat(managed[order], first).tolist() if len(first) else []
        self.of_window = np.searchsorted(window[first], np.arange(len(windows) + 1)).tolist()
        self._first = first.tolist()
        self._entry = entry[order]
        self._most = windows.cpus + 1
        self._same = (int(entry[0]),) if len(entry) and not np.ptp(entry) else None

    def entries(self, group: int) -> tuple[int, ...]:
        """Return the lowest entry costs of a group."""
        if self._same is not None:
            return self._same
        first = self._first[group]
        return tuple(self._entry[first : first + min(self.sizes[group], self._most)].tolist())


def _largest_loads(window: Rows, cpu: Numbers, cpus: int, windows: int) -> list[int]:
    """Return for each window the most dispatches on one CPU."""
    key, count = np.unique(window * cpus + cpu, return_counts=True)
    loads = np.zeros(windows, np.int64)
    np.maximum.at(loads, key // cpus, count)
    return loads.tolist()


class _Evicting:
    """Entry costs of the dispatches that evict, by window and CPU."""

    def __init__(self, windows: WindowedRuns, window: Rows) -> None:
        rows = np.flatnonzero(~windows.managed)
        key = window[rows] * windows.cpus + windows.cpu[rows]
        order = np.argsort(key, kind="stable")
        self._key = key[order]
        self._entry = windows.entry[rows][order]
        self._cpus = windows.cpus

    def of_window(self, number: int) -> tuple[tuple[int, ...], ...]:
        """Return the entry costs on each CPU."""
        first = number * self._cpus
        ends = np.searchsorted(self._key, np.arange(first, first + self._cpus + 1))
        return tuple(tuple(self._entry[begin:end].tolist()) for begin, end in pairwise(ends))
