"""The method ``auto``: it takes the other methods one after the other, cheap ones first.

:func:`solve_automatically` says which one it takes when. The methods themselves are listed in
:data:`dfopt.solvers.facade.METHODS`.
"""

from __future__ import annotations

import time
from contextlib import suppress

from dfopt.problem.certificate import DualWeights, TaskClass
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers import parts
from dfopt.solvers.aggregation import Aggregation, has_moderate_sizes
from dfopt.solvers.compilation import machine_code
from dfopt.solvers.compilation.compiled import TooSlow, as_plain_python
from dfopt.solvers.cp_sat import counts_parts, solve_by_cp_sat
from dfopt.solvers.even_shares import counts_executions, share_evenly
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.interruptible import SECONDS_PER_CHECK, load_module
from dfopt.solvers.matrix import bound_by_flow, choose_supports, has_many_types, improve_schedule
from dfopt.solvers.search import Search
from dfopt.solvers.sizes.pieces import bound_by_pieces, can_be_cut
from dfopt.solvers.sizes.refilling import refill
from dfopt.solvers.timed_branch_and_bound import BranchAndBound
from dfopt.solvers.tour import can_be_toured, search_tours

TINY = 9
"""With at most this number of tasks, enumeration is faster than loading a solver."""

FEW_TASKS = 30
"""The orders of at most 30 tasks are searched in plain Python."""

FIRST_LOOK = 0.05
"""The effort of the first look, as a share of a whole local search."""

MOST_BRANCHES = 2_000
"""At most this number of transportation problems are solved: as long as loading a solver takes."""

FEW_WAITING = 12
"""With at most 12 tasks, some of which wait, plain Python may find and prove the optimum."""

MOST_WAITING = 500
"""Annealing and layers are for at most 500 tasks."""

MOST_NODES = 20_000
"""At most this number of partial schedules: they take about as long as loading a solver."""


PLAIN_PYTHON_S = 2.0
"""Seconds of processor time that plain Python gets in the first solve after an installation."""


def order_is_known(instance: Instance) -> bool:
    """Return whether the cheapest order of a CPU's tasks is known in closed form."""
    return not isinstance(instance.penalty, PenaltyMatrix) and not instance.is_timed


class CompilerHasEnded(Exception):  # noqa: N818 - good news
    """Ends the search without machine code."""


def _solve_without_machine_code(search: Search) -> None:
    """Search until another process has compiled the loops of local search and pricing.

    Small instances close in plain Python. For the others CP-SAT raises the bound meanwhile.
    """
    from dfopt.solvers.configuration.configuration_search import LARGEST_MODEL, ConfigurationSearch

    search.enter("plain Python while a compiler runs")
    with suppress(TooSlow), as_plain_python(PLAIN_PYTHON_S, search.check):
        ConfigurationSearch(search).solve()
    search.enter("first schedules while a compiler runs")
    first_schedule.improve(search)

    def check() -> None:
        search.check()
        if machine_code.LOOPS.is_ready(search.check):
            raise CompilerHasEnded

    with suppress(CompilerHasEnded):
        if len(Aggregation.of(search).classes) * search.instance.cpus <= LARGEST_MODEL:
            from dfopt.solvers.cp_sat.count_model import CountModel
            from dfopt.solvers.cp_sat.runner import minimise

            search.enter("CP-SAT while a compiler runs")
            # One thread less than usual: the compiler needs a processor too.
            workers = max(1, search.workers - 1)
            minimise(search, lambda bounds: CountModel(search, bounds), check, workers)
        search.enter("compiling, once after an installation")
        while True:
            check()
            time.sleep(SECONDS_PER_CHECK)


def _prove_best_order(search: Search) -> None:
    """Report that the best order of all tasks on the only CPU cannot be improved.

    Below its cost not all n tasks fit, so that at most n − 1 do. Under total-penalty each of them
    is worth as much as that cost.
    """
    best, instance = search.objective, search.instance
    assert best is not None
    if not best:
        return
    total = instance.objective is Objective.TOTAL_PENALTY
    worth = best if total else 1
    fragments = dict.fromkeys(str(task.df) for task in instance.tasks)
    search.proved(
        best,
        DualWeights(
            bin_weights=(worth * (instance.task_count - 1),),
            weights=tuple((TaskClass(df=df), worth) for df in fragments),
            threshold=None if total else best - 1,
            lower_bound=best if total else None,
        ),
    )


