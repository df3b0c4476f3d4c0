"""The result of a solve: what was found, what was proven, and why it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dfopt.problem.certificate import Certificate
from dfopt.problem.schedule import Schedule
from dfopt.render import html
from dfopt.short_repr import short_repr
from dfopt.table import Table, columns


class Status(StrEnum):
    """What is known about the instance."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


class StopReason(StrEnum):
    """Why the search ended."""

    PROOF = "proof"
    GAP_LIMIT = "gap-limit"
    TIME_LIMIT = "time-limit"
    INTERRUPT = "interrupt"
    GIVEN = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One step of a search: a better bound or a better schedule.

    Parameters
    ----------
    time_s
        Seconds since the search began.
    lower_bound
        The best bound proven so far.
    objective
        The objective of the best schedule so far; None while there is none.
    phase
        The current work of the search, in words; not part of any document.
    """

    time_s: float
    lower_bound: int
    objective: int | None
    phase: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of a solve: the knowledge about an instance.

    Parameters
    ----------
    instance_name, instance_sha256
        The instance of the result; the digest is that of its document.
    status, stop_reason
        The proof status, and why the search ended.
    objective
        The value of ``schedule``; None when no schedule is known.
    lower_bound
        The best bound proven; None only when the instance is infeasible.
    gap
        (objective − lower_bound) / objective, see :func:`relative_gap`.
    schedule
        The best schedule known.
    certificate
        Why no schedule is better than ``lower_bound``; None when there is nothing to prove.
    method, seed, wall_time_s, history, versions
        The origin of the result; ``history`` has one entry per improvement.
    """

    instance_name: str | None
    instance_sha256: str = field(repr=False)
    status: Status
    stop_reason: StopReason
    objective: int | None = None
    lower_bound: int | None = 0
    gap: float | None = None
    schedule: Schedule | None = None
    certificate: Certificate | None = None
    method: str | None = None
    seed: int | None = None
    wall_time_s: float | None = None
    history: tuple[Progress, ...] = field(default=(), repr=False)
    versions: Mapping[str, str] = field(default_factory=dict, repr=False)

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        """Return what is known, and the schedule, as tables, as notebooks show them."""
        proof = None if self.certificate is None else type(self.certificate).__name__
        names = ("status", "objective", "lower bound", "gap", "certificate", "ended by")
        row = (self.status, self.objective, self.lower_bound, self.gap, proof, self.stop_reason)
        known = html(Table(self.instance_name or "result", columns(*names), [row]))
        if self.schedule is None:
            return known
        return known + html(self.schedule.table("the best schedule known"))


def relative_gap(objective: int | None, lower_bound: int | None) -> float | None:
    """Return (objective − lower_bound) / objective; 0 when both are 0, None if either is None."""
    if objective is None or lower_bound is None:
        return None
    return (objective - lower_bound) / objective if objective else 0.0
