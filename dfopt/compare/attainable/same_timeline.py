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
from dataclasses import dataclass

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.placement.farthest_use import costs_are_equal, place_by_farthest_use
from dfopt.compare.attainable.placement.future_prices import future_prices
from dfopt.compare.attainable.placement.network import placement_network
from dfopt.compare.attainable.placement.search import search_placement
from dfopt.compare.attainable.placement.timeline import timeline_of, with_cpus
from dfopt.compare.attainable.placement.unit_flow import least_cost_flow, paths_of
from dfopt.compare.attainable.timed_schedule import TimedSchedule, cost_of, recorded_schedule

logger = logging.getLogger(__name__)

NARROW = 8
"""The first search keeps at most 8 states after each item."""

MOST_STATES = 3_000_000
"""The second search keeps at most about 3,000,000 states, all items together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
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


def best_placement(arrivals: Arrivals, check: Callable[[], None] = go_on) -> Placement:
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
    Placement
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


def _placement(arrivals: Arrivals, given: TimedSchedule, check: Callable[[], None]) -> Placement:
    items = timeline_of(arrivals, given)
    known = cost_of(arrivals, given)
    if not items.cpus_differ and costs_are_equal(items):
        schedule = with_cpus(arrivals, given, items, place_by_farthest_use(items))
        return Placement(schedule=schedule, bound=cost_of(arrivals, schedule))
    network = placement_network(items)
    flow = least_cost_flow(network.network, items.cpus, check)
    prices = future_prices(items, network, flow)
    bound = prices.whole(items.cpus)
    if not items.cpus_differ:
        cpu = paths_of(network.network, flow, items.cpus)[network.pass_arc]
        return Placement(schedule=with_cpus(arrivals, given, items, cpu), bound=bound)
    best = items.given
    # The first search takes what it finds, the second one looks for less.
    for width in (NARROW, MOST_STATES // max(len(items), 1)):
        if bound >= known or width < NARROW:
            break
        found = search_placement(items, network, prices, known=known, width=width, check=check)
        logger.debug("width %d: cost %d, bound %d", width, found.cost, found.bound)
        bound = max(bound, found.bound)
        if found.cpu is not None:
            best, known = found.cpu, found.cost
    return Placement(schedule=with_cpus(arrivals, given, items, best), bound=bound)
