"""The cheapest CPUs for given starts, found by trying them all."""

from collections.abc import Iterator

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.timed_schedule import TimedSchedule, cost_of


def cheapest_placement(arrivals: Arrivals) -> int:
    """Return the least cost of all placements that keep the recorded starts."""
    return min(
        cost_of(arrivals, TimedSchedule(cpu=np.array(cpu, np.int32), start=arrivals.start))
        for cpu in _placements(arrivals, arrivals.start.tolist(), [])
    )


def _placements(arrivals: Arrivals, start: list[int], cpus: list[int]) -> Iterator[list[int]]:
    dispatch = len(cpus)
    if dispatch == len(start):
        yield cpus
        return
    begins = start[dispatch]
    ends = begins + int(arrivals.length[dispatch])
    blocks = arrivals.blocks
    for cpu in range(arrivals.cpus):
        taken = [
            (start[other], start[other] + int(arrivals.length[other]))
            for other in range(dispatch)
            if cpus[other] == cpu
        ]
        own = blocks.cpu == cpu
        taken += zip(blocks.start[own].tolist(), blocks.end[own].tolist(), strict=True)
        if not any(before < ends and begins < after for before, after in taken):
            yield from _placements(arrivals, start, [*cpus, cpu])
