"""A window in the terms of the closed form, and a lower bound, where leave states differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dfopt.compare.windows.as_instance import instance_of
from dfopt.compare.windows.window import (
    CLEAN,
    DIRTY,
    INVALIDATED,
    UNKNOWN,
    DispatchClass,
    WindowProblem,
)
from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.task_types import task_types

ENDS = 2
"""At most 2 of the equal dispatches that evict on a CPU can stand at the ends of its order."""


class LeavesWindow:
    """A window in which each evicting dispatch is a fragment of its own that stays on its CPU.

    Parameters
    ----------
    window
        The window to schedule.

    Attributes
    ----------
    fragments
        The classes of dispatches of each fragment: first the fragments of the window, then one
        fragment for each evicting dispatch.
    sizes
        Number of dispatches of each fragment.
    homes
        For each fragment the CPU on which it stays; None if it may run anywhere.
    evicted
        The cost on each CPU of the evicting dispatches without a fragment here. Of many equal ones
        only a few have a fragment, as the others always stand in the middle of an order.
    instance
        The instance whose types of tasks are the classes of all fragments.
    form
        The best orders.
    idle
        The cost of each CPU if it runs nothing.
    """

    def __init__(self, window: WindowProblem) -> None:
        self.window = window
        fragments = list(window.fragments)
        homes: list[int | None] = [None] * len(fragments)
        self.evicted = [0] * window.cpus
        for cpu, classes in enumerate(window.evicting):
            for entry, leaves, count in classes:
                single = (DispatchClass(entry, leaves, 1),)
                fragments += [single] * min(count, ENDS)
                homes += [cpu] * min(count, ENDS)
                cost = entry + (window.write_back if leaves != CLEAN else 0)
                self.evicted[cpu] += cost * max(0, count - ENDS)
        self.fragments = tuple(fragments)
        self.homes = tuple(homes)
        self.sizes = (*window.sizes, *[1] * (len(fragments) - len(window.fragments)))
        self.evicting_cpus = frozenset(cpu for cpu in homes if cpu is not None)
        self.instance = instance_of(window, self.fragments)
        self.form = ClosedForm(self.instance, task_types(self.instance))
        self.idle = [start.idle for start in self.form.starts]
        self._numbers: list[list[tuple[int, int]]] = []
        before = 0
        for classes in self.fragments:
            self._numbers.append(
                [
                    (before + position, dispatch_class.copies)
                    for position, dispatch_class in enumerate(classes)
                ]
            )
            before += len(classes)

    def numbers(self, fragment: int) -> list[tuple[int, int]]:
        """Return the numbers of a fragment's classes with how many dispatches they have."""
        return self._numbers[fragment]

    def pinned(self) -> list[dict[int, int]]:
        """Return for each CPU the evicting dispatches with fragments here, as contents."""
        found: list[dict[int, int]] = [{} for _ in self.window.states]
        for fragment, home in enumerate(self.homes):
            if home is not None:
                found[home].update(self.numbers(fragment))
        return found


More = tuple[tuple[int, ...], int]
"""The needs of one more visit of a fragment: entries that are paid, and exits."""

NO_MORE: More = (), 0


