"""The state of a search: its clock, best bound, best schedule and stopping criteria.

Solvers report here and nowhere else, so nothing that was found or proven is ever lost, whether
the search ends by proof, by a limit or by an interrupt.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from math import inf

from dfopt.checks import described
from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.task_types import TaskType, cost_table, cpu_groups, named_orders, task_types
from dfopt.errors import DfoptError
from dfopt.problem.certificate import Certificate, CompleteSearch, Counting, Proof
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance
from dfopt.problem.result import (
    FirstOf,
    Progress,
    SearchStep,
    StoppingCriterion,
    StopReason,
    time_limit,
)
from dfopt.problem.schedule import Schedule, evaluate
from dfopt.structs import Record, replace

_log = logging.getLogger(__name__)


class SearchOver(Exception):  # noqa: N818 - the normal end of every search, no error
    """Ends a search from wherever it is; raised by :meth:`Search.check`."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


class Knowledge(Record):
    """The knowledge about an instance at one moment, see :class:`~dfopt.problem.result.Result`."""

    lower_bound: int = 0
    certificate: Certificate | None = None
    objective: int | None = None
    schedule: Schedule | None = None
    history: tuple[SearchStep, ...] = ()

    @property
    def is_closed(self) -> bool:
        """Whether the bound meets the best schedule."""
        return self.objective is not None and self.objective <= self.lower_bound


