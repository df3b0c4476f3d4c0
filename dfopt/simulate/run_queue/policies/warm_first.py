"""First come, first served, on an idle CPU that holds the data if there is one."""

from __future__ import annotations

from typing import ClassVar

from dfopt.simulate.run_queue.contract import NOBODY, Thread, Why
from dfopt.simulate.run_queue.policies.building_blocks.offers import offer_by_fragment
from dfopt.simulate.run_queue.policies.fcfs import FirstComeFirstServed


class WarmFirst(FirstComeFirstServed):
    """Threads run in the order in which they became ready; among idle CPUs the cache decides.

    A thread that becomes ready goes to an idle CPU whose cache holds its fragment, and otherwise
    to one with an empty cache, or to the one that has been idle for longest. A CPU that becomes
    free takes the first thread of the queue, whatever its cache holds. So nobody is overtaken, and
    the rule does something only where CPUs are idle.

    Servers that send a request to a replica which is warm already do the same.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of the queue; 0: never.
    """

    name: ClassVar[str] = "warm-first"

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Queue up; ask the idle CPUs, those with the fragment first."""
        super().ready(thread, why, cpu)
        offer_by_fragment(self.engine, thread.fragment)
        return NOBODY
