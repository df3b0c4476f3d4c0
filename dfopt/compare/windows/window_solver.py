"""Windows solved one after the other; equal windows are solved once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dfopt.compare.cost_model import TypeCosts
from dfopt.compare.windows import as_instance
from dfopt.compare.windows.leaves import LeavesWindows
from dfopt.compare.windows.matrix import MatrixWindows
from dfopt.compare.windows.uniform import UniformWindows
from dfopt.compare.windows.window import WindowProblem, WindowSchedule, renamed
from dfopt.solvers.search import Knowledge

SECONDS_PER_WINDOW = 2.0
"""Seconds that solvers may search for the best schedule of one window."""

MOST_REMEMBERED = 20_000
"""At most 20,000 windows are remembered at once."""

STEPS, STEPS_OF_MANY = 30_000, 10_000
"""Steps after which the exact program gives up: with few windows, and with many."""

TINY = 6
"""Windows of at most 6 dispatches are solved by trying all schedules, within milliseconds."""

EFFORT = 0.01
"""Length of a local search, as a share of a whole one; a window has few dispatches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedWindow:
    """The schedule of a window in its canonical form, and the numbers of fragments and CPUs.

    Parameters
    ----------
    schedule
        A schedule of the window in its canonical form.
    fragments
        For each fragment of the schedule its number in the window.
    cpus
        For each CPU of the schedule its number in the window.
    """

    schedule: WindowSchedule
    fragments: Sequence[int]
    cpus: Sequence[int]


class WindowSolver:
    """Finds the best schedules of windows, each canonical form once.

    Parameters
    ----------
    leaves_differ
        Whether dispatches may leave their fragments in different states.
    types
        The matrix, if costs are those between types.
    seconds
        Seconds that solvers may search for what the quick methods leave open, all together.
    thorough
        Whether the slower solvers are asked too, which is worth their time for few windows.
    effort
        Length of local searches, as a share of a whole one.
    seconds_per_window
        Seconds that solvers may search for the best schedule of one window.
    """

    def __init__(  # noqa: PLR0913 - options, all by keyword
        self,
        *,
        leaves_differ: bool,
        types: TypeCosts | None = None,
        seconds: float,
        thorough: bool,
        effort: float = EFFORT,
        seconds_per_window: float | None = None,
    ) -> None:
        self._method: UniformWindows | LeavesWindows | MatrixWindows
        if types is not None:
            self._method = MatrixWindows(types)
        elif leaves_differ:
            steps = STEPS if thorough else STEPS_OF_MANY
            self._method = LeavesWindows(most_steps=steps, effort=effort)
        else:
            self._method = UniformWindows()
        self._thorough = thorough
        self._seconds_left = seconds
        self._seconds_per_window = seconds_per_window
        self._remembered = lru_cache(MOST_REMEMBERED)(self._solved)

    @property
    def solved(self) -> int:
        """The number of different windows so far."""
        return self._remembered.cache_info().misses

    def solve(self, window: WindowProblem, paid: Sequence[int]) -> SolvedWindow:
        """Return the best schedule that could be found, and the bound that could be proven.

        Parameters
        ----------
        window
            The window to schedule.
        paid
            The cost of each CPU so far. Among CPUs that begin alike, the one that has paid most
            pays least now, where the method does not tell them apart.
        """
        cpus: Sequence[int] = range(window.cpus)
        if isinstance(self._method, MatrixWindows):
            # Types must keep their numbers, so the canonical form sorts the CPUs instead.
            fragments: Sequence[int] = range(len(window.fragments))
            cpus = sorted(cpus, key=lambda cpu: (window.states[cpu], -paid[cpu]))
            canonical = replace(window, states=tuple([window.states[cpu] for cpu in cpus]))
        else:
            fragments = self._method.canonical(window)
            canonical = renamed(window, fragments)
        return SolvedWindow(schedule=self._remembered(canonical), fragments=fragments, cpus=cpus)

    def _solved(self, window: WindowProblem) -> WindowSchedule:
        found: WindowSchedule = self._method.solve(window)
        # No instance can keep a dispatch that evicts on its CPU.
        if found.is_closed or window.evicting:
            return found
        if sum(window.sizes) <= TINY:
            tried = as_instance.tried_in_full(self._method.instance(window))
            return self._improved(window, found, tried)
        if self._seconds_left <= 0:
            return found
        instance = self._method.instance(window)
        packs = as_instance.packs_parts(instance)
        if not (packs or self._thorough):
            return found
        as_instance.load_solvers()
        began = time.monotonic()
        seconds = min(self._seconds_per_window or SECONDS_PER_WINDOW, self._seconds_left)
        if packs:
            found = self._improved(window, found, as_instance.packed(instance, seconds))
        if self._thorough and not found.is_closed:
            found = self._improved(window, found, as_instance.solved(instance, seconds))
        # Only searches use up the time, so the results hardly depend on how busy the machine is.
        self._seconds_left -= time.monotonic() - began
        return found

    def _improved(
        self, window: WindowProblem, found: WindowSchedule, known: Knowledge
    ) -> WindowSchedule:
        """Return the schedule, or the better one of a solver, with the better bound."""
        bound = max(found.lower_bound, known.lower_bound)
        if known.schedule is not None and (known.objective or 0) < found.cost:
            costs = [cpu.cost for cpu in known.schedule.cpus]
            orders = as_instance.orders_of(known.schedule)
            other = self._method.of_orders(window, orders, costs)
            if other.cost < found.cost:
                found = other
        return replace(found, lower_bound=bound)
