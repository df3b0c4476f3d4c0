"""A bound for tasks with sizes under g: what they would cost if they could be cut.

A task of size s becomes s tasks of size 1. Every schedule of the tasks is one of the pieces too, at
the same cost, since under g only the fragments on a CPU count. Packing pieces is what
:mod:`dfopt.solvers.parts` is good at, at any size. Its proofs speak of fragments by their size, so
that they hold as they are.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from dfopt.problem.certificate import CompleteSearch, Over, Proof
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import Progress, StopReason
from dfopt.solvers import parts
from dfopt.solvers.search import Search, SearchOver
from dfopt.structs import replace

MOST_PIECES = 500_000
"""At most 500,000 pieces: more take too long to be named."""


def can_be_cut(instance: Instance) -> bool:
    """Return whether a bound by pieces is known for such instances."""
    return (
        instance.has_sizes
        and instance.objective is not Objective.MAKESPAN
        and isinstance(instance.penalty, PenaltyG)
        and instance.total_size <= MOST_PIECES
    )


def bound_by_pieces(search: Search, *, proves: bool = False) -> None:
    """Report the bound of the pieces.

    Parameters
    ----------
    search
        On an instance that can be cut.
    proves
        Whether to go on until the least cost of the pieces is known, or nothing more can be said.
        Otherwise the bound takes moments.
    """
    pieces = Search(
        _cut(search.instance), stop=lambda progress: _stop(search, progress), seed=search.seed
    )
    with suppress(SearchOver):
        try:
            parts.pack(pieces)
            if proves:
                parts.prove(pieces)
        finally:
            _pass_on(search, pieces)
    search.check()


def _stop(search: Search, progress: Progress) -> StopReason | None:
    """Return why the search for pieces shall end: its bound is enough, or time is up."""
    if search.objective is not None and progress.lower_bound >= search.objective:
        return StopReason.PROOF
    return search.stop_reason()


def _cut(instance: Instance) -> Instance:
    sizes = Counter[str | None]()
    for task, size in zip(instance.tasks, instance.sizes, strict=True):
        sizes[task.df] += size * task.multiplicity
    tasks = tuple(
        Task(id=str(number), df=df, count=size) for number, (df, size) in enumerate(sizes.items())
    )
    return replace(instance, tasks=tasks, capacity=instance.room)


def _pass_on(search: Search, pieces: Search) -> None:
    certificate = pieces.certificate
    is_of_groups = isinstance(certificate, Proof) and certificate.over is Over.GROUPS
    if certificate is not None and (is_of_groups or isinstance(certificate, CompleteSearch)):
        search.proved(pieces.lower_bound, certificate)
