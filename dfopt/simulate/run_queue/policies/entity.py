"""A thread as the schedulers with priority arrays know it."""

from __future__ import annotations


class Entity:
    """What the scheduler remembers about a thread.

    Attributes
    ----------
    static
        Its static priority, 100 to 139.
    priority
        Its dynamic priority.
    interactive
        It is interactive when its dynamic priority is at most this.
    interactive_sleep
        A longer sleep makes it interactive at once.
    time_slice, left
        Its time slice, and what is left of it as of ``run_time``.
    is_first_slice
        Whether it still lives on what its parent gave it.
    average, bonus
        Its sleep average, and what follows from it, 0 to ``max_bonus``.
    run_time
        What it had run in all when it was last charged.
    """

    __slots__ = (
        "average",
        "bonus",
        "interactive",
        "interactive_sleep",
        "is_first_slice",
        "left",
        "priority",
        "run_time",
        "static",
        "time_slice",
    )

    def __init__(self, static: int, time_slice: int) -> None:
        self.static = static
        self.priority = static
        self.interactive = static
        self.interactive_sleep = 0
        self.time_slice = time_slice
        self.left = time_slice
        self.is_first_slice = False
        self.average = 0
        self.bonus = 0
        self.run_time = 0
