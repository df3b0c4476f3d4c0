"""Checks that a certificate proves the lower bound of a result."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import astuple

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import MethodError
from dfopt.problem.certificate import (
    Branching,
    Certificate,
    CompleteSearch,
    Counting,
    DualWeights,
    EvenShares,
    Exhaustive,
    FullGroups,
    SharedCertificate,
    SizeWeights,
    Supports,
    TaskClass,
    Tour,
)
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix
from dfopt.problem.result import Result
from dfopt.structs import replace
from dfopt.verify.branching import false_cases
from dfopt.verify.cases import UnprovenError
from dfopt.verify.counting import counted_bound
from dfopt.verify.enumeration import has_schedule_below
from dfopt.verify.groups import false_groups
from dfopt.verify.prices import OrderPrices, largest_total_below
from dfopt.verify.sizes import false_sizes, least_visits
from dfopt.verify.supports import false_supports
from dfopt.verify.tours import false_tour
from dfopt.verify.visits import values_within

Row = TypeVar("Row", bound=TaskClass)


@dataclass(slots=True)
class BoundCheck:
    """What came of checking a bound: proven here, or what is wrong or could not be checked."""

    checked: bool = False
    problems: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def check_bound(  # noqa: PLR0911 - one for each answer
    instance: Instance, result: Result, check: Callable[[], None] = lambda: None
) -> BoundCheck:
    """Check that no schedule is better than the lower bound of ``result``.

    ``check`` is called often; a MethodError that it raises ends the work.
    """
    bound, certificate = result.lower_bound, result.certificate
    malformed = list(_malformed_numbers(bound, certificate))
    if malformed:
        return BoundCheck(problems=malformed)
    if bound is None:
        return _check_lack_of_room(instance, certificate, check)
    if bound <= 0:
        if certificate is None:
            return BoundCheck(checked=bound == 0)
        return BoundCheck(
            problems=["certificate: must be null, because the lower bound 0 needs none"]
        )
    if certificate is None:
        return BoundCheck(unchecked=[f"no certificate says why the lower bound is {bound}"])
    problems = list(_wrong_bounds(instance, certificate, bound))
    if problems:
        return BoundCheck(problems=problems)
    if isinstance(certificate, CompleteSearch):
        solver = repr(certificate.solver) if certificate.solver else "a solver"
        return BoundCheck(
            unchecked=[
                f"the lower bound {bound} rests on a search by {solver}, which is not repeated here"
            ]
        )
    assert not isinstance(certificate, SizeWeights)
    return _judged(
        lambda: _errors(instance, certificate, bound, check),
        f"the lower bound {bound} is not checked",
    )


def _judged(errors: Callable[[], list[str]], unchecked: str) -> BoundCheck:
    """Return what comes of a check: only what is too large, whatever it says, stays open."""
    try:
        problems = errors()
    except UnprovenError as error:
        problems = [error.problem]
    except RecursionError:
        problems = ["certificate: has too many cases within each other"]
    except MethodError as error:
        return BoundCheck(unchecked=[f"{unchecked}: {error.problem}"])
    return BoundCheck(checked=not problems, problems=problems)


def _malformed_numbers(bound: object, certificate: Certificate | None) -> Iterator[str]:
    """Yield the numbers with which nothing can be proven, whatever read them."""
    if bound is not None and (not isinstance(bound, int) or bound > LARGEST_TOTAL):
        yield f"lower_bound: is {described(bound)}, not an integer of at most 2^62"
    if not _is_exact(certificate):
        yield "certificate: has a number that is not an integer"


def _is_exact(certificate: Certificate | None) -> bool:
    """Return whether all numbers in a certificate are integers: others are not added up exactly."""
    values: list[object] = [certificate]
    while values:
        value = values.pop()
        if isinstance(value, tuple):
            values += value
        elif isinstance(value, Struct):
            values += astuple(value)
        elif value is not None and not isinstance(value, int | str):
            return False
    return True


def _check_lack_of_room(
    instance: Instance, certificate: Certificate | None, check: Callable[[], None]
) -> BoundCheck:
    """Check that no schedule has room for all tasks; nothing else makes an instance infeasible."""
    if instance.missing_capacity:
        return BoundCheck(checked=True)
    match certificate:
        case SizeWeights() if instance.has_sizes:
            return _judged(
                lambda: false_sizes(instance, certificate, check),
                "that the tasks do not fit is not checked",
            )
        case CompleteSearch(solver=solver):
            return BoundCheck(
                unchecked=[
                    f"that the tasks do not fit rests on a complete search by {solver!r}, "
                    "which is not repeated here"
                ]
            )
        case None:
            return BoundCheck(unchecked=["no certificate says why the tasks do not fit"])
    return BoundCheck(problems=["certificate.kind: does not show that the tasks do not fit"])


def _errors(  # noqa: PLR0911, PLR0912 - each kind has its own errors
    instance: Instance,
    certificate: SharedCertificate | EvenShares,
    bound: int,
    check: Callable[[], None],
) -> list[str]:
    """Return why a certificate does not prove the bound; none if it does.

    Raises
    ------
    MethodError
        When the check would take too much time or memory.
    """
    match certificate:
        case Counting(argument=argument):
            count = counted_bound(instance, argument)
            if count is None:
                return [f"certificate.argument: there is no argument {argument!r}"]
            if count < bound:
                return [f"lower_bound: is {bound}, but {argument} gives {count}"]
            return []
        case FullGroups():
            return false_groups(instance, certificate, bound, check)
        case Exhaustive():
            if has_schedule_below(instance, bound, check):
                return [f"lower_bound: is {bound}, but some schedule is better"]
            return []
        case EvenShares():
            return _false_shares(instance, certificate, bound, check)
    is_matrix = isinstance(instance.penalty, PenaltyMatrix)
    if isinstance(certificate, Supports):
        if not is_matrix:
            return ["certificate.kind: 'supports' is for the penalty matrix"]
        return false_supports(instance, certificate, bound, check)
    if isinstance(certificate, Tour):
        if not is_matrix:
            return ["certificate.kind: 'tour' is for the penalty matrix"]
        return false_tour(instance, certificate, bound, check)
    if is_matrix:
        return ["certificate.kind: weights are for the penalties f and g"]
    if isinstance(certificate, Branching):
        return false_cases(instance, certificate, bound, check)
    return _false_weights(instance, certificate, bound, check)


def _false_shares(
    instance: Instance, certificate: EvenShares, bound: int, check: Callable[[], None]
) -> list[str]:
    """Return the errors in a proof that some CPU has an even share of at least ``bound``.

    A CPU finishes no earlier than after the execution times of its tasks and its penalty. Summed
    over all CPUs these are all execution times and the total penalty, so some CPU has an m-th.
    """
    if instance.objective is not Objective.MAKESPAN:
        return ["certificate.kind: 'even-shares' is for the objective makespan"]
    if instance.is_timed:
        return ["certificate.kind: 'even-shares' is for tasks that do not wait"]
    total, proof = max(0, certificate.total_penalty), certificate.proof
    executions = sum(task.exec * task.multiplicity for task in instance.tasks)
    share = -(-(executions + total) // instance.cpus)
    if share < bound:
        return [f"lower_bound: is {bound}, but an even share is {share}"]
    if not total:
        return []
    penalties = replace(instance, objective=Objective.TOTAL_PENALTY)
    problems = [*_wrong_bounds(penalties, proof, total)] or _errors(penalties, proof, total, check)
    return [f"certificate.proof: {problem}" for problem in problems]


def _wrong_bounds(instance: Instance, certificate: Certificate, bound: int) -> Iterator[str]:
    """Yield the differences between the certificate's claims and the bound of the result."""
    threshold: int | None = bound - 1
    if isinstance(certificate, SizeWeights):
        yield "certificate.kind: 'size-weights' is for instances without any schedule"
        return
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


