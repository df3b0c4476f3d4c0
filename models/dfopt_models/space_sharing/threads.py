"""Threads and what they wait for: what a job's structure looks like to the machine that runs it."""

from __future__ import annotations

from typing import Protocol

Thread = tuple[float, int]
"""Seconds of work left, and the thread's number within its job."""

DONE: list[Thread] = []
"""What the last thread of a job releases."""


class Program(Protocol):
    """The threads of one run of a job, released as their predecessors end."""

    @property
    def work(self) -> float:
        """Seconds of work of all threads released so far."""

    def begin(self) -> list[Thread]:
        """Return the threads that wait for nothing; the last of the list runs first."""

    def finish(self, number: int) -> list[Thread] | None:
        """Return what the end of a thread releases.

        None: nothing. An empty list: all threads have ended. A list: these threads, of which the
        last runs first.
        """


class Structure(Protocol):
    """What the programs of all runs of an application have in common."""

    @property
    def most_parallel(self) -> int:
        """Most threads that can run at any time."""

    def program(self, seed: int) -> Program:
        """Return the threads of one run, drawn with this seed."""