class Needs:
    """The least that the fragments of a window need, however the others are dealt.

    Parameters
    ----------
    leaves_window
        The window to schedule.
    order
        The fragments, in an order.

    Notes
    -----
    At least ⌈s/k⌉ CPUs visit a fragment of s dispatches. Each visit begins and ends with
    dispatches of its own; only the first one of a CPU may be spared its entry, and only the last
    one what its dispatch leaves.
    """

    def __init__(self, leaves_window: LeavesWindow, order: Sequence[int]) -> None:
        self._fragments = leaves_window.fragments
        self._sizes = leaves_window.sizes
        window = self._window = leaves_window.window
        self._holders = Counter(state.fragment for state in window.states)
        self._known: dict[tuple[int, int, int, More], int] = {}
        self._entries: list[tuple[int, int]] = []
        """Ascending, each with the position of its fragment in the order."""
        self._forced = [0]
        self._invalidated = [0]
        for position, fragment in enumerate(order):
            entries, closers, invalidated = self._offers(fragment)
            visits = self._visits(fragment)
            paid = entries[: max(0, visits - self._holders[fragment])]
            self._entries += ((entry, position) for entry in paid)
            self._forced.append(max(0, visits - closers))
            self._invalidated.append(invalidated)
        self._entries.sort()
        self.always = window.write_back * sum(self._invalidated)
        """The cost of dispatches that leave their fragment invalidated."""

    def _visits(self, fragment: int) -> int:
        return -(-self._sizes[fragment] // self._window.capacity)

    def _offers(self, fragment: int) -> tuple[list[int], int, int]:
        """Return a fragment's entries, ascending, its free exits, and its invalidated ones."""
        classes = self._fragments[fragment]
        most = self._window.cpus + 1
        return (
            [entry for entry, _, count in classes for _ in range(min(count, most))],
            sum(count for _, leaves, count in classes if leaves != DIRTY),
            sum(count for _, leaves, count in classes if leaves == INVALIDATED),
        )

    def more(self, fragment: int) -> More:
        """Return the needs of a fragment that is visited once more than it must be."""
        entries, closers, _ = self._offers(fragment)
        visits = self._visits(fragment)
        paid = visits - self._holders[fragment]
        return tuple(entries[paid : paid + 1]) if paid >= 0 else (), int(visits >= closers)

    def least(self, position: int, free: int, lasts: int, more: More = NO_MORE) -> int:
        """Return the least cost of the fragments from a position on, without ``always``.

        Parameters
        ----------
        position
            In the order of the fragments.
        free, lasts
            The number of CPUs on which the first visit pays no entry, and the number on which the
            last visit pays nothing for what it leaves.
        more
            The needs of further visits.
        """
        key = position, free, lasts, more
        if key not in self._known:
            entries = [entry for entry, at in self._entries if at >= position]
            entries = sorted([*entries, *more[0]])
            writes = sum(self._forced[position + 1 :]) + more[1]
            if not self._window.final:
                # A fragment that is left invalidated, and comes last on its CPU, is not yet written
                # back.
                spared = min(lasts, sum(self._invalidated[position + 1 :]))
                writes = max(0, writes - (lasts - spared)) - spared
            reads = sum(entries[: max(0, len(entries) - free)])
            self._known[key] = reads + self._window.write_back * writes
        return self._known[key]


def lower_bound(leaves_window: LeavesWindow, *, cut: Iterable[int] = ()) -> int:
    """Return a lower bound of the cost of a window.

    The theorem and its proof are in the documentation under "Where dispatches leave their
    fragments differently".

    Parameters
    ----------
    leaves_window
        The window to schedule.
    cut
        If not empty, the bound holds for the schedules that visit one of these fragments more often
        than they must.
    """
    window = leaves_window.window
    needs = Needs(leaves_window, range(len(leaves_window.fragments)))
    cpus = range(window.cpus)
    idle = leaves_window.idle
    # The fragment that a CPU holds costs more, or less, if the CPU runs something. A CPU with
    # dispatches that evict always runs something.
    busy = leaves_window.evicting_cpus
    tolls = [_toll(window, cpu) - idle[cpu] for cpu in cpus]
    always = sum(tolls[cpu] for cpu in busy)
    tolls = sorted(toll for cpu, toll in enumerate(tolls) if cpu not in busy)
    unknown = window.states.count(UNKNOWN)
    total = needs.always + sum(idle) + always + sum(leaves_window.evicted)
    total += min(
        needs.least(0, min(unknown, used), used, more) + sum(tolls[: used - len(busy)])
        for used in range(max(window.least_busy, len(busy)), len(cpus) + 1)
        for more in {needs.more(fragment) for fragment in cut} or {NO_MORE}
    )
    return window.bound(total)


def _toll(window: WindowProblem, cpu: int) -> int:
    """Return the least cost of what a CPU holds, if it runs something."""
    fragment, leaves = window.states[cpu]
    stays = fragment >= 0 and leaves == DIRTY
    return 0 if leaves == CLEAN or stays else window.write_back