def _false_weights(
    instance: Instance, certificate: DualWeights, bound: int, check: Callable[[], None]
) -> list[str]:
    """Return the errors in the two claims of dual weights."""
    problems: list[str] = []
    if len(certificate.bin_weights) != instance.cpus:
        problems.append(
            f"certificate.bin_weights: has {len(certificate.bin_weights)} entries for "
            f"{instance.cpus} CPUs"
        )
    for place, numbers in (
        ("bin_weights", certificate.bin_weights),
        ("entry_charges", [row.charge for row in certificate.entry_charges]),
    ):
        problems += [
            f"certificate.{place}[{position}]: is {number}, but must not be negative"
            for position, number in enumerate(numbers)
            if number < 0
        ]
    rows = _rows_of_tasks(instance, certificate.weights, "certificate.weights", problems)
    weights = [row.weight if row else 0 for row in rows]
    charged = _rows_of_tasks(
        instance, certificate.entry_charges, "certificate.entry_charges", problems
    )
    charges = [row.charge if row else 0 for row in charged]
    visits = {row.df: row.price for row in certificate.visit_prices}
    if len(visits) < len(certificate.visit_prices):
        problems.append("certificate.visit_prices: has a fragment twice")
    tasks_of = Counter[str | None]()
    sizes = Counter[str | None]()
    for task, size in zip(instance.tasks, instance.sizes, strict=True):
        tasks_of[task.df] += task.multiplicity
        sizes[task.df] += task.multiplicity * size
    problems += [
        f"certificate.visit_prices: is about {df!r}, which no task uses"
        for df in visits
        if df not in sizes
    ]
    total = instance.objective is Objective.TOTAL_PENALTY
    if certificate.scale < 1 or (certificate.scale > 1 and not total):
        need = "at least 1" if total else "1, because costs have a threshold"
        problems.append(f"certificate.scale: is {certificate.scale}, but must be {need}")
    if problems:
        return problems

    held = sum(certificate.bin_weights)
    worth = sum(
        task.multiplicity * (weight - charge)
        for task, weight, charge in zip(instance.tasks, weights, charges, strict=True)
    )
    for df, price in visits.items():
        least = least_visits(instance, tasks_of[df], sizes[df])
        worth += price * (least if price > 0 else min(tasks_of[df], instance.cpus))
    if total and worth - held <= certificate.scale * largest_total_below(instance, bound):
        return [
            f"certificate: weights less charges and bin weights are {worth - held}, "
            f"less than the lower bound {bound}"
            + (f" needs at a scale of {certificate.scale}" if certificate.scale > 1 else "")
        ]
    if not total and worth <= held:
        return [
            f"certificate: weights less charges are {worth}, no more than the bin weights, {held}"
        ]
    prices = OrderPrices(weights=weights, charges=charges, visits=visits, scale=certificate.scale)
    claims = certificate.bin_weights
    largest = values_within(instance, prices, certificate.threshold, claims, check)
    return [
        f"certificate.bin_weights[{cpu}]: is {claim}, but the CPU can hold {value}"
        for cpu, (claim, value) in enumerate(zip(claims, largest, strict=True))
        if value > claim
    ]


def _rows_of_tasks(
    instance: Instance, rows: Sequence[Row], place: str, problems: list[str]
) -> list[Row | None]:
    """Return the row that holds for each entry of ``instance.tasks``."""
    by_df: dict[str, list[int]] = defaultdict(list)
    for position, tasks in enumerate(rows):
        by_df[tasks.df].append(position)
        if tasks.lines is not None and not isinstance(instance.penalty, PenaltyF):
            problems.append(
                f"{place}[{position}].lines: tells tasks apart under the penalty f only"
            )
        if tasks.exec is not None and instance.objective is not Objective.MAKESPAN:
            problems.append(f"{place}[{position}].exec: tells tasks apart under makespan only")
    holding = []
    idle = set(range(len(rows)))
    for task in instance.tasks:
        matching = [row for row in by_df.get(task.df or "", ()) if rows[row].holds(task)]
        idle.difference_update(matching)
        holding.append(rows[matching[0]] if matching else None)
        if len(matching) > 1:
            problems.append(
                f"{place}[{matching[1]}]: holds for {task.id!r}, as [{matching[0]}] does"
            )
    problems += [f"{place}[{position}]: holds for no task" for position in sorted(idle)]
    return holding
