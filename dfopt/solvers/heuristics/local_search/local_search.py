"""Local search over the contents of the CPUs: about two million random moves a second.

A move exchanges tasks of two CPUs (``neighbourhood``). Its cost follows from the parts that it
touches (``evaluation``). Simulated annealing decides whether it is made (``acceptance``), and then
it changes the state (``update``).
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from random import Random
from types import TracebackType

from dfopt.costs.closed_form import ClosedForm
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.solvers.compilation.compiled import load
from dfopt.solvers.heuristics.constructive import construct
from dfopt.solvers.heuristics.contents import PartCosts
from dfopt.solvers.heuristics.local_search.acceptance import fill, walk
from dfopt.solvers.heuristics.local_search.state import (
    BEST,
    COST,
    COUNT,
    MOVED,
    TYPE,
    TYPES,
    Integers,
    SearchState,
    empty_state,
    size_of,
    sorted_types,
)
from dfopt.solvers.heuristics.local_search.update import aim, compare_with, set_target
from dfopt.solvers.search import Search, SearchOver

logger = logging.getLogger(__name__)

LARGEST_STATE = 2**26
"""A state has at most 2**26 integers: half a gigabyte."""

CONSTRUCTIONS = 2
"""The best of 2 constructed schedules is taken; all later constructions would be random."""

HOT, MILD, COLD = 0.15, 0.03, 0.006
"""The first and the last temperature, as shares of the cost of a visit to a fragment.

