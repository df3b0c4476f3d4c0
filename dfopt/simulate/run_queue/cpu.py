"""A CPU as the engine sees it: what runs there, and the dispatch that is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt.simulate.run_queue.steps import CLEAN, UNMANAGED

if TYPE_CHECKING:
    from dfopt.simulate.run_queue.thread import Thread

CANCELLED = -1
"""Number of the event that a CPU waits for while it waits for none."""


class Cpu:
    """A CPU.

    Attributes
    ----------
    number
        Which.
    due
        Number of the event it waits for.
    begins
        When the burst that runs began, or goes on, after its penalty.
    slice
        What is left of the time slice then.
    is_taken
        Whether its thread leaves it at the end of the penalty.
    free_at
        Until when it has been busy.
    row_thread
        The thread whose dispatch is open; when it has left the CPU, it may still go on. None:
        there is none. What else begins with ``row_`` belongs to that dispatch.
    """

    __slots__ = (
        "begins",
        "due",
        "free_at",
        "is_taken",
        "number",
        "row_end",
        "row_fragment",
        "row_leaves",
        "row_lines",
        "row_start",
        "row_thread",
        "slice",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.due = CANCELLED
        self.begins = 0
        self.slice = 0
        self.is_taken = False
        self.free_at = 0
        self.row_thread: Thread | None = None
        self.row_start = 0
        self.row_end = 0
        self.row_fragment = UNMANAGED
        self.row_lines = 0
        self.row_leaves = CLEAN
