"""Lower bounds that cost next to nothing, each with its certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dfopt.bounds.arrivals import arrivals_bound
from dfopt.bounds.bound import NOTHING, Bound
from dfopt.bounds.idle import idle_bound
from dfopt.bounds.visits import Visits, area_bound, longest_task_bound, parts_bound
from dfopt.bounds.waiting import critical_path_bound
from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.task_types import TaskType
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix

__all__ = ["Bound", "best_of", "cheap_bound", "cheap_bounds"]

FEW_TYPES = 5_000
"""Up to 5,000 types the first bounds take less than 0.2 s."""


def cheap_bound(instance: Instance, types: Sequence[TaskType]) -> Bound:
    """Return the best of the bounds that need no search."""
    return best_of(cheap_bounds(instance, types))


def cheap_bounds(
    instance: Instance, types: Sequence[TaskType], check: Callable[[], None] = lambda: None
) -> Iterator[Bound]:
    """Yield the bounds that need no search; ``check`` may end the work by an exception."""
    yield idle_bound(instance)
    if not types:
        return
    yield critical_path_bound(instance)
    is_matrix = isinstance(instance.penalty, PenaltyMatrix)
    # The first bounds of a smaller instance take less time than a limit can tell.
    if is_matrix or len(types) > FEW_TYPES:
        check()
    if is_matrix:
        yield arrivals_bound(instance, types)
        return
    form = ClosedForm(instance, types)
    visits = Visits(instance=instance, types=types, form=form, check=check)
    yield area_bound(visits)
    yield parts_bound(visits)
    yield longest_task_bound(visits)


def best_of(bounds: Iterable[Bound]) -> Bound:
    """Return the best bound; among equal ones preferably one with a checkable certificate."""

    def quality(bound: Bound) -> tuple[int, bool]:
        return bound.value, not isinstance(bound.certificate, CompleteSearch)

    return max(bounds, key=quality, default=NOTHING)
