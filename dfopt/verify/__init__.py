"""The checker: it decides whether a result is true, without trust in the solver that wrote it.

Everything is computed anew from the definition of the switch costs: the schedule's cost, whether
the result's claims fit together, and the proof of its lower bound. No solver is imported.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from dfopt.errors import MethodError
from dfopt.files import fingerprint
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.files.strict_json import Document
from dfopt.problem.certificate import kind_of
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.result import Result
from dfopt.render import html
from dfopt.structs import DocumentPart, Natural
from dfopt.table import Table, columns
from dfopt.verify.bound import check_bound
from dfopt.verify.claims import backslides, contradictions
from dfopt.verify.schedule import recompute

__all__ = ["ScheduleFigures", "Verification", "verify"]


class ScheduleFigures(DocumentPart):
    """Figures of a schedule of a trace, in the trace's unit of time.

    Parameters
    ----------
    recorded_cost
        What the recording cost.
    permitted_wait
        The least wait that must be permitted; 0 if nobody waits longer than recorded.
    total_wait
        The sum of all waits; None if it is unknown when dispatches were ready.
    p99_wait
        The 99th percentile of the waits (nearest rank), or None.
    """

    recorded_cost: Natural
    permitted_wait: Natural
    total_wait: Natural | None
    p99_wait: Natural | None


class Verification(DocumentPart):
    """What ``dfopt verify`` says about a result, or about a proof or a schedule of a trace.

    Parameters
    ----------
    ok
        Whether nothing is wrong.
    objective
        The schedule's value, recomputed; None where there is no valid schedule.
    lower_bound
        The bound that is claimed; None where a result claims that there is no schedule, and for a
        schedule of a trace.
    bound_checked
        Whether that bound was proven here, independently of the solver that found it.
    problems
        The errors, each with its place in the result document.
    schedule
        Figures of a schedule of a trace.
    certificate_kind
        The kind of the result's certificate; for a proof of a trace ``prices``.
    unchecked
        The claims that could not be checked, and why.
    """

    ok: bool
    objective: Natural | None
    lower_bound: Natural | None
    bound_checked: bool
    problems: tuple[str, ...]
    schedule: ScheduleFigures | None = None
    certificate_kind: str | None = None
    unchecked: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Return a table with what was checked and what is wrong, as notebooks show it."""
        names = ("objective", "lower bound", "proven by", "bound checked", "problems", "unchecked")
        row = (
            self.objective,
            self.lower_bound,
            self.certificate_kind,
            self.bound_checked,
            "; ".join(self.problems) or None,
            "; ".join(self.unchecked) or None,
        )
        return html(Table("verified" if self.ok else "wrong", columns(*names), [row]))

    def to_document(self) -> Document:
        """Return the document of the format ``dfopt-verification/1``."""
        return VERIFICATIONS.to_document(self)


VERIFICATIONS = DocumentType(Format.VERIFICATION, Verification)


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
        costs, flaws = recompute(instance, result.schedule)
        problems += flaws
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
