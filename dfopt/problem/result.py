"""The result of a solve: what was found, what was proven, and why it stopped; when it stops."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Annotated, Protocol

from msgspec import field

from dfopt.checks import described
from dfopt.errors import DfoptError
from dfopt.problem.certificate import Certificate, CompleteSearch, Counting, Proof
from dfopt.problem.instance import Instance
from dfopt.problem.schedule import Schedule
from dfopt.render import html
from dfopt.structs import REQUIRED, Digest, DocumentPart, Natural, Signed, written
from dfopt.table import Table, columns, facts
from dfopt.time_units import unit_text


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


ENDINGS = {
    StopReason.PROOF: "proven",
    StopReason.GAP_LIMIT: "stopped at the gap limit",
    StopReason.TIME_LIMIT: "stopped at the time limit",
    StopReason.INTERRUPT: "interrupted",
    StopReason.GIVEN: "given",
}
"""The reasons in words."""

COUNTING_BOUNDS = ("area", "transportation")
"""Bounds that need no search, but have no certificate that a checker could follow."""


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

    @property
    def proof(self) -> str:
        """What kind of proof the lower bound has, in words."""
        match self.certificate:
            case None:
                free = self.lower_bound == 0
                return "none needed: no schedule costs less than 0" if free else "none"
            case CompleteSearch(solver=solver):
                # The bound of a search that goes on is the solver's word for it, too.
                is_complete = solver not in COUNTING_BOUNDS and self.stop_reason == "proof"
                reason = f"complete search by {solver}" if is_complete else f"{solver} bound"
                return f"{reason}; not independently checkable"
            case Proof(over=over, nodes=[_, _, *_] as nodes):
                said, check = f"{over.words} in a tree of {len(nodes)} nodes", "checks them"
            case Proof():
                said, check = self.certificate.words, "checks them without a solver"
            case Counting(argument=argument, CHECK=check):
                said = f"{argument} bound"
            case _:
                said, check = self.certificate.words, self.certificate.CHECK
        return f"{said}; 'dfopt verify' {check}"

    def tables(self, instance: Instance) -> list[Table]:
        """Return what there is to say: the schedule, then objective, bound and proof.

        Parameters
        ----------
        instance
            The instance that the result is about.
        """
        if self.status is Status.INFEASIBLE:
            return [Table(f"infeasible: {instance.excess}")]

        def with_unit(cost: int) -> str:
            return f"{cost}{unit_text(instance.time_unit, cost)}"

        objective, gap = self.objective, self.gap
        proven = facts({
            "objective": None
            if objective is None
            else f"{with_unit(objective)} ({instance.objective})",
            "lower bound": with_unit(self.lower_bound or 0),
            "gap": None if gap is None else f"{gap:.2%}",
            "status": f"{self.status}, {ENDINGS[self.stop_reason]}",
            "proof": self.proof,
            "time": None
            if self.wall_time_s is None
            else f"{self.wall_time_s:.2f} s, method {self.method}",
        })  # fmt: skip
        return [proven] if self.schedule is None else [self.schedule.visits(instance), proven]

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


class StoppingCriterion(Protocol):
    """A function that says, from the progress so far, whether and why the search shall end."""

    def __call__(self, progress: Progress) -> StopReason | None:
        """Return the reason to end the search now, or None to go on."""
        ...


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """End the search when ``seconds`` have passed."""

    seconds: float

    def __post_init__(self) -> None:
        if not _is_number(self.seconds) or not self.seconds >= 0:
            problem = f"must be at least 0 seconds, not {described(self.seconds)}"
            raise DfoptError(problem, place="time limit")

    def __call__(self, progress: Progress) -> StopReason | None:
        """Return the reason to end the search now, or None to go on."""
        return StopReason.TIME_LIMIT if progress.time_s >= self.seconds else None


@dataclass(frozen=True, slots=True)
class GapLimit:
    """End the search when the relative gap is at most ``gap``."""

    gap: float

    def __post_init__(self) -> None:
        if not _is_number(self.gap) or not 0 <= self.gap <= 1:
            raise DfoptError(
                f"must be between 0 and 1, not {described(self.gap)}", place="gap limit"
            )

    def __call__(self, progress: Progress) -> StopReason | None:
        """Return the reason to end the search now, or None to go on."""
        gap = relative_gap(progress.objective, progress.lower_bound)
        return StopReason.GAP_LIMIT if gap is not None and gap <= self.gap else None


def time_limit(criterion: StoppingCriterion) -> float:
    """Return the seconds after which a criterion ends a search; infinity if it does not say so."""
    match criterion:
        case TimeLimit(seconds=seconds):
            return seconds
        case FirstOf(criteria=criteria):
            return min(map(time_limit, criteria), default=inf)
    return inf


class FirstOf:
    """End the search as soon as one of several criteria says so."""

    def __init__(self, *criteria: StoppingCriterion) -> None:
        self.criteria = criteria

    def __call__(self, progress: Progress) -> StopReason | None:
        """Return the first reason that a criterion gives, or None."""
        reasons = (criterion(progress) for criterion in self.criteria)
        return next((reason for reason in reasons if reason is not None), None)
