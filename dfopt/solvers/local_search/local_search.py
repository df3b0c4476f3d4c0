"""Local search over what the CPUs hold: some two million moves a second."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from random import Random
from types import TracebackType

from dfopt.costs.closed_form import ClosedForm
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.solvers.compiled import load
from dfopt.solvers.constructive import construct
from dfopt.solvers.contents import PartCosts
from dfopt.solvers.local_search.memory import (
    BEST,
    COST,
    CPU,
    ENTRIES,
    MOVED,
    TYPES,
    Layout,
    Memory,
    empty_memory,
    size_of,
    sorted_types,
)
from dfopt.solvers.local_search.moving import aim
from dfopt.solvers.local_search.walk import fill, walk
from dfopt.solvers.search import Search, SearchOver

LARGEST_MEMORY = 2**26
"""So many integers are half a gigabyte."""

CONSTRUCTIONS = 2
"""Of the constructed schedules only the first two are not random."""

HOT, COLD = 0.15, 0.006
"""The first and the last temperature, as shares of what it costs to visit a fragment."""

CHUNK = 100_000
"""A chunk of moves goes through about so many types, which takes some milliseconds."""

TASKS_PER_CHUNK = 2_000
"""A schedule of so many tasks takes about as long to report as a chunk."""

ANY = 2**63 - 1
"""More than any objective."""


def fits(search: Search) -> bool:
    """Whether an instance under f or g is small enough for the memory."""
    return size_of(search.instance, len(search.types)) <= LARGEST_MEMORY


class LocalSearch:
    """Simulated annealing that starts from the best schedule of a search, or a constructed one.

    The kernels release the interpreter's lock, so that it can run in a thread beside another
    solver, see :class:`Background`. The same seed gives the same schedules, unless other threads
    find better ones.

    Parameters
    ----------
    search
        Of an instance with penalty f or g, without releases and precedence; better schedules
        are reported to it.
    seed
        Of the random moves.
    """

    def __init__(self, search: Search, seed: int = 0) -> None:
        self.search = search
        self._form = search.form
        self._types = sorted_types(self._form)
        self._numbers = {kind: number for number, kind in enumerate(self._types)}
        self._counts = [search.types[kind].count for kind in self._types]
        self._seed = seed
        self._visit = _visit(self._form, search)
        on_a_cpu = min(len(self._types) // search.instance.cpus, search.instance.tasks_per_cpu)
        self._chunk = max(250, CHUNK // (16 + on_a_cpu))
        self._chunks_per_report = 1 + search.instance.task_count // TASKS_PER_CHUNK
        self._memory: Memory
        self._at: Layout
        if search.schedule is None:
            self._construct()
        load(_first_calls, search.check)
        self.start_from(search.contents())

    @property
    def objective(self) -> int:
        """The objective of what the CPUs hold at present, which need not be the best."""
        costs = [int(self._memory[self._at.cpu + cpu * CPU + COST]) for cpu in range(self._at.cpus)]
        return sum(costs) if self._at.adds_up else max(costs)

    def start_from(self, contents: Sequence[Mapping[int, int]]) -> None:
        """Go on from a schedule: for each CPU how many tasks of each type it holds."""
        self._memory, self._at = empty_memory(
            self.search.instance, self._form, self._counts, self._seed
        )
        # Whoever starts again does not take the same way again.
        self._seed += 1
        for cpu, content in enumerate(contents):
            held = sorted((self._numbers[kind], count) for kind, count in content.items() if count)
            for place, entry in enumerate(held):
                begin = self._at.moved + place * ENTRIES
                self._memory[begin : begin + ENTRIES] = entry
            self._memory[self._at.counters + MOVED] = len(held)
            fill(self._memory, self._at, cpu)

    def contents(self) -> list[dict[int, int]]:
        """Return what the CPUs hold at present, see :meth:`start_from`."""
        at = self._at
        return [
            self._row(at.rows + cpu * at.row, at.cpu + cpu * CPU + TYPES) for cpu in range(at.cpus)
        ]

    def run(self, target: int | None, moves: int, over: Callable[[], bool] | None = None) -> bool:
        """Walk on, from hot to cold; return whether the target is met, which ends the walk.

        Parameters
        ----------
        target
            The objective to be reached. With None the walk goes on to its end, and the answer
            is whether it found anything better.
        moves
            How many moves are tried.
        over
            Asked every few milliseconds whether to end the walk.
        """
        goal = -1 if target is None else target
        temperature = HOT * self._visit
        cooling = (COLD / HOT) ** (1 / max(1, moves))
        before = self.search.objective
        left, chunks = moves, 0
        try:
            while left > 0:
                known = self.search.objective
                aim(self._memory, self._at, goal, ANY if known is None else known)
                if known is None or chunks % self._chunks_per_report == 0:
                    self._report()
                self.search.check()
                if over is not None and over():
                    break
                chunk = min(left, self._chunk)
                if walk(self._memory, self._at, chunk, temperature, cooling, goal):
                    return True
                temperature *= cooling**chunk
                left -= chunk
                chunks += 1
        finally:
            self._report()
        return target is None and self.search.objective != before

    def _construct(self) -> None:
        constructions = construct(self.search, PartCosts(self._form), Random(self._seed))
        for contents in islice(constructions, CONSTRUCTIONS):
            self.search.found(contents.orders())
            self.search.check()

    def _report(self) -> None:
        """Report the best contents if they are news."""
        at = self._at
        best = int(self._memory[at.counters + BEST])
        if self.search.objective is None or best < self.search.objective:
            contents = [
                self._row(at.best_rows + cpu * at.row, at.best_types + cpu)
                for cpu in range(at.cpus)
            ]
            self.search.found([self._form.order(cpu, held) for cpu, held in enumerate(contents)])

    def _row(self, begin: int, types: int) -> dict[int, int]:
        row = self._memory[begin : begin + int(self._memory[types]) * ENTRIES].tolist()
        return {
            self._types[kind]: count
            for kind, count in zip(row[::ENTRIES], row[1::ENTRIES], strict=True)
        }


class Background:
    """Runs local search in a thread of its own, beside another solver, until the block is left.

    Parameters
    ----------
    local_search
        What is run, again and again, always for something better than the best so far.
    moves
        The length of each walk.
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
        kind: type[BaseException] | None,
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
            while not self._over.is_set():
                self._local_search.run(None, self._moves, self._over.is_set)
        except SearchOver:
            pass  # the solver beside it will see it too
        except BaseException as error:  # raised where the block is left
            self._error = error


@functools.cache
def _first_calls() -> None:
    """Call every kernel that is called from here, so that it is compiled."""
    tasks = (Task(id="a", df="A"), Task(id="b", df="B"))
    search = Search(Instance(cpus=2, penalty=PenaltyG(fill=1, write_back=1), tasks=tasks))
    memory, at = empty_memory(search.instance, search.form, [1, 1], seed=0)
    fill(memory, at, 0)
    aim(memory, at, 0, ANY)
    walk(memory, at, 1, 1.0, 1.0, 0)


def _visit(form: ClosedForm, search: Search) -> float:
    """Return what it costs to visit a fragment, or what tasks differ in if that is more."""
    weighted = [(one.count, costs) for one, costs in zip(search.types, form.costs, strict=True)]
    tasks = sum(count for count, _ in weighted)
    visit = sum(count * (costs.entry + costs.exit) for count, costs in weighted) / tasks
    mean = sum(count * costs.base for count, costs in weighted) / tasks
    spread = sum(count * abs(costs.base - mean) for count, costs in weighted) / tasks
    return max(1.0, visit, spread)
