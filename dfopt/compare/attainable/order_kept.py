"""What placing alone can save: dispatches start in their order, each on any CPU.

If a CPU is busy, its next dispatch waits, and so do those that come after it. So times do not
matter. Under equal costs this is paging: CPUs are slots, fragments are pages, and a change is a
fault. The best placement is a flow. The rule "on the CPU that holds the fragment, else on the one
that was least recently used" needs no look-ahead, and in the worst case no such rule is better
(Sleator and Tarjan 1985).
"""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.arrivals import switch_costs
from dfopt.compare.attainable.fixed_timeline import FixedTimeline
from dfopt.compare.attainable.placement import best_cpus, cpus_by_rule
from dfopt.compare.attainable.timed_schedule import FOREIGN, PayingItems
from dfopt.compare.comparison_parts import OrderKept
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import Dispatches


def order_kept_of(dispatches: Dispatches, model: CostModel) -> OrderKept:
    """Return what dispatches cost at least that start in their order, and what LRU costs."""
    items = timeline_in_order(dispatches, model)
    online = items.cost(enumerate(cpus_by_rule(items)))
    found = best_cpus(items)
    if found is None:
        return OrderKept(online=online, best=None, bound=None)
    best = items.cost(enumerate(found[0]))
    return OrderKept(online=online, best=min(best, online), bound=found[1])


def timeline_in_order(dispatches: Dispatches, model: CostModel) -> FixedTimeline:
    """Return dispatches as a timeline on which each starts and ends before the next one starts.

    Their times are their ranks. Those of tasks without a fragment that evict may change the CPU,
    too.
    """
    count = len(dispatches)
    rank = np.arange(count)
    cut_time = np.searchsorted(dispatches.start, dispatches.gap_end)
    # A gap with no dispatch after it cuts nothing.
    cuts = np.flatnonzero(cut_time < count)
    items = PayingItems(
        element=rank,
        cpu=dispatches.cpu,
        start=rank,
        end=rank,
        fragment=np.where(dispatches.managed, dispatches.fragment, FOREIGN).astype(np.int64),
        costs=switch_costs(dispatches, model),
    )
    return FixedTimeline(
        items,
        allowed=np.ones((count, dispatches.cpus), bool),
        cut_cpu=dispatches.gap_cpu[cuts],
        cut_time=cut_time[cuts],
    )
