"""Cache penalties that depend on how long a task ran before: the table, and what lies between.

A task that runs longer loads more of its data, so that a reallocation costs more after a longer
interval. A table has the penalties for some intervals (quanta, where the measurement chose them).
Between two of these a penalty is taken to be linear in the logarithm of the interval. The first and
the last stretch of the table go on for a factor of two; still shorter or longer intervals have the
penalties at that end, because nothing is known there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dfopt_models.errors import ModelError

MOST_STEPS = 100
"""At most this many steps until an interval and its penalties fit each other."""

FURTHER = 2.0
"""The table is continued from its ends by this factor."""

CLOSE = 1e-14
"""They fit if the interval changes by at most this share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltiesOfQuantum:
    """Cache penalties of a reallocation after a task ran for some time.

    Parameters
    ----------
    quantum
        For how long it ran, seconds.
    affinity, no_affinity
        P^A and P^NA, seconds.
    """

    quantum: float
    affinity: float
    no_affinity: float


PenaltyTable = tuple[PenaltiesOfQuantum, ...]
"""Entries in the order of their quanta."""


def check_penalty_table(table: Sequence[PenaltiesOfQuantum], place: str) -> None:
    """Refuse a table that is empty, or whose quanta do not rise."""
    if not table:
        raise ModelError("is empty; give at least one quantum", place=place)
    for position, entry in enumerate(table):
        if not 0 < entry.quantum < math.inf:
            raise ModelError(
                f"must be more than 0, not {entry.quantum:g}", place=f"{place}[{position}].quantum"
            )
        if position and entry.quantum <= table[position - 1].quantum:
            raise ModelError(
                f"is {entry.quantum:g}, not more than the one before; order the tables by quantum",
                place=f"{place}[{position}].quantum",
            )


def penalties_at(table: PenaltyTable, interval: float) -> tuple[float, float]:
    """Return P^A and P^NA in seconds after an interval, by interpolation in its logarithm.

    Parameters
    ----------
    table
        At least one entry.
    interval
        Seconds, more than 0.
    """
    if len(table) == 1:
        return table[0].affinity, table[0].no_affinity
    least, greatest = table[0].quantum / FURTHER, table[-1].quantum * FURTHER
    interval = min(max(interval, least), greatest)
    below, above = next(
        (pair for pair in pairwise(table) if interval <= pair[1].quantum), table[-2:]
    )
    share = math.log(interval / below.quantum) / math.log(above.quantum / below.quantum)
    return (
        max(0.0, below.affinity + share * (above.affinity - below.affinity)),
        max(0.0, below.no_affinity + share * (above.no_affinity - below.no_affinity)),
    )


def penalties_of_policy(
    table: PenaltyTable,
    *,
    processor_seconds: float,
    reallocations: float,
    affinity: float,
    reallocation_time: float,
) -> tuple[float, float]:
    """Return P^A and P^NA of a policy whose interval was not measured.

    Every reallocation ends one interval, and intervals hold the work, the waste and the cost of a
    reallocation. That cost depends on the interval in turn; so both are found together.

    Parameters
    ----------
    table
        At least one entry.
    processor_seconds
        Work and waste together.
    reallocations, affinity, reallocation_time
        As in :class:`.Case`. Without reallocations the penalties are those of the last entry.
    """
    if reallocations == 0:
        return table[-1].affinity, table[-1].no_affinity
    computing = processor_seconds / reallocations + reallocation_time
    interval = computing
    penalties = penalties_at(table, interval)
    for _ in range(MOST_STEPS):
        longer = computing + affinity * penalties[0] + (1 - affinity) * penalties[1]
        penalties = penalties_at(table, longer)
        if abs(longer - interval) <= CLOSE * interval:
            break
        interval = longer
    return penalties
