"""A bound for tasks with sizes: what they would cost if they could be cut.

A task of size s becomes s tasks of size 1. Every schedule of the tasks is one of the pieces too, at
the same cost, wherever following one's own kind costs nothing: under g, and under a matrix with
zeros in its diagonal. Other diagonals are taken for zeros, which makes nothing cost more. There
:mod:`dfopt.solvers.parts` and the supports of :mod:`dfopt.solvers.matrix` are good at tasks of one
size, at any number. Their proofs speak of the size of fragments and of sets of types, so that they
hold as they are.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace

from dfopt.problem.certificate import (
    CompleteSearch,
    FullGroups,
    SupportProof,
    Supports,
    SupportSplit,
)
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from dfopt.problem.result import Progress, StopReason
from dfopt.solvers import parts
from dfopt.solvers.matrix import MOST_TYPES, choose_supports
from dfopt.solvers.search import Search, SearchOver

MOST_PIECES = 500_000
"""At most 500,000 pieces: more take too long to be named."""


def can_be_cut(instance: Instance) -> bool:
    """Return whether a bound by pieces is known for such instances."""
    return (
        instance.has_sizes
        and instance.objective is not Objective.MAKESPAN
        and (isinstance(instance.penalty, PenaltyG) or _has_few_types(instance))
        and instance.total_size <= MOST_PIECES
    )


def _has_few_types(instance: Instance) -> bool:
    """Return whether few types of a matrix are used."""
    is_matrix = isinstance(instance.penalty, PenaltyMatrix)
    return is_matrix and len({task.type for task in instance.tasks}) <= MOST_TYPES


def bound_by_pieces(search: Search, *, proves: bool = False) -> None:
    """Report the bound of the pieces.

    Parameters
    ----------
    search
        On an instance that can be cut.
    proves
        Whether to go on under g until the least cost of the pieces is known, or nothing more can be
        said. Otherwise the bound takes moments.
    """
    pieces = Search(
        _cut(search.instance), stop=lambda progress: _stop(search, progress), seed=search.seed
    )
    with suppress(SearchOver):
        try:
            if isinstance(search.instance.penalty, PenaltyMatrix):
                choose_supports(pieces)
            else:
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
    sizes = Counter[tuple[str | None, str | None]]()
    is_matrix = isinstance(instance.penalty, PenaltyMatrix)
    for task, size in zip(instance.tasks, instance.sizes, strict=True):
        group = (None, task.type) if is_matrix else (task.df, None)
        sizes[group] += size * task.multiplicity
    tasks = tuple(
        Task(id=str(number), df=df, type=name, count=size)
        for number, ((df, name), size) in enumerate(sizes.items())
    )
    penalty = instance.penalty
    if isinstance(penalty, PenaltyMatrix):
        rows = enumerate(penalty.switch)
        free = tuple(tuple(0 if a == b else cost for b, cost in enumerate(row)) for a, row in rows)
        penalty = replace(penalty, switch=free)
    return replace(instance, penalty=penalty, tasks=tasks, capacity=instance.room)


def _pass_on(search: Search, pieces: Search) -> None:
    certificate = pieces.certificate
    if isinstance(certificate, FullGroups | CompleteSearch) or (
        isinstance(certificate, Supports) and not _weighs_tasks(certificate.proof)
    ):
        search.proved(pieces.lower_bound, certificate)


def _weighs_tasks(proof: SupportProof) -> bool:
    """Return whether a proof has weights of tasks, which would be those of pieces."""
    if isinstance(proof, SupportSplit):
        return _weighs_tasks(proof.below) or _weighs_tasks(proof.above)
    return bool(proof.task_weights)
