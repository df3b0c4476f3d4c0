"""Local search over the contents of the CPUs: about two million random moves a second.

A move exchanges tasks of two CPUs, and simulated annealing decides whether it is made. The moves
are in the core, see ``core/contents``; here stand the schedules that a walk begins with, and the
temperatures.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType

import numpy as np

from dfopt.costs.closed_form import ClosedForm, CpuStart
from dfopt.native import contents as native
from dfopt.native.library import ANY, Rows
from dfopt.problem.instance import Objective
from dfopt.solvers.heuristics.constructive import deal
from dfopt.solvers.search import Search, SearchOver

logger = logging.getLogger(__name__)

MILD = 0.03
"""Short walks begin with this share of the cost of a visit to a fragment: they have no time to cool
down from more."""

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


class LocalSearch:
    """Simulated annealing that starts from the best schedule of a search, or a constructed one.

    The core releases the interpreter's lock, so that it can run in a thread beside another
    solver, see :class:`Background`. The same seed gives the same schedules, unless other
    threads find better ones.

    Parameters
    ----------
    search
        Of an instance with penalty f or g, without releases and precedence; better schedules
        are reported to it.
    seed
        Seed of the random moves.

    Attributes
    ----------
    HOT, COLD
        The first and the last temperature, as shares of the cost of a visit to a fragment.
    """

    HOT, COLD = 0.15, 0.006

    def __init__(self, search: Search, seed: int = 0) -> None:
        self.search = search
        self._form = search.form
        costs = self._form.costs
        # Fragment by fragment, and in a fragment the cheapest opener first.
        self._types = sorted(
            range(len(costs)), key=lambda number: (costs[number].fragment, costs[number].entry)
        )
        self._numbers = {task_type: number for number, task_type in enumerate(self._types)}
        self._rows = _rows_of_types(search, self._types)
        self._seed = seed
        self._visit = _visit(self._form, search)
        on_a_cpu = min(len(self._types) // search.instance.cpus, search.instance.tasks_per_cpu)
        self._chunk = max(250, CHUNK // (16 + on_a_cpu))
        self._chunks_per_report = 1 + search.instance.task_count // TASKS_PER_CHUNK
        self._annealing: native.Annealing
        if search.schedule is None:
            deal(search)
        self.start_from(search.contents())

    @property
    def objective(self) -> int:
        """The objective of the current contents of the CPUs, which need not be the best."""
        costs = self._annealing.costs().tolist()
        adds_up = self.search.instance.objective is Objective.TOTAL_PENALTY
        return sum(costs) if adds_up else max(costs)

    def start_from(self, contents: Sequence[Mapping[int, int]]) -> None:
        """Go on from a schedule: for each CPU how many tasks of each type it holds."""
        instance = self.search.instance
        held = sorted(
            (cpu, self._numbers[task_type], count)
            for cpu, content in enumerate(contents)
            for task_type, count in content.items()
            if count
        )
        self._annealing = native.Annealing(
            self._rows,
            np.array([_row_of_start(start) for start in self._form.starts], native.CPU_START),
            np.array(held, native.HELD),
            fragments=len(self._form.fragments),
            room=instance.room,
            has_sizes=instance.has_sizes,
            adds_up=instance.objective is Objective.TOTAL_PENALTY,
            seed=_scrambled(self._seed),
        )
        self._best = ANY
        # A second walk from the same schedule must not repeat the first one.
        self._seed += 1

    def contents(self) -> list[dict[int, int]]:
        """Return the current contents of the CPUs, see :meth:`start_from`."""
        return self._named(self._annealing.contents(best=False))

    def run(
        self,
        target: int | None,
        moves: int,
        over: Callable[[], bool] | None = None,
        hot: float | None = None,
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
            The first temperature, if not the usual one.
        """
        goal = -1 if target is None else target
        hot = hot or self.HOT
        temperature = hot * self._visit
        cooling = (self.COLD / hot) ** (1 / max(1, moves))
        before = self.search.objective
        left, chunks = moves, 0
        try:
            while left > 0:
                if self.search.objective is None or chunks % self._chunks_per_report == 0:
                    self._report()
                self.search.check()
                if over is not None and over():
                    break
                chunk = min(left, self._chunk)
                if self._walk(chunk, temperature, cooling, goal) <= goal:
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
        moves, failures = max(1, longest // SHORTER), 0
        hot: float | None = MILD
        while failures < most_failures:
            found = self.run(None, moves, hot=hot)
            if moves == longest:
                failures = 0 if found else failures + 1
            moves, hot = min(longest, moves * GROWTH), None

    def _walk(self, moves: int, temperature: float, cooling: float, goal: int) -> int:
        """Walk on; return the best objective."""
        known = self.search.objective
        known = ANY if known is None else known
        self._best = self._annealing.walk(moves, temperature, cooling, goal, known)
        return self._best

    def _report(self) -> None:
        """Report the best contents if they are news."""
        if self._best < (ANY if self.search.objective is None else self.search.objective):
            contents = self._named(self._annealing.contents(best=True))
            self.search.found([self._form.order(cpu, held) for cpu, held in enumerate(contents)])

    def _named(self, held: Rows) -> list[dict[int, int]]:
        """Return for each CPU how many tasks it holds, by the types of the search."""
        contents: list[dict[int, int]] = [{} for _ in range(self.search.instance.cpus)]
        for cpu, number, count in held.tolist():
            contents[cpu][self._types[number]] = count
        return contents


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
    if search.workers == 1 or search.instance.cpus == 1:
        yield
        return
    local_search = LocalSearch(search, seed=search.seed)
    with Background(local_search, moves=MOVES_PER_TASK * search.instance.task_count):
        yield


def walk_slowly(search: Search, target: int) -> None:
    """Cool down slowly towards a target: that finds what no number of quick walks does.

    The walk ends early when another solver meets the target.
    """

    def is_met() -> bool:
        return search.objective is not None and search.objective <= target

    # Another seed than that of the local search beside this.
    walk = LocalSearch(search, seed=search.seed + 1)
    moves = min(MOST_SLOW_MOVES, SLOW_MOVES_PER_TASK * search.instance.task_count)
    walk.run(target, moves, is_met)


def _rows_of_types(search: Search, types: Sequence[int]) -> Rows:
    """Return the costs and the sizes of types as the core reads them."""
    rows = [
        (costs.fragment, costs.base, costs.entry, costs.exit, costs.end, search.types[number].size)
        for number, costs in ((number, search.form.costs[number]) for number in types)
    ]
    return np.array(rows, native.TASK_TYPE)


def _row_of_start(start: CpuStart) -> tuple[int, int, int, int]:
    """Return the costs of a CPU's initial state as the core reads them."""
    free = native.NONE_IS_FREE if start.free_fragment is None else start.free_fragment
    if start.free_for_all:
        free = native.ALL_ARE_FREE
    return free, start.arrival, start.departure, start.idle


def _scrambled(seed: int) -> int:
    """Return 63 bits that differ much for seeds that differ little (splitmix64), never 0."""
    mask = 2**64 - 1
    mixed = (seed + 1) * 0x9E3779B97F4A7C15 & mask
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & mask
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & mask
    return (mixed ^ mixed >> 31) >> 1 or 1


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
