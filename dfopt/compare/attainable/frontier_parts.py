"""The parts of a frontier that can be worked on apart from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dfopt.compare.attainable.bound.bound import (
    StretchBound,
    WaitingBound,
    proven_bound,
    stretch_bounds,
)
from dfopt.compare.attainable.bound.proof import StretchPrices
from dfopt.compare.attainable.patience import run_patiently
from dfopt.compare.attainable.placement import (
    BestPlacement,
    best_placement,
    least_recently_used,
)
from dfopt.compare.attainable.schedule_within import schedule_within
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.compare.dispatches import Dispatches

WantedSchedule = Literal["timeline", "rule", "patience", "schedule"]
WantedBound = Literal["bound", "bound with lengths"]
Wanted = WantedSchedule | WantedBound

Answer = BestPlacement | Dispatches | WaitingBound | tuple[StretchPrices, ...]

PartKey = tuple[Wanted, WaitingLimit, int]
"""What is wanted, the limit, and a patience or, below 0, a piece of a bound."""

NO_LIMIT = WaitingLimit()

WORTH_PROCESSES = 1_000
"""With fewer dispatches, starting processes takes longer than the work."""


USUAL_DISPATCHES, MOST_EFFORT = 10_000, 2.0
"""Traces with fewer dispatches than 10,000 get more effort for each, twice as much at most."""

FEW_DISPATCHES, EFFORT_FOR_FEW = 500, 4.0
"""Traces with at most 500 dispatches get four times as much, which takes seconds."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrontierPart:
    """A schedule of a trace's dispatches.

    Parameters
    ----------
    dispatches
        The dispatches.
    wanted
        What is wanted: the best placement on the same timeline, that of the rule without
        foresight, a run of the patient rule, or a schedule within a limit.
    limit
        The waiting limit.
    patience
        For how long the patient rule keeps a CPU to its fragment; 0 for anything else.
    known
        A schedule within the limit with which the search begins, beside the recorded one.
    """

    dispatches: Dispatches
    wanted: WantedSchedule
    limit: WaitingLimit = NO_LIMIT
    patience: int = 0
    known: Dispatches | None = None

    @property
    def key(self) -> PartKey:
        """Return what tells this part from others of the same trace."""
        return self.wanted, self.limit, self.patience

    def perform(self) -> Answer:
        """Return what is wanted."""
        dispatches = self.dispatches
        match self.wanted:
            case "timeline":
                return best_placement(dispatches)
            case "rule":
                return least_recently_used(dispatches)
            case "patience":
                return run_patiently(dispatches, self.patience)
            case "schedule":
                known = () if self.known is None else (self.known,)
                effort = EFFORT_FOR_FEW
                if len(dispatches) > FEW_DISPATCHES:
                    effort = min(MOST_EFFORT, max(1.0, USUAL_DISPATCHES / len(dispatches)))
                return schedule_within(dispatches, self.limit, known=known, effort=effort)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoundPiece:
    """One stretch of a bound.

    Parameters
    ----------
    wanted, limit
        Which bound, and the waiting limit.
    number
        The position of the stretch.
    stretch
        The work on it; it contains only what it needs.
    """

    wanted: WantedBound
    limit: WaitingLimit
    number: int
    stretch: StretchBound

    @property
    def key(self) -> PartKey:
        """Return what tells this piece from other parts of the same trace."""
        return self.wanted, self.limit, -1 - self.number

    def perform(self) -> tuple[StretchPrices, ...]:
        """Return the prices of the stretch."""
        return self.stretch.perform()


def bound_pieces(
    dispatches: Dispatches, wanted: WantedBound, limit: WaitingLimit
) -> list[BoundPiece]:
    """Return the work on a bound."""
    assert limit.each is not None
    stretches = stretch_bounds(dispatches, limit.each, uses_lengths=wanted == "bound with lengths")
    return [
        BoundPiece(wanted=wanted, limit=limit, number=number, stretch=stretch)
        for number, stretch in enumerate(stretches)
    ]


def joined_bounds(
    dispatches: Dispatches,
    parts: Sequence[FrontierPart | BoundPiece],
    answers: Mapping[PartKey, Answer],
) -> dict[PartKey, Answer]:
    """Return the bounds of which all pieces are done."""
    pieces: dict[tuple[Wanted, WaitingLimit], list[BoundPiece]] = {}
    for part in parts:
        if isinstance(part, BoundPiece):
            pieces.setdefault((part.wanted, part.limit), []).append(part)
    bounds: dict[PartKey, Answer] = {}
    for (wanted, limit), own in pieces.items():
        known = [answers.get(piece.key) for piece in own]
        priced = [answer for answer in known if isinstance(answer, tuple)]
        if len(priced) == len(own):
            assert limit.each is not None
            bounds[wanted, limit, 0] = proven_bound(
                dispatches,
                limit.each,
                [piece.stretch for piece in own],
                [prices for answer in priced for prices in answer],
                uses_lengths=wanted == "bound with lengths",
            )
    return bounds
