"""The checker: it decides whether a result is true, without trust in the solver that wrote it.

Everything is computed anew from the definition of the switch costs: the schedule's cost, whether
the result's claims fit together, and the proof of its lower bound. No solver is imported.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dfopt.errors import MethodError
from dfopt.files import fingerprint
from dfopt.files.formats import Format
from dfopt.problem.certificate import (
    Branching,
    Certificate,
    CompleteSearch,
    Counting,
    DualWeights,
    EvenShares,
    Exhaustive,
    FullGroups,
    SizeWeights,
    Supports,
)
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.result import Result
from dfopt.problem.tour_certificate import Tour
from dfopt.render import html
from dfopt.table import Table, columns
from dfopt.verify.bound import check_bound
from dfopt.verify.claims import backslides, contradictions
from dfopt.verify.schedule import recompute

__all__ = ["KINDS", "Verification", "verify"]

FORMAT = Format.VERIFICATION

KINDS: dict[type[Certificate], str] = {
    DualWeights: "dual-weights",
    Supports: "supports",
    Tour: "tour",
    Branching: "branching",
    FullGroups: "full-groups",
    SizeWeights: "size-weights",
    Counting: "counting",
    Exhaustive: "exhaustive",
    EvenShares: "even-shares",
    CompleteSearch: "search",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The findings of the checker.

    Parameters
    ----------
    ok
        Whether nothing is wrong.
    objective
        The schedule's value, recomputed; None where there is no valid schedule.
    lower_bound
        The bound that is claimed; None where a result claims that there is no schedule.
    bound_checked
        Whether that bound was proven here.
    certificate_kind
        ``dual-weights``, ``branching``, ``supports``, ``tour``, ``full-groups``,
        ``size-weights``, ``counting``, ``exhaustive``, ``search``, for a trace ``prices``, or None.
    problems
        The errors, each with its place in the result document.
    unchecked
        The claims that could not be checked, and why.
    """

    ok: bool
    objective: int | None
    lower_bound: int | None
    bound_checked: bool
    certificate_kind: str | None
    problems: tuple[str, ...]
    unchecked: tuple[str, ...]

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

    def to_document(self) -> dict[str, Any]:
        """Return the document of the format ``dfopt-verification/1``."""
        return {
            "format": FORMAT,
            "ok": self.ok,
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "bound_checked": self.bound_checked,
            "problems": list(self.problems),
        }


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
        certificate_kind=KINDS[type(result.certificate)] if result.certificate else None,
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
