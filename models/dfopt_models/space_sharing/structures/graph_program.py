"""Programs of threads that wait for any others."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt_models.space_sharing.threads import DONE, Thread


class GraphProgram:
    """Threads with their successors; each is released when its last predecessor ends.

    Parameters
    ----------
    seconds
        The work of each thread.
    successors
        Of each thread.
    predecessors
        How many each thread waits for.
    """

    __slots__ = ("_left", "_seconds", "_successors", "_waits_for", "work")

    def __init__(
        self,
        seconds: Sequence[float],
        successors: Sequence[Sequence[int]],
        predecessors: Sequence[int],
    ) -> None:
        self._seconds = seconds
        self._successors = successors
        self._waits_for = list(predecessors)
        self._left = len(seconds)
        self.work = sum(seconds)

    def begin(self) -> list[Thread]:
        """Return the threads without predecessors."""
        first = [number for number, waits in enumerate(self._waits_for) if not waits]
        return [(self._seconds[number], number) for number in reversed(first)]

    def finish(self, number: int) -> list[Thread] | None:
        """Return the successors of a thread that waited for it alone."""
        self._left -= 1
        if not self._left:
            return DONE
        released: list[Thread] = []
        for successor in reversed(self._successors[number]):
            self._waits_for[successor] -= 1
            if not self._waits_for[successor]:
                released.append((self._seconds[successor], successor))
        return released or None
