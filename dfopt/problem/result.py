"""The result of a solve: what was found, what was proven, and why it stopped."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import field

from dfopt.problem.certificate import Certificate
from dfopt.problem.schedule import Schedule
from dfopt.render import html
from dfopt.structs import REQUIRED, Digest, DocumentPart, Natural, Signed, written
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


class SearchStep(DocumentPart):
    """One step of a search: a better bound or a better schedule.

    Parameters
    ----------
    time_s
        Seconds since the search began.
    lower_bound
        The best bound proven so far.
    objective
        The objective of the best schedule so far; None while there is none.
    """

    time_s: float
    lower_bound: Natural
    objective: Natural | None = written(None)


class Progress(SearchStep):
    """What a search knows now, and what it works on.

    Parameters
    ----------
    phase
        The current work of the search, in words.
    """

    phase: str = ""

    @property
    def step(self) -> SearchStep:
        """The step that led here."""
        return SearchStep(
            time_s=self.time_s, lower_bound=self.lower_bound, objective=self.objective
        )


class InstanceName(DocumentPart):
    """Which instance a result is about.

    Parameters
    ----------
    name
        The instance's own name.
    sha256
        Digest of the instance document: parsed, written with sorted keys, separators ',' and ':',
        non-ASCII unescaped, UTF-8. ``dfopt info`` prints it.
    """

    UNSHOWN = ("sha256",)

    name: str | None = None
    sha256: Digest


class Result(DocumentPart):
    """The outcome of a solve: the knowledge about an instance.

    Parameters
    ----------
    instance
        The instance of the result.
    status
        The proof status.
    stop_reason
        Why the search ended; ``given`` for a schedule from outside.
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
    method
        The method that found it.
    seed
        The seed of its random numbers.
    wall_time_s
        How long it took, in seconds.
    history
        One entry for each improvement of the bound or the schedule.
    versions
        The versions of dfopt and of what it used, by name.
    """

    UNSHOWN = ("history", "versions")

    instance: InstanceName
    status: Status
    stop_reason: StopReason = written(StopReason.GIVEN)
    objective: Annotated[Natural | None, REQUIRED] = written(None)
    lower_bound: Natural | None = written(0)
    gap: float | None = written(None)
    schedule: Annotated[Schedule | None, REQUIRED] = written(None)
    certificate: Certificate | None = written(None)
    method: str | None = None
    seed: Signed | None = None
    wall_time_s: float | None = None
    history: tuple[SearchStep, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def instance_name(self) -> str | None:
        """The name of the instance."""
        return self.instance.name

    @property
    def instance_sha256(self) -> str:
        """The digest of the instance's document."""
        return self.instance.sha256

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
