"""Runs CP-SAT so that no bound, no schedule and no second is lost.

The solver works in a thread of its own while this one watches the clock and the keyboard, since
its own limits can overrun and its interrupt handling would hide Ctrl-C.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import ceil
from typing import Protocol

from ortools.sat.python import cp_model

from dfopt.certificate import Search as SearchCertificate
from dfopt.solvers.search import Search, SearchOver

WATCH_EVERY_S = 0.02
PATIENCE_S = 0.5
"""How long a solver that was told to stop may take before it is left to itself."""


class Model(Protocol):
    """A CP-SAT model that can be read back."""

    model: cp_model.CpModel

    def orders(self, value: Callable[[cp_model.IntVar], int]) -> list[list[int]]:
        """Return the schedule that an assignment stands for, as orders of type numbers."""
        ...


class _Reporter(cp_model.CpSolverSolutionCallback):
    """Passes every solution on as it is found."""

    def __init__(self, model: Model, search: Search) -> None:
        super().__init__()
        self._model = model
        self._search = search

    def on_solution_callback(self) -> None:
        self._search.found(self._model.orders(self.value))


def run(search: Search, build: Callable[[tuple[int, int]], Model]) -> None:
    """Solve the model that ``build`` returns for the objectives still in question.

    Only schedules better than the best one known are looked for: when there are none, that one
    is optimal.
    """
    if search.objective is None:
        raise AssertionError("CP-SAT starts from a schedule")
    bounds = (search.lower_bound, search.objective - 1)
    solver = cp_model.CpSolver()
    solver.parameters.random_seed = search.seed % 2**31
    solver.parameters.num_workers = search.workers
    solver.parameters.catch_sigint_signal = False
    outcome: list[cp_model.CpSolverStatus] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            model = build(bounds)
            solver.best_bound_callback = lambda bound: prove(bound)
            outcome.append(solver.solve(model.model, _Reporter(model, search)))
        except BaseException as error:  # noqa: BLE001 - raised again in the watching thread
            failure.append(error)

    def prove(bound: float) -> None:
        # The bound holds for schedules better than the known one; beyond it that one stands.
        proven = min(ceil(bound - 1e-6), bounds[1] + 1)
        search.proved(proven, SearchCertificate(threshold=proven - 1, solver="cp-sat"))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(WATCH_EVERY_S)
            if worker.is_alive():
                search.check()
    except (SearchOver, KeyboardInterrupt):
        solver.stop_search()
        worker.join(PATIENCE_S)
        raise
    if failure:
        raise failure[0]
    match outcome[0]:
        case cp_model.INFEASIBLE:
            prove(bounds[1] + 1)
        case cp_model.OPTIMAL:
            prove(solver.best_objective_bound)
        case _:
            prove(solver.best_objective_bound)
            search.check()
            raise AssertionError(f"CP-SAT ended with {solver.status_name(outcome[0])}")
