"""What a search knows so far: clock, best bound, best schedule, and when to end.

Solvers report here and nowhere else, so nothing that was found or proven is ever lost, whether
the search ends by proof, by a limit or by an interrupt.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from dfopt.certificate import Certificate
from dfopt.instance import Instance
from dfopt.result import Progress, StopReason
from dfopt.schedule import Schedule, evaluate
from dfopt.stop import FirstOf, StoppingCriterion
from dfopt.task_types import TaskType, cpu_groups, named_orders, task_types


class SearchOver(Exception):  # noqa: N818 - the normal end of every search, no error
    """Ends a search from wherever it is; raised by :meth:`Search.check`."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


class Search:
    """The common state of all solvers at work on one instance.

    Parameters
    ----------
    instance
        A feasible instance.
    stop
        When to end before the proof; by default never.
    on_progress
        Called after every improvement of bound or schedule, from any thread.
    seed
        Seed of everything random.
    workers
        How many threads a solver may use.
    """

    def __init__(
        self,
        instance: Instance,
        *,
        stop: StoppingCriterion | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        seed: int = 0,
        workers: int = 1,
    ) -> None:
        self.instance = instance
        self.types: tuple[TaskType, ...] = task_types(instance)
        self.cpu_groups: tuple[int, ...] = cpu_groups(instance, self.types)
        self.seed = seed
        self.workers = workers
        self.lower_bound = 0
        self.certificate: Certificate | None = None
        self.schedule: Schedule | None = None
        self.objective: int | None = None
        self.history: list[Progress] = []
        self._stop = stop or FirstOf()
        self._on_progress = on_progress
        self._started = time.monotonic()
        self._lock = threading.Lock()

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self._started

    @property
    def is_closed(self) -> bool:
        """Whether the bound meets the best schedule."""
        return self.objective is not None and self.objective <= self.lower_bound

    def stop_reason(self) -> StopReason | None:
        """Return why the search shall end now; None while it shall go on."""
        if self.is_closed:
            return StopReason.PROOF
        return self._stop(self._progress())

    def check(self) -> None:
        """Raise :class:`SearchOver` when the search shall end; solvers call this often."""
        reason = self.stop_reason()
        if reason is not None:
            raise SearchOver(reason)

    def found(self, orders: Sequence[Sequence[int]]) -> None:
        """Report a schedule, as orders of type numbers, one per CPU; keep it if it is better."""
        schedule = evaluate(self.instance, named_orders(self.types, orders))
        value = schedule.value(self.instance.objective)
        with self._lock:
            if self.objective is not None and value >= self.objective:
                return
            self.schedule, self.objective = schedule, value
            self._record()

    def proved(self, bound: int, certificate: Certificate) -> None:
        """Report that no schedule is better than ``bound``; keep it if it is news."""
        with self._lock:
            if bound <= self.lower_bound:
                return
            self.lower_bound, self.certificate = bound, certificate
            self._record()

    def _record(self) -> None:
        self.history.append(self._progress())
        if self._on_progress is not None:
            self._on_progress(self.history[-1])

    def _progress(self) -> Progress:
        return Progress(time_s=self.elapsed, lower_bound=self.lower_bound, objective=self.objective)
