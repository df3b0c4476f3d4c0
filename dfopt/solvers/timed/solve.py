"""Solves instances with releases or precedence: annealing for schedules, layers for proofs."""

from __future__ import annotations

import threading

from dfopt.native.waiting import Layers
from dfopt.problem.certificate import CompleteSearch, Counting
from dfopt.solvers.search import Search
from dfopt.solvers.timed.annealing import MILD, MOVES_PER_TASK, TimedAnnealing
from dfopt.solvers.timed.dispatch_rules import dispatch_by_score
from dfopt.solvers.timed.tables import TimedTables, timed_tables
from dfopt.verify.energy import energy_bound

MOST_TASKS = 500
"""Layers are for at most 500 tasks."""

FAILURES = 3
"""Without layers, annealing gives up after 3 pairs of walks that have found nothing better."""

FIRST_SHARE = 0.4
"""The part of the time that annealing gets before there are layers."""

LONGEST_WALK = 30
"""Beside the layers, a walk has at most 30 times the moves of the first one."""

MOVES_PER_ROW = 2_000
"""Without a second worker this number of moves take about as long as a row of each layer."""

FIRST_ROWS = 2_000
"""At first at most 2,000 partial schedules are kept in a layer."""

MOST_ROWS = 250_000
"""At most this number of partial schedules are kept in a layer; they take some 150 MB."""

ROWS_GROWTH = 5
"""The next layers may have five times as many."""

FINENESS = 200
"""Limits are tried until a two hundredth of the objective decides nothing any more."""

STEPS_PER_CHUNK = 300_000
"""Limits the work between two looks at the clock, in pairs of tasks for each CPU of each row."""


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

    def dispatch(self) -> None:
        """Report first schedules by list scheduling, which loads nothing."""
        dispatch_by_score(self.search, self.tables)
        self.search.check()

    def solve(self) -> bool:
        """Return whether the best schedule was proven optimal; otherwise too many rows are left.

        It begins with the best schedule so far.
        """
        search = self.search
        energy = energy_bound(search.instance)
        if energy > 0:
            search.proved(energy, Counting(argument="energy", threshold=energy - 1))
        if search.schedule is None:
            return False  # sizes leave no room for plain constructions
        with search.share(FIRST_SHARE):
            self.annealing.run()
        search.check()
        if len(self.tables.tasks) > MOST_TASKS:
            self._walk_until_stalled()
            return False
        moves = MOVES_PER_TASK * len(self.tables.tasks)
        halt = threading.Event()
        walker = threading.Thread(target=self._walk_on, args=(moves, halt), daemon=True)
        if search.workers > 1:
            walker.start()
        try:
            rows = FIRST_ROWS
            while rows <= MOST_ROWS:
                search.enter(f"layers of {rows} partial schedules")
                if self._prove(rows):
                    return True
                if not walker.is_alive():
                    search.enter("annealing of waiting tasks")
                    self.annealing.walk(MOVES_PER_ROW * rows // 2)
                    self.annealing.walk(MOVES_PER_ROW * rows // 2, hot=MILD)
                rows *= ROWS_GROWTH
        finally:
            halt.set()
        return False

    def _walk_until_stalled(self) -> None:
        """Walk hot and mild in turns, until some walks in a row have found nothing better."""
        moves, failures = MOVES_PER_TASK * len(self.tables.tasks), 0
        while failures < FAILURES:
            before = self.search.objective
            self.annealing.walk(moves)
            self.annealing.walk(moves, hot=MILD)
            failures = 0 if self.search.objective != before else failures + 1

    def _walk_on(self, moves: int, halt: threading.Event) -> None:
        """Walk until told to stop; walks get longer."""
        length = moves
        while not halt.is_set():
            length = min(2 * length, LONGEST_WALK * moves)
            self.annealing.walk(length, halt)
            self.annealing.walk(length, halt, hot=MILD, onward=True)
            self.annealing.walk(length, halt, hot=MILD)

    def _prove(self, rows: int) -> bool:
        """Raise the bound as far as layers of this size can; return whether that is all the way."""
        search = self.search
        assert search.objective is not None
        if self._search_below(search.objective, rows, as_beam=True):
            return True
        # A lower limit leaves fewer partial schedules.
        too_high = search.objective
        while too_high - search.lower_bound > max(1, too_high // FINENESS):
            limit = (too_high + search.lower_bound + 1) // 2
            if not self._search_below(limit, rows):
                too_high = limit
        return False

    def _search_below(self, limit: int, rows: int, *, as_beam: bool = False) -> bool:
        """Search for schedules below a limit; return whether the search was complete."""
        limit, is_complete = search_layers(self.search, self.tables, limit, rows, as_beam=as_beam)
        if not is_complete:
            return False
        self.search.proved(limit, CompleteSearch(threshold=limit - 1, solver="layers"))
        return True


def search_layers(
    search: Search, tables: TimedTables, limit: int, rows: int, *, as_beam: bool = False
) -> tuple[int, bool]:
    """Search for schedules better than the best one and below a limit.

    Parameters
    ----------
    search
        Of a timed instance; it has a schedule.
    tables
        Those of the instance.
    limit
        Only what can end before it is kept.
    rows
        At most this number of partial schedules are kept in a layer.
    as_beam
        Whether to go on with the best of them where there are more.

    Returns
    -------
    limit, is_complete
        Nothing ends before this limit, if the search was complete. If not, some layer had
        more than this number of rows.
    """
    count = len(tables.tasks)
    layers = Layers(tables.in_core(), rows)
    chunk = max(1, STEPS_PER_CHUNK // (count * len(tables.starts)))
    has_more = True
    while has_more:
        assert search.objective is not None
        limit = min(limit, search.objective)
        has_more = layers.extend(chunk, limit)
        search.check()
        if layers.has_dropped() and not as_beam:
            return limit, False
    end = layers.find_end()
    if end < limit:
        limit = end
        search.found(tables.orders(layers.dispatches()))
    return limit, not layers.has_dropped()
