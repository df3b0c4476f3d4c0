"""What placing alone can save: dispatches start in their order, each on any CPU.

If a CPU is busy, its next dispatch waits, and so do those that come after it. So times do not
matter. Under equal costs this is paging: CPUs are slots, fragments are pages, and a change is a
fault. Belady's rule finds the best placement; under other costs it is a flow. The rule "on the CPU
that holds the fragment, else on the one that was least recently used" needs no look-ahead, and in
the worst case no such rule is better (Sleator and Tarjan 1985).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dfopt.compare.attainable.arrivals import switch_costs
from dfopt.compare.attainable.least_recently_used import cpus_by_rule
from dfopt.compare.attainable.placement.farthest_use import costs_are_equal, place_by_farthest_use
from dfopt.compare.attainable.placement.relaxation import relaxation
from dfopt.compare.attainable.placement.timeline import (
    FOREIGN,
    NO_FRAGMENT,
    FixedTimeline,
    content_classes,
)
from dfopt.compare.comparison import OrderKept
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import Dispatches
from dfopt.trace.events import Integers

MOST_FOR_A_FLOW = 2_000_000
"""Under unequal costs, no best placement is looked for if dispatches times CPUs (under a matrix,
times types, too) are more than 2,000,000."""


def order_kept_of(dispatches: Dispatches, model: CostModel) -> OrderKept:
    """Return what dispatches cost at least that start in their order, and what LRU costs."""
    items = timeline_in_order(dispatches, model)
    online = replace(items, given=cpus_by_rule(items)).cost()
    if costs_are_equal(items):
        cpu, bound = _by_farthest_use(items)
    elif _flow_size(items) <= MOST_FOR_A_FLOW:
        relaxed = relaxation(items, lambda: None)
        cpu, bound = relaxed.cpus(items.cpus), relaxed.bound
    else:
        return OrderKept(online=online, best=None, bound=None)
    best = replace(items, given=cpu).cost()
    return OrderKept(online=online, best=min(best, online), bound=bound)


def _flow_size(items: FixedTimeline) -> int:
    return len(items) * items.cpus * max(1, len(items.matrix))


def _by_farthest_use(items: FixedTimeline) -> tuple[Integers, int]:
    """Return the CPUs of Belady's rule, and a bound; it is exact if there are no cuts."""
    none = np.empty(0, np.int64)
    without_cuts = replace(items, cut_cpu=none, cut_time=none)
    cpu = place_by_farthest_use(without_cuts)
    # A cut spares a CPU one change, or what comes after its last dispatch.
    ends = (items.content_exit, items.content_always, items.content_last, items.entry)
    spared = sum(int(column.max(initial=0)) for column in ends)
    least = replace(without_cuts, given=cpu).cost() - spared * len(items.cut_time)
    return cpu, max(0, least)


def timeline_in_order(dispatches: Dispatches, model: CostModel) -> FixedTimeline:
    """Return dispatches as a timeline on which each starts and ends before the next one starts.

    Their times are their ranks. Those of tasks without a fragment that evict may change the CPU,
    too.
    """
    count = len(dispatches)
    rank = np.arange(count)
    costs = switch_costs(dispatches, model)
    managed = dispatches.managed
    fragment = np.where(managed, dispatches.fragment, FOREIGN - rank).astype(np.int64)
    left = np.where(managed, fragment, NO_FRAGMENT)
    always, leaving = costs.always, costs.exit
    if costs.matrix.size:
        always, leaving = np.zeros_like(always), np.zeros_like(leaving)
    sample, content = content_classes(left, leaving, always, costs.last)
    cut_time = np.searchsorted(dispatches.start, dispatches.gap_end)
    # A gap with no dispatch after it cuts nothing.
    cuts = np.flatnonzero(cut_time < count)
    return FixedTimeline(
        cpus=dispatches.cpus,
        row=rank,
        start=rank,
        end=rank,
        given=dispatches.cpu.astype(np.int64),
        allowed=np.ones((count, dispatches.cpus), bool),
        fragment=fragment,
        entry=costs.entry.astype(np.int64),
        first=costs.first.astype(np.int64),
        content=content,
        content_fragment=left[sample],
        content_exit=leaving[sample],
        content_always=always[sample],
        content_last=costs.last[sample],
        matrix=costs.matrix,
        cut_cpu=dispatches.gap_cpu[cuts].astype(np.int64),
        cut_time=cut_time[cuts],
    )
