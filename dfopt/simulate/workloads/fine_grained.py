"""The fine-grained array: very many threads, each of which counts in its part of an array.

Debattista, Vella and Cordina, *Cache-affinity scheduling for fine grain multithreading*,
section 7 and figure 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from random import Random
from typing import ClassVar

from dfopt.errors import InstanceError
from dfopt.problem.cache import DIRTY
from dfopt.simulate.steps import Yield, spawn_all
from dfopt.simulate.workload import Burst, NewThread, Step, Workload, check_number
from dfopt.structs import Checked, Natural, Positive

YIELD = Yield()


class FineGrained(Checked):
    """A main thread makes one thread for every ``granularity`` integers of an array.

    Thread i goes through its integers ``process_length`` times, adds 1 to each, and yields after
    every pass, the last one included; so its end takes another turn, which costs nothing. All of
    the array is worked on, whatever the granularity.

    A data fragment is the least stretch of the array that no other thread touches a line of: one
    line, where a thread has less than a line, or else the thread's lines; with it go the stacks
    of the threads that work on it. Making a thread does not touch its stack.

    Parameters
    ----------
    array_size
        ARRAY_SIZE: integers of the array.
    granularity
        GRANULARITY: integers of a thread. They fill whole lines, or a line holds those of a whole
        number of threads.
    process_length
        PROCESS_LENGTH: passes of a thread.
    integer_size, line_size
        Bytes of an integer, and of a cache line.
    stack_lines
        Lines of its own stack that a thread touches in every pass.
    increment_time
        Execution time of one increment, a loop's turn included.
    creation_time
        Execution time of the main thread to make another one.
    """

    name: ClassVar[str] = "fine-grained"

    array_size: Positive = 2**18
    granularity: Positive = 1
    process_length: Positive = 16
    integer_size: Positive = 4
    line_size: Positive = 32
    stack_lines: Natural = 2
    increment_time: Positive = 4
    creation_time: Natural = 600

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.array_size % self.granularity:
            raise InstanceError(
                f"is {self.granularity}, which does not divide the array_size {self.array_size}",
                place="granularity",
            )
        part = self.granularity * self.integer_size
        if part % self.line_size and self.line_size % part:
            raise InstanceError(
                f"is {self.granularity}: {part} bytes neither fill whole lines of "
                f"{self.line_size} bytes nor divide one",
                place="granularity",
            )
        check_number(self.threads, "threads", "array_size")

    @property
    def threads(self) -> int:
        """Number of threads, apart from the main one."""
        return self.array_size // self.granularity

    @property
    def array_lines(self) -> int:
        """Lines of the array that a thread touches."""
        return -(-self.granularity * self.integer_size // self.line_size)

    @property
    def threads_of_fragment(self) -> int:
        """Number of threads that share a fragment."""
        return max(1, self.line_size // (self.granularity * self.integer_size))

    def build(self, random: Random) -> Workload:
        """Return a fresh workload; nothing in it is random."""
        fragments = -(-self.threads // self.threads_of_fragment)
        size = self.array_lines + self.threads_of_fragment * self.stack_lines
        steps = spawn_all(self._threads(size), self.creation_time)
        return Workload(
            threads=(NewThread(name="main", steps=steps),),
            fragments=tuple(f"part{number}" for number in range(fragments)),
            sizes=(size,) * fragments,
        )

    def _threads(self, size: int) -> Iterator[NewThread]:
        time = self.granularity * self.increment_time
        array_lines, stack_lines = self.array_lines, self.stack_lines
        lines = array_lines + stack_lines
        for number in range(self.threads):
            fragment, place = divmod(number, self.threads_of_fragment)
            first = fragment * size
            array = (first, array_lines)
            stack = (first + array_lines + place * stack_lines, stack_lines)
            one_pass = Burst(time, fragment, lines, DIRTY, extents=(array, stack))
            # No generator for each thread, since there are very many.
            turn: tuple[Burst | Step, ...] = (one_pass, YIELD)
            steps = chain.from_iterable(repeat(turn, self.process_length))
            yield NewThread(name=f"thread{number}", steps=steps)
