"""The beam search of one section: the best schedule that it finds, and what it prefers."""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.native import trace
from dfopt.native.trace import SearchedSection, Section


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamSettings:
    """What a beam search keeps and prefers.

    Parameters
    ----------
    width
        Number of partial schedules that are kept.
    safe
        At most this number of safe ones are kept beside them, at least 1.
    ahead
        Number of dispatches that are not ready yet and may be waited for.
    urgent
        Number of dispatches that are tried for a guess of how many will be late.
    waiting, late, idle
        What a fragment counts that waits and that no CPU holds, a dispatch that will be late, and
        a mean length of idle time; each in costs of a typical switch.
    patience
        A fragment that may still wait for this number of mean lengths counts half.
    price
        What a unit of waiting costs.
    """

    width: int = 24
    safe: int = 8
    ahead: int = 16
    urgent: int = 8
    waiting: float = 0.7
    late: float = 0.2
    idle: float = 0.2
    patience: float = 30.0
    price: float = 0.0


def beam_search(
    section: Section, settings: BeamSettings, switch_cost: float, length: float
) -> SearchedSection | None:
    """Return the best schedule of a section within its limits that a beam search finds.

    Parameters
    ----------
    section
        With a guide, which is within the limits.
    settings
        What to keep and to prefer.
    switch_cost, length
        The cost of a typical switch, and the mean length of a dispatch.
    """
    return trace.beam_search(
        section,
        width=settings.width,
        safe=settings.safe,
        ahead=settings.ahead,
        urgent=settings.urgent,
        waiting=settings.waiting,
        late=settings.late * switch_cost,
        idle=settings.idle * switch_cost / length,
        wait_price=settings.price,
        # A long wait is as bad as waiting for that time.
        long_price=settings.price * section.limits.long_wait,
        patience=settings.patience * length,
    )