class Search:
    """The common state of all solvers at work on one instance.

    Parameters
    ----------
    instance
        A feasible instance.
    stop
        When to end before the proof; by default never.
    on_progress
        Called after every improvement of bound or schedule and at every new phase, from any
        thread.
    seed
        Seed of everything random.
    workers
        A solver may use at most this number of threads.
    is_part
        Whether the instance is a part of another one. What is found there is not logged.
    """

    def __init__(  # noqa: PLR0913 - options by keyword
        self,
        instance: Instance,
        *,
        stop: StoppingCriterion | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        seed: int = 0,
        workers: int = 1,
        is_part: bool = False,
    ) -> None:
        self._started = time.monotonic()
        self.instance = instance
        self.types: tuple[TaskType, ...] = task_types(instance)
        self.cpu_groups: tuple[int, ...] = cpu_groups(instance, self.types)
        self.seed = seed
        self.workers = workers
        self.known = Knowledge()
        self._stop = stop or FirstOf()
        self._share_ends = time_limit(self._stop)
        self._on_progress = on_progress
        self._is_part = is_part
        self._lock = threading.Lock()
        self._ended = False
        self._phase = ""

    @cached_property
    def form(self) -> ClosedForm:
        """The closed form of F* for the types of the instance; under f and g only."""
        return ClosedForm(self.instance, self.types)

    @cached_property
    def costs(self) -> CostTable:
        """The costs between the types of the instance."""
        return cost_table(self.instance, self.types)

    @property
    def lower_bound(self) -> int:
        """The best bound so far."""
        return self.known.lower_bound

    @property
    def certificate(self) -> Certificate | None:
        """Why that bound holds; None while it is 0."""
        return self.known.certificate

    @property
    def objective(self) -> int | None:
        """The objective of the best schedule so far; None while there is none."""
        return self.known.objective

    @property
    def schedule(self) -> Schedule | None:
        """The best schedule so far; None while there is none."""
        return self.known.schedule

    @property
    def history(self) -> tuple[SearchStep, ...]:
        """Every improvement so far."""
        return self.known.history

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self._started

    @property
    def is_closed(self) -> bool:
        """Whether the bound meets the best schedule."""
        return self.known.is_closed

    def stop_reason(self) -> StopReason | None:
        """Return why the search shall end now; None while it shall go on."""
        known = self.known
        if known.is_closed:
            return StopReason.PROOF
        reason: object = self._stop(self._progress(known))
        if reason is None:
            return StopReason.TIME_LIMIT if self.elapsed >= self._share_ends else None
        # Users write criteria, and no result can have any other reason.
        if not isinstance(reason, StopReason) or reason is StopReason.PROOF:
            raise DfoptError(
                "must return a reason such as StopReason.TIME_LIMIT to end the search, or None to "
                f"go on, not {described(reason)}",
                place="stop",
            )
        return reason

    @property
    def time_left(self) -> float:
        """Seconds until the time limit, or until the end of the present share of it."""
        return self._share_ends - self.elapsed

    def over_of(self, time_left: float) -> float:
        """Return which part is over of the time that was left; 0 without a limit, 1 at most."""
        return min(1.0, 1 - self.time_left / time_left) if 0 < time_left < inf else 0.0

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """Give a block a part of the time that is left, and go on behind it when that is over.

        Without a time limit the block takes as long as it takes. Shares may stand in shares.
        """
        outer = self._share_ends
        self._share_ends = self.elapsed + part * self.time_left
        try:
            yield
        except SearchOver:
            self._share_ends = outer
            if self.stop_reason() is not None:
                raise
        finally:
            self._share_ends = outer

    def check(self) -> None:
        """Raise :class:`SearchOver` when the search shall end; solvers call this often."""
        reason = self.stop_reason()
        if reason is not None:
            raise SearchOver(reason)

    def check_limits(self) -> None:
        """Raise :class:`SearchOver` when a limit is reached, even after the proof."""
        reason = self._stop(self._progress(self.known))
        if reason is not None:
            raise SearchOver(reason)

    def size_of(self, tasks: Iterable[int]) -> int:
        """Return the size of tasks, given by their types, in units of the instance's sizes."""
        return sum(self.types[task_type].size for task_type in tasks)

    def contents(self) -> list[dict[int, int]]:
        """Return for each CPU how many tasks of each type the best schedule gives it."""
        assert self.schedule is not None
        return [dict(Counter(order)) for order in self.orders_of(self.schedule)]

    def orders_of(self, schedule: Schedule) -> list[list[int]]:
        """Return the orders of a schedule of the same tasks, as type numbers."""
        type_of = {
            name: index for index, task_type in enumerate(self.types) for name in task_type.names
        }
        return [[type_of[name] for name in cpu.tasks] for cpu in schedule.cpus]

    def found(self, orders: Sequence[Sequence[int]]) -> None:
        """Report a schedule, as orders of type numbers, one per CPU; keep it if it is better."""
        self._refuse_what_is_no_schedule(orders)
        schedule = evaluate(self.instance, named_orders(self.types, orders))
        value = schedule.value(self.instance.objective)
        with self._lock:
            if self.objective is None or value < self.objective:
                self._learn(replace(self.known, objective=value, schedule=schedule))
                self._tell("incumbent", "incumbent with objective %d", value)

    def proved(self, bound: int, certificate: Certificate) -> None:
        """Report that no schedule is better than ``bound``; keep it if it is news.

        A proof of the same bound is kept where the one so far cannot be checked.
        """
        with self._lock:
            if bound > self.lower_bound:
                self._learn(replace(self.known, lower_bound=bound, certificate=certificate))
                self._tell("bound", "lower bound %d by %s", bound, _reason(certificate))
            elif bound == self.lower_bound and not self._ended:
                known = isinstance(self.certificate, CompleteSearch)
                if known and not isinstance(certificate, CompleteSearch):
                    self.known = replace(self.known, certificate=certificate)

    def enter(self, phase: str) -> None:
        """Say what the search works on from now on; the phase is shown, but not kept."""
        with self._lock:
            self._phase = phase
            self._tell("phase", "phase: %s", phase)
            if self._on_progress is not None and not self._ended:
                self._on_progress(self._progress(self.known))

    def end(self) -> Knowledge:
        """Return the current knowledge; solvers that are still at work can no longer change it."""
        with self._lock:
            self._ended = True
            return self.known

    def _learn(self, known: Knowledge) -> None:
        if self._ended:
            return
        if known.objective is not None and known.lower_bound > known.objective:
            raise AssertionError(f"bound {known.lower_bound} above objective {known.objective}")
        progress = self._progress(known)
        # One store: an interrupt comes before it or after it.
        self.known = replace(known, history=(*known.history, progress.step))
        if self._on_progress is not None:
            self._on_progress(progress)

    def _tell(self, event: str, message: str, *values: object) -> None:
        """Log a message; its record holds what is known now, for those who draw a table of it."""
        if not self._ended and not self._is_part:
            about = {"event": event, "progress": self._progress(self.known)}
            _log.debug(message, *values, extra=about)

    def _progress(self, known: Knowledge) -> Progress:
        return Progress(
            time_s=self.elapsed,
            lower_bound=known.lower_bound,
            objective=known.objective,
            phase=self._phase,
        )

    def _refuse_what_is_no_schedule(self, orders: Sequence[Sequence[int]]) -> None:
        counts = Counter(chain.from_iterable(orders))
        if (
            len(orders) != self.instance.cpus
            or any(counts[index] != task_type.count for index, task_type in enumerate(self.types))
            or max(map(self.size_of, orders)) > self.instance.room
        ):
            raise AssertionError("a solver reported what is no schedule")


def _reason(certificate: Certificate) -> str:
    """Return the kind of proof of a bound, in a few words."""
    match certificate:
        case CompleteSearch(solver=solver):
            return f"a search ({solver})"
        case Proof(over=over, nodes=[_, _, *_] as nodes):
            return f"{over.words} in a tree of {len(nodes)} nodes"
        case Counting(argument=argument):
            return argument
    return certificate.words
