"""Limits on how long the dispatches of a schedule may wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingLimit:
    """How long dispatches may wait, in the trace's unit of time.

    Parameters
    ----------
    each
        No dispatch starts more than this after it was ready in the recording, or else later than
        it started there; 0: nobody waits longer than recorded. None: no such limit.
    total
        The waits of all dispatches add up to at most this; None: no such limit.
    long, most_long
        At most ``most_long`` dispatches wait longer than ``long``; None: no such limit.
    """

    each: int | None = None
    total: int | None = None
    long: int | None = None
    most_long: int | None = None