def _look_at_matrix(search: Search) -> None:
    """Solve instances with a matrix that have few types or one CPU; bound the others."""
    is_tiny = search.instance.task_count <= TINY
    is_tour = can_be_toured(search)
    # One CPU runs all types, so that nothing is gained by supports but where they are few.
    if not is_tiny and not search.instance.is_timed and not (is_tour and has_many_types(search)):
        choose_supports(search)
        search.check()
    if not is_tiny and is_tour:
        search_tours(search)
        search.check()
    if not search.instance.is_timed:
        bound_by_flow(search)
        search.check()


def _solve_with_waits(search: Search) -> bool:
    """Return whether a search for tasks that wait was completed."""
    is_small = search.instance.task_count <= FEW_WAITING
    if is_small and BranchAndBound(search).run(MOST_NODES):
        return True
    if search.instance.task_count > MOST_WAITING:
        return False
    load_module("dfopt.solvers.timed.solve", search.check)
    from dfopt.solvers.timed.solve import TimedSearch

    return TimedSearch(search).solve()


def _look_at_sizes(search: Search) -> None:
    """Improve schedules of tasks with sizes, and bound what they cost if they could be cut."""
    if can_be_cut(search.instance):
        bound_by_pieces(search)
    is_matrix = isinstance(search.instance.penalty, PenaltyMatrix)
    if is_matrix and not search.instance.is_timed and not has_many_types(search):
        choose_supports(search)
        search.check()
    if search.instance.task_count <= TINY or not order_is_known(search.instance):
        return
    search.enter("filling CPUs anew")
    refill(search)
    if can_be_cut(search.instance):
        search.enter("packing pieces of tasks")
        bound_by_pieces(search, proves=True)
    search.enter("filling CPUs anew")
    before = None
    while search.objective != before:
        before = search.objective
        refill(search)


def _solve_the_rest(search: Search, *, is_ordered: bool) -> None:
    """Solve what is left: by configurations where orders have a closed form, or by CP-SAT."""
    if is_ordered and has_moderate_sizes(search):
        load_module("dfopt.solvers.configuration", search.check)
        from dfopt.solvers.configuration import solve_by_configurations

        if not machine_code.LOOPS.is_ready(search.check):
            _solve_without_machine_code(search)
        solve_by_configurations(search)
    else:
        if not is_ordered and not search.instance.is_timed:
            improve_schedule(search)
            bound_by_flow(search, most_branches=MOST_BRANCHES)
            search.check()
        search.enter("CP-SAT")
        solve_by_cp_sat(search)


def solve_automatically(search: Search) -> None:
    """Run the methods that fit, cheap ones first, until bound and schedule meet.

    OR-Tools and machine code are loaded only for what simpler methods leave open.
    """
    # 1. Heuristics. With the cheap bounds they close many instances at once.
    is_ordered = order_is_known(search.instance)
    has_sizes = search.instance.has_sizes
    search.enter("first schedules")
    if counts_parts(search):
        parts.pack(search)
        search.check()
    if has_sizes:
        _look_at_sizes(search)
    elif isinstance(search.instance.penalty, PenaltyMatrix):
        _look_at_matrix(search)
    count = search.instance.task_count
    if is_ordered or (
        # List scheduling gives better first schedules of tasks that wait.
        not FEW_WAITING < count <= MOST_WAITING if search.instance.is_timed else count <= FEW_TASKS
    ):
        first_schedule.improve(search, effort=FIRST_LOOK)
        search.check()
    # 2. With one CPU the best order of its tasks is all there is to decide.
    if search.instance.cpus == 1 and is_ordered:
        _prove_best_order(search)
        return
    # 3. Tiny instances: a complete search in plain Python.
    if search.instance.is_timed:
        if _solve_with_waits(search):
            return
    elif search.instance.task_count <= TINY:
        solve_exhaustively(search)
        return
    # 4. Under makespan: an even share of the least total penalty, and CPUs that are evened out.
    if counts_executions(search.instance):
        share_evenly(search, solve_automatically if is_ordered else _look_at_matrix)
    _solve_the_rest(search, is_ordered=is_ordered)
