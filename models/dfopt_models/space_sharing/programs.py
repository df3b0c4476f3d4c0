"""Programs: the threads of one run of a job, released as their predecessors end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain
from typing import Protocol

import numpy as np

Thread = tuple[float, int]
"""Seconds of work left, and the thread's number within its job."""

DONE: list[Thread] = []
"""The list that the end of a job's last thread returns."""


class ThreadProgram(Protocol):
    """The threads of one run of a job."""

    @property
    def work(self) -> float:
        """Seconds of work of all threads released so far."""

    def begin(self) -> list[Thread]:
        """Return the threads that wait for no other; the last of the list runs first."""

    def finish(self, number: int) -> list[Thread] | None:
        """Return the threads that the end of a thread releases; the last of the list runs first.

        None means that it releases no thread. An empty list means that all threads have ended.
        """


class Structure(Protocol):
    """How the threads of an application depend on each other, in all of its runs."""

    @property
    def most_parallel(self) -> int:
        """The most threads that can run at the same time."""

    def program(self, seed: int) -> ThreadProgram:
        """Return the threads of one run, drawn with this seed."""


class PhaseProgram:
    """Phases one after another: all threads of one must end before those of the next begin.

    A phase is made when it begins, so that a long program takes little memory.

    Parameters
    ----------
    phases
        The seconds of the threads of each phase.
    """

    __slots__ = ("_left", "_phases", "_released", "work")

    def __init__(self, phases: Iterator[list[float]]) -> None:
        self._phases = phases
        self._left = 0
        self._released = 0
        self.work = 0.0

    def begin(self) -> list[Thread]:
        """Return the threads of the first phase."""
        return self._next()

    def finish(self, number: int) -> list[Thread] | None:
        """Return the threads of the next phase once those of this one have ended."""
        self._left -= 1
        return None if self._left else self._next()

    def _next(self) -> list[Thread]:
        seconds = next(self._phases, None)
        if seconds is None:
            return DONE
        first = self._released
        self._left = len(seconds)
        self._released += len(seconds)
        self.work += sum(seconds)
        return list(zip(seconds, range(first, self._released), strict=True))


class GraphProgram:
    """Threads with their successors; each is released when its last predecessor ends.

    Parameters
    ----------
    seconds
        The work of each thread.
    successors
        The threads that wait for each thread.
    """

    __slots__ = ("_left", "_seconds", "_successors", "_waits_for", "work")

    def __init__(self, seconds: Sequence[float], successors: Sequence[Sequence[int]]) -> None:
        self._seconds = seconds
        self._successors = successors
        self._waits_for = Counter(chain.from_iterable(successors))
        self._left = len(seconds)
        self.work = sum(seconds)

    def begin(self) -> list[Thread]:
        """Return the threads without predecessors."""
        first = [thread for thread in range(self._left) if not self._waits_for[thread]]
        return [(self._seconds[thread], thread) for thread in reversed(first)]

    def finish(self, number: int) -> list[Thread] | None:
        """Return the successors that waited for this thread alone."""
        self._left -= 1
        if not self._left:
            return DONE
        released: list[Thread] = []
        for successor in reversed(self._successors[number]):
            self._waits_for[successor] -= 1
            if not self._waits_for[successor]:
                released.append((self._seconds[successor], successor))
        return released or None


def thread_seconds(
    random: np.random.Generator, count: int, mean: float, variation: float
) -> list[float]:
    """Return the work of some threads, in seconds.

    It follows a gamma distribution, which is never negative and can have any variation.

    Parameters
    ----------
    random
        Draws the work.
    count
        Number of threads.
    mean
        Mean of their work, in seconds.
    variation
        Coefficient of variation: standard deviation over mean. All threads are equal at 0, and
        also, to rounding, below the smallest difference of floats.
    """
    if variation < sys.float_info.epsilon:
        return [mean] * count
    shape = variation**-2
    drawn: list[float] = random.gamma(shape, mean / shape, count).tolist()
    return drawn


def time_at_levels(program: ThreadProgram, processors: int) -> list[float]:
    """Return the seconds in which 1, 2, … processors run threads of a program.

    No processor is idle while a thread is ready; ready threads run in the order of the simulation.
    """
    times = [0.0] * processors
    ready = program.begin()
    running: list[tuple[float, int]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < processors:
            work, number = ready.pop()
            heappush(running, (now + work, number))
        level = len(running) - 1
        end, number = heappop(running)
        times[level] += end - now
        now = end
        ready.extend(program.finish(number) or ())
    return times
