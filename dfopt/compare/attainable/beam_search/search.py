"""The beam search of one section: the best schedule that it finds, and what it prefers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.beam_search.candidates import CHOICES, OF_FRAGMENT
from dfopt.compare.attainable.beam_search.child_lists import CHILD_COLUMNS, Scratch
from dfopt.compare.attainable.beam_search.layout import (
    COUNTERS,
    NOTHING,
    BeamStates,
    Section,
    Table,
)


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
    late: float = 0.5
    idle: float = 0.2
    patience: float = 30.0
    price: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SectionSchedule:
    """A schedule of a section, beside its guide.

    Parameters
    ----------
    cpu, start
        Of each dispatch of the section.
    cost, wait, long_waits
        By how much the cost, the sum of all waits and the number of long ones change.
    guide_cost
        What the section costs in the guide.
    """

    cpu: Table
    start: Table
    cost: int
    wait: int
    long_waits: int
    guide_cost: int


def beam_search(
    section: Section, settings: BeamSettings, switch_cost: float, length: float
) -> SectionSchedule | None:
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
    from dfopt.compare.attainable.beam_search.extension import place_all

    count, cpus, fragments = len(section.low), len(section.cpus), len(section.weights)
    kept = settings.width + settings.safe
    partial = BeamStates(
        starts=np.empty((2, kept, count), np.int64),
        cpus=np.empty((2, kept, cpus, 4), np.int64),
        counters=np.empty((2, kept, COUNTERS), np.int64),
        pointers=np.empty((2, kept, fragments + 1), np.int64),
        steps=np.empty((count, kept, 3), np.int64),
    )
    scratch = Scratch(
        fragments=np.empty((fragments, OF_FRAGMENT), np.int64),
        choices=np.empty((cpus, fragments, CHOICES), np.int64),
        urgent=np.empty((settings.urgent, 2), np.int64),
        guide=np.empty((cpus, 3), np.int64),
        gaps=np.empty(cpus, np.int64),
        free=np.empty(cpus, np.int64),
        ahead=np.empty(cpus, np.int64),
        held=np.zeros(fragments, np.int64),
        waiting=np.empty(fragments + 1),
        child=np.empty(CHILD_COLUMNS, np.int64),
        children=np.empty((2, kept, CHILD_COLUMNS), np.int64),
        keys=np.empty((2, kept)),
        slots=np.empty((2, kept), np.int64),
        lengths=np.zeros(2, np.int64),
    )
    sizes = np.array([settings.width, settings.safe, settings.ahead, settings.urgent], np.int64)
    factors = np.array(
        [
            settings.waiting,
            settings.late * switch_cost,
            settings.idle * switch_cost / length,
            settings.patience * length,
            settings.price,
            # A long wait is as bad as waiting for that time.
            settings.price * float(section.limits[0]),
        ]
    )
    answer = np.zeros(6, np.int64)
    x = place_all(section, partial, scratch, sizes, factors, answer)
    if x == NOTHING:
        return None
    start, cpu = partial.starts[count % 2, x].copy(), np.empty(count, np.int64)
    for level in range(count - 1, -1, -1):
        x, row, on = partial.steps[level, x].tolist()
        cpu[row] = on
    guide_cost, *rest = answer.tolist()
    return SectionSchedule(
        cpu=cpu,
        start=start,
        cost=rest[2] - guide_cost,
        wait=rest[3] - rest[0],
        long_waits=rest[4] - rest[1],
        guide_cost=guide_cost,
    )
