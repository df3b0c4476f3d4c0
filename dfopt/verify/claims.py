"""Checks that the claims of a result agree: status, objective, bound, gap, history."""

from __future__ import annotations

from collections.abc import Iterator

from dfopt.problem.instance import Instance
from dfopt.problem.result import Result, Status, StopReason, relative_gap

GAP_TOLERANCE = 1e-9
TIME_TOLERANCE = 1e-3

STOP_REASONS = {
    Status.OPTIMAL: {StopReason.PROOF, StopReason.GIVEN},
    Status.INFEASIBLE: {StopReason.PROOF, StopReason.GIVEN},
    Status.FEASIBLE: set(StopReason) - {StopReason.PROOF},
    Status.UNKNOWN: {StopReason.TIME_LIMIT, StopReason.INTERRUPT, StopReason.GIVEN},
}
"""The possible stop reasons of each status."""


def contradictions(instance: Instance, result: Result, objective: int | None) -> Iterator[str]:
    """Yield the claims that contradict the instance, the true ``objective`` or each other."""
    status = result.status
    if result.stop_reason not in STOP_REASONS[status]:
        yield f"stop_reason: '{result.stop_reason}' does not go with the status '{status}'"
    if status is Status.INFEASIBLE:
        empty = ["objective", "lower_bound", "gap", "schedule"]
        if not instance.has_sizes:
            empty.append("certificate")
            if not instance.missing_capacity:
                yield "status: is 'infeasible', but the CPUs have room for all tasks"
        for key in empty:
            if getattr(result, key) is not None:
                yield f"{key}: must be null where the status is 'infeasible'"
        return
    scheduled = status is not Status.UNKNOWN
    for key in ("objective", "schedule", "gap"):
        if (getattr(result, key) is not None) is not scheduled:
            need = "must not" if scheduled else "must"
            yield f"{key}: {need} be null where the status is '{status}'"
    if objective is not None and result.objective != objective:
        yield f"objective: is {result.objective}, but the schedule's is {objective}"
    if result.lower_bound is None:
        yield f"lower_bound: must not be null where the status is '{status}'"
    elif result.lower_bound < 0:
        yield f"lower_bound: is {result.lower_bound}, but no cost is negative; 0 always holds"
    elif result.objective is not None:
        yield from _bound_and_objective(result, result.lower_bound, result.objective)


def _bound_and_objective(result: Result, bound: int, objective: int) -> Iterator[str]:
    if bound > objective:
        yield f"lower_bound: is {bound}, more than the objective {objective}"
    elif result.status is Status.OPTIMAL and bound < objective:
        yield f"status: is 'optimal', but the lower bound is {bound} and the objective {objective}"
    elif (
        result.status is Status.FEASIBLE
        and bound == objective
        and result.stop_reason is not StopReason.GIVEN
    ):
        yield "status: is 'feasible', but the lower bound meets the objective: it is 'optimal'"
    gap = relative_gap(objective, bound)
    if result.gap is not None and gap is not None and not abs(result.gap - gap) <= GAP_TOLERANCE:
        yield f"gap: is {result.gap}, but objective and lower bound give {gap}"


def backslides(result: Result) -> Iterator[str]:
    """Yield times or bounds that fall, objectives that rise, and any beyond the result's."""
    time, bound, objective = 0.0, 0, None
    for position, step in enumerate(result.history):
        place = f"history[{position}]"
        if not step.time_s >= time:
            yield f"{place}.time_s: is {step.time_s}, after {time}"
        if step.lower_bound < bound:
            yield f"{place}.lower_bound: falls from {bound} to {step.lower_bound}"
        if result.lower_bound is None or step.lower_bound > result.lower_bound:
            yield f"{place}.lower_bound: is {step.lower_bound}, beyond {result.lower_bound}"
        if objective is not None and (step.objective is None or step.objective > objective):
            yield f"{place}.objective: rises from {objective} to {step.objective}"
        if step.objective is not None and (
            result.objective is None or step.objective < result.objective
        ):
            yield f"{place}.objective: is {step.objective}, beyond {result.objective}"
        time, bound, objective = step.time_s, step.lower_bound, step.objective
    if result.history and (bound, objective) != (result.lower_bound, result.objective):
        yield (
            f"history: ends at {bound} and {objective}, but the result has "
            f"{result.lower_bound} and {result.objective}"
        )
    if result.wall_time_s is not None and not time <= result.wall_time_s + TIME_TOLERANCE:
        yield f"wall_time_s: is {result.wall_time_s}, but the history goes on until {time}"