Short walks begin mild, since they have no time to cool down from more.
"""

SHORTER, GROWTH = 625, 5
"""The first walk is 625 times shorter than a long one, each later one five times longer."""

CHUNK = 100_000
"""A chunk of moves reads about 100,000 types, which takes some milliseconds."""

MOVES_PER_TASK = 10_000
"""The first walk beside another solver has 10,000 moves a task."""

SLOW_MOVES_PER_TASK = 100_000
MOST_SLOW_MOVES = 100_000_000
"""A slow walk has at most 100 million moves, which take about a minute."""

TASKS_PER_CHUNK = 2_000
"""Reporting a schedule of 2,000 tasks takes about as long as a chunk of moves."""

ANY = 2**63 - 1
"""More than any objective."""


def fits(search: Search) -> bool:
    """Return whether the state of an instance under f or g is small enough."""
    return size_of(search.instance, len(search.types)) <= LARGEST_STATE


class LocalSearch:
    """Simulated annealing that starts from the best schedule of a search, or a constructed one.

    The compiled loops release the interpreter's lock, so that it can run in a thread beside
    another solver, see :class:`Background`. The same seed gives the same schedules, unless other
    threads find better ones.

    Parameters
    ----------
    search
        Of an instance with penalty f or g, without releases and precedence; better schedules
        are reported to it.
    seed
        Seed of the random moves.
    """

    def __init__(self, search: Search, seed: int = 0) -> None:
        self.search = search
        self._form = search.form
        self._types = sorted_types(self._form)
        self._numbers = {task_type: number for number, task_type in enumerate(self._types)}
        self._counts = [search.types[task_type].count for task_type in self._types]
        self._sizes = [search.types[task_type].size for task_type in self._types]
        self._seed = seed
        self._visit = _visit(self._form, search)
        on_a_cpu = min(len(self._types) // search.instance.cpus, search.instance.tasks_per_cpu)
        self._chunk = max(250, CHUNK // (16 + on_a_cpu))
        self._chunks_per_report = 1 + search.instance.task_count // TASKS_PER_CHUNK
        self._state: SearchState
        if search.schedule is None:
            self._construct()
        load(first_calls, search.check)
        self.start_from(search.contents())

    @property
    def objective(self) -> int:
        """The objective of the current contents of the CPUs, which need not be the best."""
        costs = self._state.cpus[:, COST].tolist()
        return sum(costs) if self._state.adds_up else max(costs)

    def start_from(self, contents: Sequence[Mapping[int, int]]) -> None:
        """Go on from a schedule: for each CPU how many tasks of each type it holds."""
        state = empty_state(self.search.instance, self._form, self._counts, self._sizes, self._seed)
        # A second walk from the same schedule must not repeat the first one.
        self._seed += 1
        for cpu, content in enumerate(contents):
            held = sorted(
                (self._numbers[task_type], count) for task_type, count in content.items() if count
            )
            if held:
                state.moved[: len(held)] = held
            state.counters[MOVED] = len(held)
            fill(state, cpu)
        self._state = state

    def contents(self) -> list[dict[int, int]]:
        """Return the current contents of the CPUs, see :meth:`start_from`."""
        return self._contents_in(self._state.rows, self._state.cpus[:, TYPES])

    def run(
        self,
        target: int | None,
        moves: int,
        over: Callable[[], bool] | None = None,
        hot: float = HOT,
    ) -> bool:
        """Walk on, from hot to cold; return whether the target is met, which ends the walk.

        Parameters
        ----------
        target
            The objective to be reached. With None the walk goes on to its end, and the answer
            is whether it found anything better.
        moves
            Number of moves to try.
        over
            Asked every few milliseconds whether to end the walk.
        hot
            The first temperature, as a share of the cost of a visit to a fragment.
        """
        goal = -1 if target is None else target
        temperature = hot * self._visit
        cooling = (COLD / hot) ** (1 / max(1, moves))
        before = self.search.objective
        left, chunks = moves, 0
        try:
            while left > 0:
                known = self.search.objective
                aim(self._state, goal, ANY if known is None else known)
                if known is None or chunks % self._chunks_per_report == 0:
                    self._report()
                self.search.check()
                if over is not None and over():
                    break
                chunk = min(left, self._chunk)
                if walk(self._state, chunk, temperature, cooling, goal):
                    return True
                temperature *= cooling**chunk
                left -= chunk
                chunks += 1
        finally:
            self._report()
            logger.debug("walked %d of %d moves", moves - left, moves)
        return target is None and self.search.objective != before

    def improve(self, longest: int, most_failures: int) -> None:
        """Walk for longer and longer, until this number of long walks find nothing better."""
        moves, hot, failures = max(1, longest // SHORTER), MILD, 0
        while failures < most_failures:
            found = self.run(None, moves, hot=hot)
            if moves == longest:
                failures = 0 if found else failures + 1
            moves, hot = min(longest, moves * GROWTH), HOT

    def _construct(self) -> None:
        constructions = construct(self.search, PartCosts(self._form), Random(self._seed))
        for contents in islice(constructions, CONSTRUCTIONS):
            self.search.found(contents.orders())
            self.search.check()

    def _report(self) -> None:
        """Report the best contents if they are news."""
        best = int(self._state.counters[BEST])
        if self.search.objective is None or best < self.search.objective:
            contents = self._contents_in(self._state.best_rows, self._state.best_types)
            self.search.found([self._form.order(cpu, held) for cpu, held in enumerate(contents)])

    def _contents_in(self, rows: Integers, lengths: Integers) -> list[dict[int, int]]:
        """Return for each CPU how many tasks of each type its row has."""
        return [
            {
                self._types[task_type]: count
                for task_type, count in zip(
                    row[:length, TYPE].tolist(), row[:length, COUNT].tolist(), strict=True
                )
            }
            for row, length in zip(rows, lengths.tolist(), strict=True)
        ]


class Background:
    """Runs local search in a thread of its own, beside another solver, until the block is left.

    Parameters
    ----------
    local_search
        The search to run. It starts again after each walk, for a better schedule than the best.
    moves
        The length of the first walk. Each one after a walk that found nothing better is twice as
        long as that: slow cooling finds more than many walks do.
    """

    def __init__(self, local_search: LocalSearch, moves: int) -> None:
        self._local_search = local_search
        self._moves = moves
        self._over = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="local search", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self,
        task_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._error is not None and (error is None or isinstance(error, SearchOver)):
            raise self._error from error

    def _run(self) -> None:
        if self._local_search.search.instance.cpus == 1:
            return
        try:
            moves = self._moves
            while not self._over.is_set():
                found = self._local_search.run(None, moves, self._over.is_set)
                moves = self._moves if found else 2 * moves
        except SearchOver:
            pass  # the solver beside it will see it too
        except BaseException as error:  # raised where the block is left
            self._error = error


@contextmanager
def walking_beside(search: Search) -> Iterator[None]:
    """Let local search go on beside what is done in the block, if there is a second worker."""
    if search.workers == 1 or search.instance.cpus == 1 or not fits(search):
        yield
        return
    local_search = LocalSearch(search, seed=search.seed)
    with Background(local_search, moves=MOVES_PER_TASK * search.instance.task_count):
        yield


def walk_slowly(search: Search, target: int) -> None:
    """Cool down slowly towards a target: that finds what no number of quick walks does.

    The walk ends early when another solver meets the target.
    """
    if not fits(search):
        return

    def is_met() -> bool:
        return search.objective is not None and search.objective <= target

    # Another seed than that of the local search beside this.
    walk = LocalSearch(search, seed=search.seed + 1)
    moves = min(MOST_SLOW_MOVES, SLOW_MOVES_PER_TASK * search.instance.task_count)
    walk.run(target, moves, is_met)


@functools.cache
def first_calls() -> None:
    """Call every compiled function that is called from here, so that it is loaded."""
    tasks = (Task(id="a", df="A"), Task(id="b", df="B"))
    search = Search(Instance(cpus=2, penalty=PenaltyG(fill=1, write_back=1), tasks=tasks))
    state = empty_state(search.instance, search.form, [1, 1], [1, 1], seed=0)
    fill(state, 0)
    aim(state, 0, ANY)
    compare_with(state, ANY)
    set_target(state, 0)
    walk(state, 1, 1.0, 1.0, 0)


def _visit(form: ClosedForm, search: Search) -> float:
    """Return the mean cost of a visit, or the cost by which tasks differ if that is more."""
    weighted = [
        (equal_tasks.count, costs)
        for equal_tasks, costs in zip(search.types, form.costs, strict=True)
    ]
    tasks = sum(count for count, _ in weighted)
    visit = sum(count * (costs.entry + costs.exit) for count, costs in weighted) / tasks
    mean = sum(count * costs.base for count, costs in weighted) / tasks
    spread = sum(count * abs(costs.base - mean) for count, costs in weighted) / tasks
    return max(1.0, visit, spread)
