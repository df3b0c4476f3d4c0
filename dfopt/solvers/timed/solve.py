"""Solves instances with releases or precedence: annealing for schedules, layers for proofs."""

from __future__ import annotations

import math
import threading
import time
from functools import partial

import numpy as np
import numpy.typing as npt

from dfopt.problem.certificate import CompleteSearch, Counting, Exhaustive
from dfopt.solvers.compilation.compiled import as_plain_python
from dfopt.solvers.compilation.machine_code import MachineCode
from dfopt.solvers.interruptible import SECONDS_PER_CHECK, wait_for
from dfopt.solvers.search import Search
from dfopt.solvers.timed.annealing import TimedAnnealing
from dfopt.solvers.timed.dispatch_rules import dispatch_by_rules
from dfopt.solvers.timed.layers import extend
from dfopt.solvers.timed.partial_schedules import empty_layer, write_root
from dfopt.solvers.timed.tables import BITS, timed_tables
from dfopt.verify.energy import energy_bound

History = list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]
"""For each layer, the parents and moves of its rows."""

FIRST_MOVES = 10_000
"""Moves of the first walk for each task; later walks are longer."""

LONGEST_WALK = 1_000
"""Beside the layers, a walk has at most this number of times the moves of the first one."""

MOVES_PER_ROW = 2_000
"""Without a second worker this number of moves take about as long as a row of each layer."""

FIRST_ROWS = 2_000
"""At first at most 2,000 partial schedules are kept in a layer."""

MOST_ROWS = 250_000
"""At most this number of partial schedules are kept in a layer; they take some 150 MB."""

ROWS_GROWTH = 5
"""The next layers may have five times as many."""

FEW_ROWS = 100_000
"""The checker repeats searches of up to 100,000 partial schedules, though it keeps some more."""

FINENESS = 200
"""Limits are tried until a two hundredth of the objective decides nothing any more."""

STEPS_PER_CHUNK = 1_000_000
"""Limits the work between two looks at the clock, in pairs of tasks for each CPU of each row."""


PLAIN_MOVES, PLAIN_CHUNK = 5_000, 250
"""A walk in plain Python and what it does between two looks at the clock, a second and less."""

ANNEALING = MachineCode("dfopt.solvers.timed.annealing:first_calls")
LAYERS = MachineCode("dfopt.solvers.timed.layers:first_calls")
"""Two, since annealing is compiled in less time and can begin then."""


class TimedSearch:
    """Annealing and layers in turns; with a second worker, annealing goes on beside the layers.

    Parameters
    ----------
    search
        Of a timed instance.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.tables = timed_tables(search)
        self.annealing = TimedAnnealing(search, self.tables)

    def solve(self) -> bool:
        """Return whether the best schedule was proven optimal; otherwise too many rows are left."""
        search = self.search
        energy = energy_bound(search.instance)
        if energy > 0:
            search.proved(energy, Counting(argument="energy", threshold=energy - 1))
        dispatch_by_rules(search, self.tables)
        search.check()
        if search.schedule is None:
            return False  # sizes leave no room for plain constructions
        self._walk_in_plain_python()
        search.enter("annealing of waiting tasks")
        moves = FIRST_MOVES * len(self.tables.exec)
        self.annealing.walk(moves)
        halt = threading.Event()
        walker = threading.Thread(target=self._walk_on, args=(moves, halt), daemon=True)
        if search.workers > 1:
            walker.start()
        try:
            while not LAYERS.is_ready(search.check):
                if walker.is_alive():
                    search.check()
                    time.sleep(SECONDS_PER_CHECK)
                else:
                    self.annealing.walk(moves)
            rows = FIRST_ROWS
            while rows <= MOST_ROWS:
                search.enter(f"layers of {rows} partial schedules")
                if self._prove(rows):
                    return True
                if not walker.is_alive():
                    search.enter("annealing of waiting tasks")
                    self.annealing.walk(MOVES_PER_ROW * rows)
                rows *= ROWS_GROWTH
        finally:
            halt.set()
        return False

    def _walk_in_plain_python(self) -> None:
        """Walk until the machine code of walks is there, after an installation some seconds."""
        if ANNEALING.is_ready(self.search.check):
            return
        LAYERS.is_ready(self.search.check)  # is compiled next
        self.search.enter("annealing in plain Python while a compiler runs")
        state = np.random.get_state()  # machine code has random numbers of its own
        try:
            while not ANNEALING.is_ready(self.search.check):
                with as_plain_python(math.inf, self.search.check):
                    self.annealing.walk(PLAIN_MOVES, threading.Event(), PLAIN_CHUNK)
        finally:
            np.random.set_state(state)

    def _walk_on(self, moves: int, halt: threading.Event) -> None:
        """Walk until told to stop; walks get longer."""
        length = moves
        while not halt.is_set():
            length = min(2 * length, LONGEST_WALK * moves)
            self.annealing.walk(length, halt)

    def _prove(self, rows: int) -> bool:
        """Raise the bound as far as layers of this size can; return whether that is all the way."""
        search = self.search
        assert search.objective is not None
        if self._search_below(search.objective, rows):
            return True
        # A lower limit leaves fewer partial schedules.
        too_high = search.objective
        while too_high - search.lower_bound > max(1, too_high // FINENESS):
            limit = (too_high + search.lower_bound + 1) // 2
            if not self._search_below(limit, rows):
                too_high = limit
        return False

    def _search_below(self, limit: int, rows: int) -> bool:
        """Search for schedules better than the best one and below a limit.

        Returns
        -------
        bool
            Whether the search was complete. If not, some layer had more than this number of rows.
        """
        search, tables = self.search, self.tables
        source, target = empty_layer(tables, 2 * rows), empty_layer(tables, 2 * rows)
        table = np.empty(1 << (4 * rows).bit_length(), dtype=np.int64)
        write_root(tables, source)
        count, total = 1, 0
        chunk = max(1, STEPS_PER_CHUNK // (len(tables.exec) ** 2 * len(tables.starts)))
        history: History = []
        for _ in range(len(tables.exec)):
            table[:] = -1
            written = 0
            for first in range(0, count, chunk):
                assert search.objective is not None
                limit = min(limit, search.objective)
                written, dropped = wait_for(
                    partial(
                        extend, tables, source, first, min(count, first + chunk), target,
                        written, table, limit, rows,
                    ),
                    search.check,
                )  # fmt: skip
                if dropped:
                    return False
            history.append((target.parent[:written].copy(), target.move[:written].copy()))
            source, target, count = target, source, written
            total += count
            if not count:
                break
        if count:
            ends = (source.clock[:count] + tables.finish[source.state[:count]]).max(axis=1)
            row = int(ends.argmin())
            if ends[row] < limit:
                limit = int(ends[row])
                search.found(self._replayed(history, row))
        if total <= FEW_ROWS and len(tables.exec) <= BITS:
            search.proved(limit, Exhaustive(threshold=limit - 1))
        else:
            search.proved(limit, CompleteSearch(threshold=limit - 1, solver="layers"))
        return True

    def _replayed(self, history: History, row: int) -> list[list[int]]:
        """Return the orders of the CPUs that lead to a row of the last layer."""
        tables = self.tables
        moves = []
        for parents, steps in reversed(history):
            moves.append(int(steps[row]))
            row = int(parents[row])
        orders: list[list[int]] = [[] for _ in tables.starts]
        for move in reversed(moves):
            task, cpu = divmod(move, len(orders))
            orders[cpu].append(int(tables.types[task]))
        return orders
