"""When a search ends before its proof: small callables that look at its progress."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Protocol

from dfopt.checks import described
from dfopt.errors import DfoptError
from dfopt.problem.result import Progress, StopReason, relative_gap


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
