"""The method ``auto``: it takes the other methods one after the other, cheap ones first.

:func:`phases` lists them for each form of instance. First comes a construction, then a local
search, then what proves; each gets a share of the time that is left. The methods themselves are
listed in :data:`dfopt.solvers.facade.METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import inf

from dfopt.problem.certificate import Leaf, Over, ProofRows, TaskClass
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers import parts
from dfopt.solvers.aggregation import has_moderate_sizes
from dfopt.solvers.cp_sat import solve_by_cp_sat
from dfopt.solvers.even_shares import counts_executions, share_evenly
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.matrix import (
    bound_by_flow,
    can_list_supports,
    choose_supports,
    has_many_types,
    pays_for_each_task,
)
from dfopt.solvers.search import Search
from dfopt.solvers.sizes.packings import refill
from dfopt.solvers.sizes.pieces import bound_by_pieces, can_be_cut
from dfopt.solvers.tour import can_be_toured, search_tours

Phase = tuple[float, Callable[[Search], object]]
"""A part of the search, and the share that it may take of the time that is left."""

ALL, MOST, HALF, TENTH = 1.0, 0.8, 0.5, 0.1

TINY = 9
"""With at most this number of tasks, enumeration is faster than loading a solver."""

SHORT_WALKS = 0.1
"""The effort of a local search that leaves time for proofs."""

MOST_BRANCHES = 2_000
"""At most this number of transportation problems are solved: as long as loading a solver takes."""

MOST_TYPES_OF_FLOWS = 1_000
"""Flows between more types take minutes."""

LARGEST_CIRCUITS = 2_000_000
"""CP-SAT gets at most this number of arcs; a larger model would only fill the memory."""


def solve_automatically(search: Search) -> None:
    """Run the phases that fit the instance, until bound and schedule meet.

    A phase that has come to its end is not run again.
    """
    ended = set()
    for share, phase in phases(search):
        if phase not in ended:
            with search.share(share):
                phase(search)
                ended.add(phase)
        search.check()


def phases(search: Search) -> Iterator[Phase]:
    """Yield what fits the instance, in order. OR-Tools comes where it must."""
    instance = search.instance
    if instance.is_timed:
        yield from _phases_with_waits(search)
    else:
        yield ALL, first_schedule.build
        if instance.task_count <= TINY and (instance.cpus > 1 or not order_is_known(instance)):
            yield ALL, solve_exhaustively
        elif order_is_known(instance):
            yield from _phases_of_known_orders(search)
        else:
            yield from _phases_under_a_matrix(search)


def _phases_of_known_orders(search: Search) -> Iterator[Phase]:
    """Yield the phases under f and g without releases and precedence."""
    instance = search.instance
    if parts.counts_parts(instance):
        yield HALF, parts.pack
    if instance.has_sizes:
        yield TENTH, _refill_and_cut
    if instance.cpus == 1:
        yield ALL, _prove_best_order
    yield TENTH, _search_locally
    if instance.has_sizes:
        yield HALF, _refill_and_cut
    if counts_executions(instance):
        yield MOST, partial(share_evenly, solve=solve_automatically)
    if has_moderate_sizes(search):
        yield ALL, _solve_by_configurations
    yield ALL, solve_by_cp_sat


def _phases_under_a_matrix(search: Search) -> Iterator[Phase]:
    """Yield the phases under a matrix without releases and precedence."""
    flows = len(search.types) <= MOST_TYPES_OF_FLOWS
    # One CPU runs all types, so that nothing is gained by supports.
    is_tour = can_be_toured(search)
    pays_for_each = pays_for_each_task(search)
    if not is_tour and not pays_for_each and not has_many_types(search):
        yield TENTH, choose_supports
    yield TENTH, _walk_shortly
    if flows and not is_tour:
        yield TENTH, partial(bound_by_flow, most_branches=1)
    if is_tour:
        yield ALL, search_tours
    else:
        if not can_list_supports(search):
            yield HALF, first_schedule.improve
        # Mostly a proof, where following one's own type is free.
        share = HALF if counts_executions(search.instance) else ALL
        yield TENTH if pays_for_each else share, choose_supports
    if can_be_cut(search.instance):
        yield TENTH, bound_by_pieces
    if counts_executions(search.instance):
        yield TENTH, partial(share_evenly, solve=_bound_under_a_matrix)
    if flows:
        yield TENTH, bound_by_flow
    yield TENTH, first_schedule.improve
    if pays_for_each and not is_tour:
        yield ALL, choose_supports
    yield HALF, first_schedule.improve
    if flows:
        yield TENTH, partial(bound_by_flow, most_branches=MOST_BRANCHES)
    yield ALL, _solve_by_circuits


def _phases_with_waits(search: Search) -> Iterator[Phase]:
    """Yield the phases for releases and precedence."""
    from dfopt.solvers.timed.solve import TimedSearch

    timed = TimedSearch(search)
    yield ALL, lambda _: timed.dispatch()
    if search.instance.task_count <= TINY and not search.instance.has_precedence:
        yield ALL, solve_exhaustively
    elif can_be_toured(search):
        yield ALL, search_tours
    yield ALL, lambda _: timed.solve()
    yield ALL, _solve_by_circuits


def order_is_known(instance: Instance) -> bool:
    """Return whether the cheapest order of a CPU's tasks is known in closed form."""
    return not isinstance(instance.penalty, PenaltyMatrix) and not instance.is_timed


