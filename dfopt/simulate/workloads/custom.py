"""The custom benchmark: threads that compute on common data and never sleep.

Pinter and Zalmanovici, *Data sharing conscious scheduling for multi-threaded applications on SMP
machines*, section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import repeat
from random import Random
from typing import ClassVar

from dfopt.problem.cache import DIRTY
from dfopt.simulate.steps import spawn_all
from dfopt.simulate.workload import Burst, NewThread, Workload, check_number
from dfopt.structs import Checked, Natural, Positive


class FragmentOrder(StrEnum):
    """Which thread works on which fragment."""

    IN_TURN = "in-turn"
    SHUFFLED = "shuffled"


class Custom(Checked):
    """Threads started in a loop by a main thread, each on one fragment.

    Parameters
    ----------
    threads
        Number of threads.
    fragments
        Number of data fragments.
    fragment_order
        Whether thread i works on fragment i mod ``fragments``, or these are dealt out in a random
        order; the paper does not say.
    fragment_lines
        Lines of each. The paper's sizes, 1000 to 20000, have no unit.
    iterations
        Iterations of each thread's loop.
    iteration_time
        Execution time of one iteration; 700 ns is what the paper's fastest runs come to.
    burst_iterations
        Number of iterations in which a thread touches all of its fragment. Caches of lines see
        the fragment once in this number of iterations.
    spawn_time
        Execution time of the main thread to start another one.
    """

    name: ClassVar[str] = "custom"

    threads: Positive = 8
    fragments: Positive = 4
    fragment_order: FragmentOrder = FragmentOrder.IN_TURN
    fragment_lines: Natural = 1_000
    iterations: Positive = 10_000_000
    iteration_time: Positive = 700
    burst_iterations: Positive = 10_000
    spawn_time: Positive = 20_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.threads, "threads", "threads")
        check_number(self.fragments, "fragments", "fragments")

    def build(self, random: Random) -> Workload:
        """Return a fresh workload."""
        order = [number % self.fragments for number in range(self.threads)]
        if self.fragment_order is FragmentOrder.SHUFFLED:
            random.shuffle(order)
        steps = spawn_all(self._threads(order), self.spawn_time)
        return Workload(
            threads=(NewThread(name="main", steps=steps),),
            fragments=tuple(f"data{number}" for number in range(self.fragments)),
            sizes=(self.fragment_lines,) * self.fragments,
        )

    def _threads(self, order: list[int]) -> Iterator[NewThread]:
        for number, fragment in enumerate(order):
            yield NewThread(name=f"thread{number}", steps=self._steps(fragment))

    def _steps(self, fragment: int) -> Iterator[Burst]:
        times, rest = divmod(self.iterations, self.burst_iterations)
        yield from repeat(self._burst(self.burst_iterations, fragment), times)
        if rest:
            yield self._burst(rest, fragment)

    def _burst(self, iterations: int, fragment: int) -> Burst:
        time = iterations * self.iteration_time
        return Burst(time, fragment, self.fragment_lines, DIRTY)
