"""Checks that a certificate proves the lower bound of a result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dfopt.errors import MethodError
from dfopt.problem.certificate import (
    Certificate,
    CompleteSearch,
    DualWeights,
    Exhaustive,
    Supports,
    TaskClass,
)
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix
from dfopt.problem.result import Result
from dfopt.verify.enumeration import has_schedule_below, most_tasks
from dfopt.verify.supports import false_supports
from dfopt.verify.visits import most_by_visits


@dataclass(slots=True)
class BoundCheck:
    """What came of checking a bound: proven here, or what is wrong or could not be checked."""

    checked: bool = False
    problems: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def check_bound(instance: Instance, result: Result) -> BoundCheck:
    """Check that no schedule is better than the lower bound of ``result``."""
    bound, certificate = result.lower_bound, result.certificate
    if bound is None:  # nothing but the capacity can show that there is no schedule
        return BoundCheck(checked=instance.missing_capacity > 0)
    if bound <= 0:
        check = BoundCheck(checked=bound == 0)
        if certificate is not None:
            check.problems.append("certificate: must be null, because the lower bound 0 needs none")
        return check
    if certificate is None:
        return BoundCheck(unchecked=[f"no certificate says why the lower bound is {bound}"])
    check = BoundCheck(problems=list(_wrong_bounds(instance, certificate, bound)))
    if check.problems:
        return check
    match certificate:
        case CompleteSearch(solver=solver):
            check.unchecked.append(
                f"the lower bound {bound} rests on a complete search by "
                f"{repr(solver) if solver else 'a solver'}, which is not repeated here"
            )
        case Exhaustive() if instance.task_count > most_tasks(instance):
            check.unchecked.append(
                f"the lower bound {bound} rests on enumeration, which is repeated here for "
                f"{most_tasks(instance)} tasks at most, and these are {instance.task_count}"
            )
        case Exhaustive():
            if has_schedule_below(instance, bound):
                check.problems.append(f"lower_bound: is {bound}, but some schedule is better")
        case _:
            try:
                check.problems += _flaws(instance, certificate, bound)
            except MethodError as error:
                check.unchecked.append(f"the lower bound {bound} is not checked: {error}")
    check.checked = not check.problems and not check.unchecked
    return check


def _flaws(instance: Instance, certificate: DualWeights | Supports, bound: int) -> list[str]:
    """Return the errors in a proof by weights."""
    is_matrix = isinstance(instance.penalty, PenaltyMatrix)
    if isinstance(certificate, Supports):
        if not is_matrix:
            return ["certificate.kind: 'supports' is for the penalty matrix"]
        return false_supports(instance, certificate, bound)
    if is_matrix:
        return ["certificate.kind: 'dual-weights' is for the penalties f and g"]
    return _false_weights(instance, certificate, bound)


def _wrong_bounds(instance: Instance, certificate: Certificate, bound: int) -> Iterator[str]:
    """Yield the differences between the certificate's claims and the bound of the result."""
    threshold: int | None = bound - 1
    if isinstance(certificate, DualWeights):
        total = instance.objective is Objective.TOTAL_PENALTY
        if total:
            threshold = None
        if certificate.lower_bound != (bound if total else None):
            need = bound if total else "missing"
            yield f"certificate.lower_bound: is {certificate.lower_bound}, but must be {need}"
    elif certificate.threshold is None:
        return
    if certificate.threshold != threshold:
        need = "missing" if threshold is None else threshold
        yield f"certificate.threshold: is {certificate.threshold}, but must be {need}"


def _false_weights(instance: Instance, certificate: DualWeights, bound: int) -> list[str]:
    """Return the errors in the two claims of dual weights; the threshold is known to be right."""
    problems: list[str] = []
    if len(certificate.bin_weights) != instance.cpus:
        problems.append(
            f"certificate.bin_weights: has {len(certificate.bin_weights)} entries for "
            f"{instance.cpus} CPUs"
        )
    for place, numbers in (
        ("bin_weights", certificate.bin_weights),
        ("entry_charges", [charge for _, charge in certificate.entry_charges]),
    ):
        problems += [
            f"certificate.{place}[{position}]: is {number}, but must not be negative"
            for position, number in enumerate(numbers)
            if number < 0
        ]
    weights = _by_task(instance, certificate.weights, "certificate.weights", problems)
    charges = _by_task(instance, certificate.entry_charges, "certificate.entry_charges", problems)
    if problems:
        return problems

    held = sum(certificate.bin_weights)
    worth = sum(
        task.multiplicity * (weight - charge)
        for task, weight, charge in zip(instance.tasks, weights, charges, strict=True)
    )
    if certificate.threshold is None and worth - held < bound:
        return [
            f"certificate: weights less charges and bin weights are {worth - held}, "
            f"less than the lower bound {bound}"
        ]
    if certificate.threshold is not None and worth <= held:
        return [
            f"certificate: weights less charges are {worth}, no more than the bin weights, {held}"
        ]
    most = most_by_visits(instance, weights, certificate.threshold)
    if most is not None and all(
        value <= claim for value, claim in zip(most, certificate.bin_weights, strict=True)
    ):
        return []
    from dfopt.verify.weights import largest_values  # needs numpy, which small results need not

    largest = largest_values(instance, weights, charges, certificate.threshold)
    return [
        f"certificate.bin_weights[{cpu}]: is {claim}, but the CPU can hold {value}"
        for cpu, (claim, value) in enumerate(zip(certificate.bin_weights, largest, strict=True))
        if value > claim
    ]


def _by_task(
    instance: Instance, rows: Sequence[tuple[TaskClass, int]], place: str, problems: list[str]
) -> list[int]:
    """Return the number that each entry of ``instance.tasks`` has from ``rows``, 0 without one."""
    by_df: dict[str, list[int]] = defaultdict(list)
    for position, (tasks, _) in enumerate(rows):
        by_df[tasks.df].append(position)
        if tasks.lines is not None and not isinstance(instance.penalty, PenaltyF):
            problems.append(
                f"{place}[{position}].lines: tells tasks apart under the penalty f only"
            )
        if tasks.exec is not None and instance.objective is not Objective.MAKESPAN:
            problems.append(f"{place}[{position}].exec: tells tasks apart under makespan only")
    numbers = []
    idle = set(range(len(rows)))
    for task in instance.tasks:
        matching = [row for row in by_df.get(task.df or "", ()) if rows[row][0].holds(task)]
        idle.difference_update(matching)
        numbers.append(rows[matching[0]][1] if matching else 0)
        if len(matching) > 1:
            problems.append(
                f"{place}[{matching[1]}]: holds for {task.id!r}, as [{matching[0]}] does"
            )
    problems += [f"{place}[{position}]: holds for no task" for position in sorted(idle)]
    return numbers
