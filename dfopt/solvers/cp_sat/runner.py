"""Runs CP-SAT so that no bound, no schedule and no second is lost.

The solver works in a thread of its own while this one watches the clock and the keyboard, since
its own limits can overrun and its interrupt handling would hide Ctrl-C.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import ceil, ulp

from ortools.sat.python import cp_model

from dfopt.errors import MethodError
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Objective
from dfopt.solvers.interruptible import wait_for
from dfopt.solvers.search import Search

logger = logging.getLogger(__name__)

Expression = cp_model.LinearExpr | int
"""A sum, which may have no terms."""


class Model(ABC):
    """A CP-SAT model that can be read back.

    Parameters
    ----------
    search
        The instance, and the schedule that serves as a hint.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.model = cp_model.CpModel()

    @abstractmethod
    def orders(self, value: Callable[[cp_model.IntVar], int]) -> list[list[int]]:
        """Return the schedule that an assignment stands for, as orders of type numbers."""

    def boolean(self, name: str, *numbers: int) -> cp_model.IntVar:
        """Return a new variable that is 0 or 1."""
        return self.model.new_bool_var(f"{name}[{','.join(map(str, numbers))}]")

    def minimise(self, costs: Sequence[Expression], bounds: tuple[int, int]) -> None:
        """Minimise the objective for these costs of the CPUs, within ``bounds``."""
        value = self.model.new_int_var(*bounds, "objective")
        if self.search.instance.objective is Objective.TOTAL_PENALTY:
            # The objective is the sum of the CPUs' costs.
            self.model.add(value == sum(costs))
        else:
            # The objective is at least the cost of each CPU.
            for cost in costs:
                self.model.add(value >= cost)
        self.model.minimize(value)

    def known_orders(self) -> list[list[int]]:
        """Return the best schedule so far, in which full ones of alike CPUs come first."""
        schedule, groups = self.search.schedule, self.search.cpu_groups
        if schedule is None:
            return []
        orders = self.search.orders_of(schedule)
        fullest = sorted(range(len(orders)), key=lambda cpu: -len(orders[cpu]))
        sources = {
            group: iter([cpu for cpu in fullest if groups[cpu] == group]) for group in groups
        }
        return [orders[next(sources[group])] for group in groups]


class _Reporter(cp_model.CpSolverSolutionCallback):
    """Passes every solution on as it is found."""

    def __init__(self, model: Model, search: Search) -> None:
        super().__init__()
        self._model = model
        self._search = search

    def on_solution_callback(self) -> None:
        self._search.found(self._model.orders(self.value))


def minimise(
    search: Search,
    build: Callable[[tuple[int, int]], Model],
    check: Callable[[], None] | None = None,
    workers: int | None = None,
) -> None:
    """Minimise the objective of the model that ``build`` returns for a range of objectives.

    Only schedules better than the best one known are looked for: when there are none, that one
    is optimal.

    Parameters
    ----------
    search
        It knows a schedule; solutions and bounds are reported to it.
    build
        Returns the model.
    check
        Called every few milliseconds; what it raises ends the search. By default
        :meth:`Search.check <dfopt.solvers.search.Search.check>`.
    workers
        Number of threads that it may use; by default those of the search.
    """
    search.check()
    assert search.objective is not None, "CP-SAT starts from a schedule"
    bounds = (search.lower_bound, search.objective - 1)

    def report(bound: float) -> None:
        # The bound is about schedules better than the known one; beyond it that one stands.
        prove(search, min(_at_least(bound), bounds[1] + 1))

    status = _solve(search, lambda: build(bounds), report, check=check, workers=workers)
    # Nothing is better than the last schedule found, or than the one known if there was none.
    if status not in (cp_model.INFEASIBLE, cp_model.OPTIMAL):
        raise AssertionError(f"CP-SAT ended with status {status}")
    prove(search, search.objective)


def _at_least(bound: float) -> int:
    """Return an integer bound that holds; beyond 2^53 CP-SAT's floats are not all integers."""
    return ceil(bound - max(1e-6, ulp(bound)))


def decide(search: Search, build: Callable[[], Model], otherwise: int) -> bool:
    """Return whether the model has a solution; if not, ``otherwise`` is a lower bound."""
    if not is_solvable(search, build):
        prove(search, otherwise)
        return False
    return True


def is_solvable(search: Search, build: Callable[[], Model]) -> bool:
    """Return whether the model has a solution, which is then reported."""
    status = _solve(search, build, lambda bound: None)
    if status == cp_model.INFEASIBLE:
        return False
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE), f"CP-SAT ended with status {status}"
    return True


def attempt(search: Search, build: Callable[[], Model], effort: float) -> bool:
    """Try for a while to do as :func:`decide` does; schedules are reported.

    ``effort`` is in CP-SAT's deterministic time, about seconds of one thread.

    Returns
    -------
    bool
        Whether CP-SAT says that there is no schedule. The caller may have a proof of its own.
    """
    status = _solve(search, build, lambda bound: None, effort=effort)
    return bool(status == cp_model.INFEASIBLE)


def prove(search: Search, bound: int) -> None:
    """Report a bound that a complete search by CP-SAT gave."""
    search.proved(bound, CompleteSearch(threshold=bound - 1, solver="cp-sat"))


def _solve(  # noqa: PLR0913 - options by keyword
    search: Search,
    build: Callable[[], Model],
    on_bound: Callable[[float], None],
    *,
    effort: float | None = None,
    check: Callable[[], None] | None = None,
    workers: int | None = None,
) -> cp_model.CpSolverStatus:
    solver = cp_model.CpSolver()
    solver.parameters.random_seed = search.seed % 2**31
    solver.parameters.num_workers = workers or search.workers if effort is None else 1
    solver.parameters.catch_sigint_signal = False
    if effort is not None:
        solver.parameters.max_deterministic_time = effort
    elif solver.parameters.num_workers > 1:
        # These two raise the bound where the others stand still.
        solver.parameters.subsolvers.extend(["reduced_costs", "max_lp"])
    told_to_stop = threading.Event()

    def work() -> cp_model.CpSolverStatus:
        model = build()
        if model.model.validate():
            raise MethodError(
                "the costs are too large for CP-SAT, which adds them up in 64 bits; "
                "use a coarser time unit",
                place="penalty",
            )
        solver.best_bound_callback = on_bound
        if told_to_stop.is_set():
            return cp_model.UNKNOWN  # a solver that has not begun yet cannot be stopped
        logger.debug("%s with %d workers", type(model).__name__, solver.parameters.num_workers)
        status = solver.solve(model.model, _Reporter(model, search))
        logger.debug("ended as %s after %.2f s", status.name, solver.wall_time)
        return status

    def halt() -> None:
        told_to_stop.set()
        solver.stop_search()

    return wait_for(work, check or search.check, halt)
