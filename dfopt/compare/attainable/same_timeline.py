"""The best CPUs for dispatches that all keep their starts.

Without blocks and cuts no CPU differs from another. Then the best placement is a flow of one unit
for each CPU (:mod:`~dfopt.compare.attainable.placement.network`), or found by a greedy rule if all
changes cost the same (:mod:`~dfopt.compare.attainable.placement.farthest_use`). Otherwise the flow
is a relaxation: it gives a bound, and its prices guide a search over what each CPU runs and holds
(:mod:`~dfopt.compare.attainable.placement.search`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.placement.farthest_use import costs_are_equal, place_by_farthest_use
from dfopt.compare.attainable.placement.groups import improve_in_groups
from dfopt.compare.attainable.placement.relaxation import Relaxation, relaxation
from dfopt.compare.attainable.placement.search import UNLIMITED, search_placement
from dfopt.compare.attainable.placement.timeline import FixedTimeline, timeline_of, with_cpus
from dfopt.compare.attainable.timed_schedule import TimedSchedule, cost_of, recorded_schedule

logger = logging.getLogger(__name__)

NARROW = 16
"""The first search keeps at most 16 states after each item."""

MOST_STEPS = 10_000_000
STEPS_PER_ITEM = 10
"""Groups of CPUs are searched for about 10,000,000 steps, or 10 for each item if that is more."""

MOST_CODES = 6_000_000
"""The last search keeps at most 6,000,000 states of a CPU, all CPUs and items together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPlacement:
    """A schedule that keeps all starts, and what no such schedule falls below.

    Parameters
    ----------
    schedule
        The schedule.
    bound
        No schedule with these starts costs less; if it equals the schedule's cost, this is proven
        to be the best one.
    """

    schedule: TimedSchedule
    bound: int


def go_on() -> None:
    """Do nothing: the search goes on."""


def best_placement(arrivals: Arrivals, check: Callable[[], None] = go_on) -> BestPlacement:
    """Return the best CPUs for dispatches that start as recorded.

    Parameters
    ----------
    arrivals
        The dispatches of a trace.
    check
        Called a few times a second; what it raises ends the search.

    Raises
    ------
    DfoptError
        When dispatches or blocks overlap on a CPU.

    Returns
    -------
    BestPlacement
        The schedule costs at most as much as the recorded one.
    """
    return _placement(arrivals, recorded_schedule(arrivals), check)


def improve_placement(
    arrivals: Arrivals, schedule: TimedSchedule, check: Callable[[], None] = go_on
) -> TimedSchedule:
    """Return a schedule with the starts of another one that costs at most as much.

    Parameters
    ----------
    arrivals
        The dispatches of a trace.
    schedule
        A schedule without overlaps.
    check
        Called a few times a second; what it raises ends the search.

    Raises
    ------
    DfoptError
        When dispatches or blocks of the schedule overlap on a CPU.
    """
    return _placement(arrivals, schedule, check).schedule


def _placement(
    arrivals: Arrivals, given: TimedSchedule, check: Callable[[], None]
) -> BestPlacement:
    items = timeline_of(arrivals, given)
    if not items.cpus_differ and costs_are_equal(items):
        schedule = with_cpus(arrivals, given, items, place_by_farthest_use(items))
        return BestPlacement(schedule=schedule, bound=cost_of(arrivals, schedule))
    relaxed = relaxation(items, check)
    if not items.cpus_differ:
        schedule = with_cpus(arrivals, given, items, relaxed.cpus(items.cpus))
        return BestPlacement(schedule=schedule, bound=relaxed.bound)
    items, bound = _on_named_cpus(items, relaxed, check)
    return BestPlacement(schedule=with_cpus(arrivals, given, items, items.given), bound=bound)


def _on_named_cpus(
    items: FixedTimeline, relaxed: Relaxation, check: Callable[[], None]
) -> tuple[FixedTimeline, int]:
    """Return the timeline with better CPUs, and a bound."""
    # A quick placement, improved in parts, and finally as much of an exact search as is practical.
    first = search_placement(items, relaxed, known=UNLIMITED, width=NARROW, check=check)
    if first.cpu is not None and first.cost < items.cost():
        items = replace(items, given=first.cpu)
    bound = max(relaxed.bound, min(first.bound, items.cost()))
    steps = max(MOST_STEPS, STEPS_PER_ITEM * len(items))
    items = improve_in_groups(items, bound=bound, most_steps=steps, check=check)
    known, width = items.cost(), MOST_CODES // (len(items) * items.cpus)
    if known == bound or width <= NARROW:
        return items, bound
    last = search_placement(items, relaxed, known=known, width=width, check=check)
    logger.debug("first %d, in groups %d, last %d", first.cost, known, last.cost)
    if last.cpu is not None:
        items = replace(items, given=last.cpu)
    return items, max(bound, last.bound)
