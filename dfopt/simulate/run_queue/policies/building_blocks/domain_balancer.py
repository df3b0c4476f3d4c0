"""scx_rusty's load balancer: which threads go to which cache domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dfopt.simulate.run_queue.contract import Thread

IMBALANCE = 0.05
"""Domains are balanced whose load is off the average by more than this part of it."""

SHARE_MOVED = 0.5
"""About this part of what a domain has too much is moved at most, and aimed at each time."""


def balancing_moves(
    members: Sequence[Sequence[tuple[float, Thread]]], may_move: Callable[[Thread, int], bool]
) -> Iterator[tuple[Thread, int]]:
    """Yield threads that go to another domain, with that domain.

    From the domain of most load to that of least, the thread goes whose load is the nearest to half
    the smaller of their distances from the average, as long as that brings both nearer to it. A
    domain stops when it has given half of what it had too much.

    Parameters
    ----------
    members
        By domain: loads and threads.
    may_move
        Whether a thread may run in a domain.
    """
    left = [list(threads) for threads in members]
    loads = [sum(load for load, _ in threads) for threads in members]
    average = sum(loads) / len(loads)
    to_give = [SHARE_MOVED * (load - average) for load in loads]
    while True:
        source, target = loads.index(max(loads)), loads.index(min(loads))
        excess, lack = loads[source] - average, average - loads[target]
        if min(excess, lack) <= IMBALANCE * average or to_give[source] <= 0:
            return
        aim = SHARE_MOVED * min(excess, lack)
        movable = [
            (abs(load - aim), thread.number, load, thread)
            for load, thread in left[source]
            if may_move(thread, target)
        ]
        if not movable:
            return
        _, _, load, thread = min(movable)
        if abs(excess - load) + abs(lack - load) >= excess + lack:
            return
        yield thread, target
        left[source].remove((load, thread))
        loads[source] -= load
        loads[target] += load
        to_give[source] -= load
