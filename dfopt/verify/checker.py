"""The checker: it decides whether a result is true, without trust in the solver that wrote it.

It reads as follows. A result claims a schedule, which :mod:`~dfopt.verify.schedule` runs anew; what
it says of itself must agree (:mod:`~dfopt.verify.claims`); and its certificate must prove its lower
bound. A certificate is a tree of cases with weights (:mod:`~dfopt.verify.tree`), a named argument
(:mod:`~dfopt.verify.counting`), or the word that there are so few schedules that all can be tried
(:mod:`~dfopt.verify.enumeration`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import astuple

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import MethodError
from dfopt.files import fingerprint
from dfopt.problem.certificate import (
    Certificate,
    CompleteSearch,
    Counting,
    EvenShares,
    Exhaustive,
    Over,
    Proof,
    kind_of,
)
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.result import Result
from dfopt.structs import replace
from dfopt.verify.claims import backslides, contradictions
from dfopt.verify.contents import ContentArgument
from dfopt.verify.counting import counted_bound
from dfopt.verify.enumeration import has_schedule_below
from dfopt.verify.groups import GroupArgument
from dfopt.verify.orders import OrderArgument
from dfopt.verify.schedule import recompute
from dfopt.verify.sizes import SizeArgument
from dfopt.verify.supports import SupportArgument
from dfopt.verify.tree import Argument, UnprovenError, flaws
from dfopt.verify.verification import Verification

Check = Callable[[], None]
"""Called often; a MethodError that it raises ends the work."""


def verify(
    instance: Instance,
    result: Result,
    *,
    require_certificate: bool = False,
    time_limit: float | None = None,
) -> Verification:
    """Check a result against its instance.

    Parameters
    ----------
    instance
        The instance.
    result
        The claims about the instance.
    require_certificate
        Whether a lower bound that could not be checked is a problem.
    time_limit
        After this number of seconds the lower bound counts as too large to be checked; by default
        never.

    Returns
    -------
    Verification
        ``ok`` is true only if everything that was checked is right.
    """
    problems = []
    if result.instance_name not in (None, instance.name):
        problems.append(f"instance.name: is {result.instance_name!r}, not {instance.name!r}")
    if result.instance_sha256 != fingerprint(instance):
        problems.append("instance.sha256: is that of another instance, or of another version of it")
    objective = None
    if result.schedule is not None:
        costs, errors = recompute(instance, result.schedule)
        problems += errors
        if costs is not None:
            total = instance.objective is Objective.TOTAL_PENALTY
            objective = sum(costs) if total else max(costs, default=0)
    problems += contradictions(instance, result, objective)
    bound = check_bound(instance, result, _deadline(time_limit))
    problems += bound.problems
    problems += backslides(result)
    if require_certificate and not bound.checked:
        problems += bound.unchecked or ["lower_bound: is not proven"]
    return Verification(
        ok=not problems,
        objective=objective,
        lower_bound=result.lower_bound,
        bound_checked=bound.checked,
        certificate_kind=kind_of(result.certificate) if result.certificate else None,
        problems=tuple(problems),
        unchecked=tuple(bound.unchecked),
    )


def _deadline(seconds: float | None) -> Callable[[], None]:
    """Return what refuses to go on when the time is over."""
    end = math.inf if seconds is None else time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() >= end:
            raise MethodError(f"that takes longer than {seconds:g} s; set another `time_limit`")

    return check


class NotRepeatedError(MethodError):
    """Says that a claim rests on a search."""


@dataclass(slots=True)
class BoundCheck:
    """What came of checking a bound: proven here, or what is wrong or could not be checked."""

    checked: bool = False
    problems: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def check_bound(  # noqa: PLR0911 - one for each answer
    instance: Instance, result: Result, check: Check = lambda: None
) -> BoundCheck:
    """Check that no schedule is better than the lower bound of ``result``.

    Without a lower bound there must be no schedule at all: the tasks do not fit on the CPUs.
    """
    bound, certificate = result.lower_bound, result.certificate
    problems = list(_malformed(bound, certificate))
    if problems:
        return BoundCheck(problems=problems)
    if bound is None and instance.missing_capacity:
        return BoundCheck(checked=True)
    if bound is not None and bound <= 0:
        if certificate is None:
            return BoundCheck(checked=bound == 0)
        problem = "certificate: must be null, because the lower bound 0 needs none"
        return BoundCheck(problems=[problem])
    claim = "that the tasks do not fit" if bound is None else f"the lower bound {bound}"
    if certificate is None:
        what = "the tasks do not fit" if bound is None else f"the lower bound is {bound}"
        return BoundCheck(unchecked=[f"no certificate says why {what}"])
    try:
        problems = errors_of(instance, certificate, bound, check)
    except UnprovenError as error:
        problems = [error.problem]
    except NotRepeatedError as error:
        return BoundCheck(unchecked=[f"{claim} {error.problem}"])
    except MethodError as error:  # only what is too large, whatever it says, stays open
        return BoundCheck(unchecked=[f"{claim} is not checked: {error.problem}"])
    return BoundCheck(checked=not problems, problems=problems)


def _malformed(bound: object, certificate: Certificate | None) -> Iterator[str]:
    """Yield the numbers with which nothing can be proven, whatever read them."""
    if bound is not None and (not isinstance(bound, int) or bound > LARGEST_TOTAL):
        yield f"lower_bound: is {described(bound)}, not an integer of at most 2^62"
    values: list[object] = [certificate]
    while values:
        value = values.pop()
        if isinstance(value, tuple):
            values += value
        elif isinstance(value, Struct):
            values += astuple(value)
        elif value is not None and not isinstance(value, int | str):
            yield "certificate: has a number that is not an integer"  # it does not add up exactly
            return


ARGUMENTS: Mapping[Over, Callable[[Instance, Proof, int, Check], Argument]] = {
    Over.CONTENTS: ContentArgument,
    Over.SUPPORTS: SupportArgument,
    Over.ORDERS: OrderArgument,
    Over.GROUPS: GroupArgument,
}
"""What proofs of a lower bound are over."""


def errors_of(  # noqa: PLR0911 - one for each kind
    instance: Instance, certificate: Certificate, bound: int | None, check: Check
) -> list[str]:
    """Return why a certificate does not prove the bound; none if it does.

    Raises
    ------
    MethodError
        When the check would take too much time or memory.
    """
    threshold = None if bound is None else bound - 1
    if certificate.threshold not in (None, threshold):
        return [f"certificate.threshold: is {certificate.threshold}, but must be {threshold}"]
    match certificate:
        case CompleteSearch(solver=solver):
            search = "a complete search" if bound is None else "a search"
            by = repr(solver) if solver else "a solver"
            raise NotRepeatedError(f"rests on {search} by {by}, which is not repeated here")
        case Proof(over=Over.SIZES) if bound is None and instance.has_sizes:
            return flaws(SizeArgument(instance, certificate, check))
        case _ if bound is None:
            return ["certificate.kind: does not show that the tasks do not fit"]
        case Proof(over=Over.SIZES):
            return ["certificate.over: sizes are for instances without any schedule"]
        case Proof(over=over):
            return flaws(ARGUMENTS[over](instance, certificate, bound, check))
        case Counting(argument=argument):
            count = counted_bound(instance, argument)
            if count is None:
                return [f"certificate.argument: there is no argument {argument!r}"]
            if count < bound:
                return [f"lower_bound: is {bound}, but {argument} gives {count}"]
        case Exhaustive():
            if has_schedule_below(instance, bound, check):
                return [f"lower_bound: is {bound}, but some schedule is better"]
        case EvenShares():
            return _false_shares(instance, certificate, bound, check)
    return []


def _false_shares(
    instance: Instance, certificate: EvenShares, bound: int, check: Check
) -> list[str]:
    """Return the errors in a proof that some CPU has an even share of at least ``bound``.

    A CPU finishes no earlier than after the execution times of its tasks and its penalty. Summed
    over all CPUs these are all execution times and the total penalty, so some CPU has an m-th.
    """
    if instance.objective is not Objective.MAKESPAN:
        return ["certificate.kind: 'even-shares' is for the objective makespan"]
    if instance.is_timed:
        return ["certificate.kind: 'even-shares' is for tasks that do not wait"]
    total = max(0, certificate.total_penalty)
    executions = sum(task.exec * task.multiplicity for task in instance.tasks)
    share = -(-(executions + total) // instance.cpus)
    if share < bound:
        return [f"lower_bound: is {bound}, but an even share is {share}"]
    if not total:
        return []
    penalties = replace(instance, objective=Objective.TOTAL_PENALTY)
    problems = errors_of(penalties, certificate.proof, total, check)
    return [f"certificate.proof: {problem}" for problem in problems]
