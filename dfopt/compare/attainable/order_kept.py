"""What placing alone can save: dispatches start in their order, each on any CPU.

If a CPU is busy, its next dispatch waits, and so do those that come after it. So times do not
matter. Under equal costs this is paging: CPUs are slots, fragments are pages, and a change is a
fault. The best placement is a flow. The rule "on the CPU that holds the fragment, else on the one
that was least recently used" needs no look-ahead, and in the worst case no such rule is better
(Sleator and Tarjan 1985).
"""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.fixed_timeline import FixedTimeline
from dfopt.compare.attainable.placement import best_cpus, cpus_by_rule
from dfopt.compare.comparison_parts import OrderKept
from dfopt.compare.dispatches import Dispatches
from dfopt.structs import replace


def order_kept_of(dispatches: Dispatches) -> OrderKept:
    """Return what dispatches cost at least that start in their order, and what LRU costs.

    All of them may change the CPU, those of tasks without a fragment that evict, too.
    """
    items = FixedTimeline(in_ranks(dispatches), np.ones((len(dispatches), dispatches.cpus), bool))
    online = items.cost(cpus_by_rule(items))
    found = best_cpus(items)
    if found is None:
        return OrderKept(online=online, best=None, bound=None)
    best = items.cost(found[0])
    return OrderKept(online=online, best=min(best, online), bound=found[1])


def in_ranks(dispatches: Dispatches) -> Dispatches:
    """Return dispatches of which each starts and ends before the next one starts.

    Their times are their ranks.
    """
    cuts, count = dispatches.cuts, len(dispatches)
    return replace(
        dispatches,
        start=np.arange(count),
        length=np.zeros(count, np.int64),
        cuts=replace(cuts, time=np.searchsorted(dispatches.start, cuts.time)),
    )
