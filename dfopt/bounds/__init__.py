"""Lower bounds that cost next to nothing, each with its certificate."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.bounds.arrivals import arrivals_bound
from dfopt.bounds.bound import NOTHING, Bound
from dfopt.bounds.visits import Visits, area_bound, longest_task_bound, parts_bound
from dfopt.bounds.waiting import critical_path_bound
from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.task_types import TaskType
from dfopt.problem.certificate import DualWeights
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix

__all__ = ["Bound", "cheap_bound"]


def cheap_bound(instance: Instance, types: Sequence[TaskType]) -> Bound:
    """Return the best of the bounds that need no search.

    Among equal bounds one with a certificate that can be checked is preferred.
    """
    if not types:
        return NOTHING
    bounds = [critical_path_bound(instance)]
    if isinstance(instance.penalty, PenaltyMatrix):
        bounds.append(arrivals_bound(instance, types))
    else:
        visits = Visits(instance=instance, types=types, form=ClosedForm(instance, types))
        bounds += [area_bound(visits), parts_bound(visits), longest_task_bound(visits)]
    return max(bounds, key=lambda bound: (bound.value, isinstance(bound.certificate, DualWeights)))
