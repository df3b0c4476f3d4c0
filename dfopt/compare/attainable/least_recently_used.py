"""The CPUs that a rule without foresight chooses for dispatches that keep their starts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.placement.reservations import Reservations
from dfopt.compare.attainable.placement.timeline import (
    FixedTimeline,
    timeline_of,
    with_cpus,
)
from dfopt.compare.attainable.timed_schedule import TimedSchedule, recorded_schedule
from dfopt.solvers.compilation.compiled import compiled
from dfopt.trace.events import Flags, Integers

ITEMS_PER_CHECK = 100_000
"""At most 100,000 items are placed between two calls of ``check``."""


def go_on() -> None:
    """Do nothing: the work goes on."""


def least_recently_used(arrivals: Arrivals, check: Callable[[], None] = go_on) -> TimedSchedule:
    """Return the recorded starts with the CPUs of the rule "affinity, else least recently used".

    Each dispatch takes the idle CPU whose last dispatch used its fragment and ended last; if there
    is none, the idle CPU that was not used for the longest time. What keeps its time limits the
    choice: a CPU with a block during the dispatch counts as busy, although the block may lie in the
    future. Where the choices leave a later dispatch without a CPU, that dispatch keeps the recorded
    one, and those before it avoid it.

    Parameters
    ----------
    arrivals
        The dispatches of a trace.
    check
        Called a few times a second; what it raises ends the work.
    """
    recorded = recorded_schedule(arrivals)
    items = timeline_of(arrivals, recorded)
    return with_cpus(arrivals, recorded, items, cpus_by_rule(items, check))


def cpus_by_rule(items: FixedTimeline, check: Callable[[], None] = go_on) -> Integers:
    """Return the CPU that the rule chooses for each item of a timeline."""
    reservations = Reservations(items)
    count = len(items)
    cpu = np.empty(count, np.int64)
    before = np.empty(count, np.int64)
    last = np.full(items.cpus, -1)
    item = 0
    while item < count:
        stop = min(count, item + ITEMS_PER_CHECK)
        item = _place(
            item, stop, items.start, items.end, items.fragment, reservations.allowed, last, before,
            cpu,
        )  # fmt: skip
        check()
        if item < stop:
            back = min(item, reservations.reserve(item))
            _take_back(back, item, cpu, before, last)
            item = back
    return cpu


@compiled
def _place(
    item: int, stop: int, start: Integers, end: Integers, fragment: Integers, allowed: Flags,
    last: Integers, before: Integers, cpu: Integers,
) -> int:  # fmt: skip
    """Place the items before ``stop``; return the first that found no CPU, or ``stop``.

    ``last`` is the last item of each CPU, ``before`` what that was before each item.
    """
    while item < stop:
        chosen = -1
        holds = False
        chosen_end = 0
        for other in range(len(last)):
            ran = last[other]
            if not allowed[item, other] or (ran >= 0 and end[ran] > start[item]):
                continue
            has = ran >= 0 and fragment[ran] == fragment[item]
            ended = end[ran] if ran >= 0 else np.iinfo(np.int64).min
            if chosen < 0:
                better = True
            elif has:
                better = not holds or ended > chosen_end
            else:
                better = not holds and ended < chosen_end
            if better:
                chosen, holds, chosen_end = other, has, ended
        if chosen < 0:
            return item
        cpu[item] = chosen
        before[item] = last[chosen]
        last[chosen] = item
        item += 1
    return item


@compiled
def _take_back(first: int, beyond: int, cpu: Integers, before: Integers, last: Integers) -> None:
    """Undo the choices of the items from ``first`` to ``beyond``."""
    for step in range(beyond - first):
        item = beyond - 1 - step
        last[cpu[item]] = before[item]