def _search_locally(search: Search) -> None:
    """Search locally; with a second worker that goes on beside the proof."""
    search.enter("local search")
    first_schedule.improve(search, effort=0.5 if search.workers > 1 else 1.0)


def _walk_shortly(search: Search) -> None:
    first_schedule.improve(search, SHORT_WALKS)


def _bound_under_a_matrix(search: Search) -> None:
    """Bound what all CPUs pay together."""
    if not can_be_toured(search):
        with search.share(HALF):
            choose_supports(search)
    bound_by_flow(search)


def _solve_by_circuits(search: Search) -> None:
    """Prove by CP-SAT; with a limit, search on locally where the model would be too large."""
    is_large = search.instance.cpus * len(search.types) ** 2 > LARGEST_CIRCUITS
    while is_large and search.time_left < inf:
        first_schedule.improve(search)
    search.enter("CP-SAT")
    solve_by_cp_sat(search)


def _refill_and_cut(search: Search) -> None:
    """Improve schedules of tasks with sizes, and bound what they cost if they could be cut."""
    is_cut = can_be_cut(search.instance)
    if is_cut:
        bound_by_pieces(search)
    search.enter("filling CPUs anew")
    refill(search)
    if is_cut:
        search.enter("packing pieces of tasks")
        bound_by_pieces(search, proves=True)
    search.enter("filling CPUs anew")
    before = None
    while search.objective != before:
        before = search.objective
        refill(search)


def _solve_by_configurations(search: Search) -> None:
    load_module("dfopt.solvers.configuration", search.check)
    from dfopt.solvers.configuration import solve_by_configurations

    solve_by_configurations(search)


def _prove_best_order(search: Search) -> None:
    """Report the best order of all tasks on the only CPU, and that it cannot be improved.

    Below its cost not all n tasks fit, so that at most n − 1 do. Under total-penalty each of them
    is worth as much as that cost.
    """
    instance = search.instance
    every = {number: kind.count for number, kind in enumerate(search.types)}
    search.found([search.form.order(0, every)])
    best = search.objective
    if not best:
        return
    total = instance.objective is Objective.TOTAL_PENALTY
    worth = best if total else 1
    fragments = dict.fromkeys(str(task.df) for task in instance.tasks)
    rows = ProofRows(Over.CONTENTS)
    leaf = Leaf(
        weights=tuple((rows.of(TaskClass(df=df)), worth) for df in fragments),
        bin_weights=(worth * (instance.task_count - 1),),
    )
    search.proved(best, rows.proof([leaf], best - 1))
