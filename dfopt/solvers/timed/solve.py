"""Solves instances with releases or precedence: annealing for schedules, layers for proofs."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import numpy.typing as npt

from dfopt.problem.certificate import CompleteSearch
from dfopt.solvers.compilation.compiled import load
from dfopt.solvers.interruptible import wait_for
from dfopt.solvers.search import Search
from dfopt.solvers.timed import annealing, layers
from dfopt.solvers.timed.annealing import TimedAnnealing
from dfopt.solvers.timed.layers import extend
from dfopt.solvers.timed.partial_schedules import empty_layer, write_root
from dfopt.solvers.timed.tables import timed_tables

History = list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]
"""For each layer, the parents and moves of its rows."""

FIRST_MOVES = 10_000
"""Moves of the first walk for each task; later walks are longer."""

LONGEST_WALK = 1_000
"""A walk has at most this number of times the moves of the first one."""

FIRST_ROWS = 2_000
"""At first at most 2,000 partial schedules are kept in a layer."""

MOST_ROWS = 1_000_000
"""At most this number of partial schedules are kept in a layer; they take some 150 MB."""

ROWS_PER_CHUNK = 500
"""Between two looks at the clock this number of partial schedules is extended."""


def first_calls() -> None:
    """Call the compiled functions of this package, so that they are loaded or compiled."""
    annealing.first_calls()
    layers.first_calls()


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
        if search.schedule is None:
            return False  # sizes leave no room for plain constructions
        search.enter("annealing of waiting tasks")
        load(annealing.first_calls, search.check)
        moves = FIRST_MOVES * len(self.tables.exec)
        self.annealing.walk(moves)
        halt = threading.Event()
        walker = threading.Thread(target=self._walk_on, args=(moves, halt), daemon=True)
        if search.workers > 1:
            walker.start()
        try:
            load(layers.first_calls, search.check)
            rows = FIRST_ROWS
            while rows <= MOST_ROWS:
                search.enter(f"partial schedules in layers of {rows}")
                if self._refutes(rows):
                    return True
                search.enter("annealing of waiting tasks")
                if not walker.is_alive():
                    moves *= 2
                    self.annealing.walk(moves)
                rows *= 5
        finally:
            halt.set()
        return False

    def _walk_on(self, moves: int, halt: threading.Event) -> None:
        """Walk until told to stop; walks get longer."""
        length = moves
        while not halt.is_set():
            length = min(2 * length, LONGEST_WALK * moves)
            self.annealing.walk(length, halt)

    def _refutes(self, rows: int) -> bool:
        """Return whether all schedules better than the best one were excluded."""
        search, tables = self.search, self.tables
        source, target = empty_layer(tables, 2 * rows), empty_layer(tables, 2 * rows)
        table = np.empty(1 << (4 * rows).bit_length(), dtype=np.int64)
        write_root(tables, source)
        count = 1
        history: History = []
        is_complete = True
        for _ in range(len(tables.exec)):
            table[:] = -1
            written = 0
            for first in range(0, count, ROWS_PER_CHUNK):
                best = search.objective
                assert best is not None
                written, dropped = wait_for(
                    partial(
                        extend, tables, source, first, min(count, first + ROWS_PER_CHUNK), target,
                        written, table, best, rows,
                    ),
                    search.check,
                )  # fmt: skip
                is_complete = is_complete and not dropped
                if not is_complete and rows > FIRST_ROWS:
                    return False
            history.append((target.parent[:written].copy(), target.move[:written].copy()))
            source, target, count = target, source, written
            if not count:
                break
        if count:
            ends = (source.clock[:count] + tables.finish[source.state[:count]]).max(axis=1)
            row = int(ends.argmin())
            if search.objective is None or ends[row] < search.objective:
                search.found(self._replayed(history, row))
        if is_complete:
            best = search.objective
            assert best is not None
            search.proved(best, CompleteSearch(threshold=best - 1, solver="layers"))
        return is_complete

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
