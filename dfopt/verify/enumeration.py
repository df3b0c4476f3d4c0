"""Tries all schedules of a small instance for a better one: the check of ``exhaustive``.

Tasks that no cost tells apart are one kind, so that only their number counts. Instances with many
states are refused: there the check would be a search of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from operator import add, le, mul
from typing import TYPE_CHECKING, Any

from dfopt.errors import MethodError
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOO_LARGE = "the instance has too many schedules to enumerate them"

MOST_STATES = 200_000
"""At most this number of contents of a CPU, each with its last task."""

MOST_HOLDINGS = 2_000_000
"""At most this number of ways to take some tasks of each kind."""

FEW_HOLDINGS = 300
"""Up to this number of them, numpy is not loaded."""

MOST_SUMS = 500_000_000
"""At most this number of times a content is added to the tasks of other CPUs."""

Start = tuple[tuple[int, ...], int]
"""The cost of a CPU's initial state: with each kind of task first, and without tasks."""

Content = tuple[int, ...]
"""The number of tasks of each kind."""


def has_schedule_below(
    instance: Instance, bound: int, check: Callable[[], None] = lambda: None
) -> bool:
    """Return whether some schedule of the instance has an objective less than ``bound``.

    Parameters
    ----------
    instance, bound
        The instance and the bound.
    check
        Called often; may end the work by an exception.

    Raises
    ------
    MethodError
        When there are too many.
    """
    tasks = Kinds(instance, check)
    # Of CPUs that start alike, no more can be used than there are tasks.
    starts = Counter(zip(map(tuple, tasks.costs.start), tasks.costs.idle, strict=True))
    most = instance.task_count
    cpus = [start for start, count in starts.items() for _ in range(min(count, most))]
    idle = [start[1] for start, count in starts.items() for _ in range(most, count)]
    if instance.objective is Objective.TOTAL_PENALTY:
        bound -= sum(idle)
        return tasks.least(cpus, bound, total=True) < bound
    if max(idle, default=0) >= bound:
        return False
    if not instance.has_precedence:
        try:
            return tasks.least(cpus, bound, total=False) < bound
        except MethodError:
            if not instance.is_timed:
                raise
    from dfopt.verify.layers import Dispatching  # needs numpy

    return Dispatching(instance, bound, check).has_schedule()


class Kinds:
    """The tasks of an instance by kind, and what a CPU pays for them."""

    def __init__(self, instance: Instance, check: Callable[[], None]) -> None:
        self._instance = instance
        self._check = check
        self._timed = instance.objective is Objective.MAKESPAN
        members: dict[object, list[Task]] = defaultdict(list)
        for task in instance.tasks:
            members[self._key(task)].append(task)
        self.examples = [tasks[0] for tasks in members.values()]
        self.sizes = [instance.size_of(task) for task in self.examples]
        self.costs = CostTable(instance, self.examples)
        self.counts = tuple(sum(task.multiplicity for task in tasks) for tasks in members.values())

    def _key(self, task: Task) -> object:
        """Return what tells a task from others."""
        run = (task.exec, task.release) if self._timed else ()
        if self._instance.has_precedence:
            return task.id
        match self._instance.penalty:
            case PenaltyF():
                return task.df, task.size, task.lines, task.leaves, run
            case PenaltyG():
                return task.df, task.size, run
        return task.type, task.size, run

    def least(self, cpus: Sequence[Start], bound: int, *, total: bool) -> int:
        """Return the least objective of all CPUs; the bound itself if none is less."""
        if self._are_few:
            return self._least_of_few(cpus, bound, add if total else max)
        import numpy as np

        least: NDArray[Any] = np.full(self._shape(), bound, np.int64)
        least[(0,) * least.ndim] = 0
        combined = np.add if total else np.maximum
        for contents in self._contents_of(cpus, bound):
            after = np.full_like(least, bound)
            for content, cost in contents.items():
                self._check()
                before, there = self._slices(content)
                np.minimum(after[there], combined(least[before], cost), out=after[there])
            least = after
        return int(least[self.counts])

    @property
    def _are_few(self) -> bool:
        """Whether plain Python is fast enough: loading numpy takes longer."""
        return prod(count + 1 for count in self.counts) <= FEW_HOLDINGS

    def _least_of_few(
        self, cpus: Sequence[Start], bound: int, combined: Callable[[int, int], int]
    ) -> int:
        """Return the least objective; the bound itself if none is less."""
        nothing = (0,) * len(self.counts)
        least = {nothing: 0}
        for contents in self._contents_of(cpus, bound):
            after: dict[Content, int] = {}
            for (held, value), (content, cost) in product(least.items(), contents.items()):
                both = tuple(map(add, held, content))
                if all(map(le, both, self.counts)):
                    after[both] = min(after.get(both, bound), combined(value, cost))
            least = after
        return least.get(self.counts, bound)

    def _shape(self) -> list[int]:
        """Return the numbers of tasks of each kind that CPUs can hold, 0 included."""
        shape = [count + 1 for count in self.counts]
        if prod(shape) > MOST_HOLDINGS:
            raise MethodError(TOO_LARGE)
        return shape

    def _slices(self, content: Content) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Return the places of what other CPUs can hold besides, and of both together."""
        pairs = list(zip(content, self.counts, strict=True))
        before = tuple(slice(0, count + 1 - number) for number, count in pairs)
        return before, tuple(slice(number, count + 1) for number, count in pairs)

    def _contents_of(self, cpus: Sequence[Start], bound: int) -> Iterator[Mapping[Content, int]]:
        """Yield what each CPU can hold at a cost below the bound, with its least cost."""
        by_start: dict[Start, Mapping[Content, int]] = {}
        sums = 0
        for start in cpus:
            if start not in by_start:
                by_start[start] = self._contents(start, bound)
            sums += len(by_start[start]) * prod(self._shape())
            if sums > MOST_SUMS:
                raise MethodError(TOO_LARGE)
            yield by_start[start]

    def _contents(self, start: Start, bound: int) -> dict[Content, int]:
        """Return the cost of the best order of each content, waits for releases included.

        To finish earlier is never worse, so that for each content only the earliest finish with
        each last kind matters (Held and Karp).
        """
        arrivals, idle = start
        ends = self.costs.finish
        nothing = (0,) * len(self.counts)
        contents = {nothing: idle} if idle < bound else {}
        layer: dict[Content, dict[int | None, int]] = {nothing: {None: 0}}
        states, room = 0, self._instance.room
        for _ in range(min(self._instance.tasks_per_cpu, sum(self.counts))):
            following: dict[Content, dict[int | None, int]] = defaultdict(dict)
            for content, finishes in layer.items():
                for kind, task in enumerate(self.examples):
                    if content[kind] == self.counts[kind]:
                        continue
                    if sum(map(mul, content, self.sizes)) + self.sizes[kind] > room:
                        continue
                    begin = min(
                        max(finish, task.release if self._timed else 0)
                        + (arrivals[kind] if last is None else self.costs.switch[last][kind])
                        for last, finish in finishes.items()
                    )
                    finish = begin + (task.exec if self._timed else 0)
                    if finish < bound:
                        more = (*content[:kind], content[kind] + 1, *content[kind + 1 :])
                        following[more][kind] = finish
                        states += 1
                self._check()
                if states > MOST_STATES:
                    raise MethodError(TOO_LARGE)
            for content, finishes in following.items():
                cost = min(finish + ends[last or 0] for last, finish in finishes.items())
                if cost < bound:
                    contents[content] = cost
            layer = following
        return contents
